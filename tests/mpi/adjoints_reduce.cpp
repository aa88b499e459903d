// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6
// labels: device
// checks: 1176 2302 2302 3428 4554
// The transposes and the costs of reductions, of what is composed from them, and of the local
// changes of type and order.
#include "dimesh/op/reduce.hpp"

#include <doctest/doctest.h>

#include "dimesh/op/cast.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/permute.hpp"
#include "dimesh/op/softmax.hpp"
#include "dimesh/op/stop_gradient.hpp"
#include "support/adjoint.hpp"
#include "support/host.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;

TEST_CASE("sums and means") {
  for_each_case<plane, layout_choice{.partial = true, .uneven = true, .stride = 2}, p, q>(
      {{5, 4}, {1, 7}, {3, 0}}, [](const auto& x, const array& a) {
        check_operation([](const auto& v) { return dm::sum<q>(v); }, {}, {a}, x);
        check_operation([](const auto& v) { return dm::sum(v); }, {}, {a}, x);
        check_operation([](const auto& v) { return dm::complete(dm::sum<p>(v)); }, {}, {a}, x);
      });
  for_each_case<plane, layout_choice{.uneven = true, .stride = 2}, p, q>(
      {{5, 4}, {1, 7}}, [](const auto& x, const array& a) {
        check_operation([](const auto& v) { return dm::mean<p>(v); }, {}, {a}, x);
      });
}

TEST_CASE("softmax and its kin, over dims split or not") {
  for_each_case<plane, layout_choice{.uneven = true, .stride = 2}, p, q>(
      {{5, 4}, {1, 7}}, [](const auto& x, const array& a) {
        const array b = reals(a.dims, a.size, 8);
        const auto y = scattered<std::remove_cvref_t<decltype(x)>>(x.grid(), b);
        check_operation([](const auto& v) { return dm::softmax<q>(v); }, smooth, {b}, y);
        check_operation([](const auto& v) { return dm::log_softmax<p>(v); }, smooth, {b}, y);
        check_operation([](const auto& v) { return dm::log_sum_exp<p, q>(v); }, smooth, {b}, y);
      });
}

TEST_CASE("another order of dims, another type of elements") {
  for_each_case<plane, unevenly_with_partial, p, q>({{5, 4}, {0, 3}}, [](const auto& x,
                                                                         const array& a) {
    const auto turn = [](const auto& v) { return dm::permute<q, p>(v); };
    CHECK(agrees(turn(x), transpose({"q", "p"}, a)));
    check_operation(turn, {}, {a}, x);
    const auto through_float = [](const auto& v) { return dm::cast<double>(dm::cast<float>(v)); };
    CHECK(agrees(through_float(x), a));
    check_operation(through_float, {}, {a}, x);
    if constexpr (!dm::spec_of<std::remove_cvref_t<decltype(x)>>::table.any_partial())
      CHECK(agrees(dm::cast<int>(x), a));
  });
}

TEST_CASE("choices: the cotangent goes where the value came from") {
  for_each_case<line, unevenly, p, q>({{5, 4}, {1, 7}}, [](const auto& x, const array& a) {
    const array b = reals(a.dims, a.size, 8), c = reals({"q"}, {a.size[1]}, 9);
    const auto y = scattered<std::remove_cvref_t<decltype(x)>>(x.grid(), b);
    const auto z =
        scattered<dm::tensor<double, typename std::remove_cvref_t<decltype(x)>::layout_type, q>>(
            x.grid(), c);
    check_operation(
        [](const auto& u, const auto& v) { return dm::maximum(u, v) - dm::minimum(v, u) * v; },
        smooth, {b, c}, y, z);
    check_operation(
        [](const auto& u, const auto& v) {
          return dm::select(dm::stop_gradient(u) > dm::stop_gradient(v), u * v, v);
        },
        smooth, {b, c}, y, z);
  });
}

TEST_CASE("stop_gradient: its operand is a constant to the derivative") {
  for_each_case<line, unevenly, p>({{5}}, [](const auto& x, const array& a) {
    dm::detail::tape t;
    detail::leaf<std::remove_cvref_t<decltype(x)>> l(t, x);
    auto y = dm::stop_gradient(l.tracked) * l.tracked;  // x times x, of which one counts
    using Bar = typename dm::detail::gradient_type<std::remove_cvref_t<decltype(y.value())>>::type;
    Bar one(x.grid(), x.shape(), dm::detail::storage{});
    one.set_once(dm::spec_of<Bar>::table.mask(dm::use::partial));
    for (index_t i = 0; i < one.local_size(); ++i) on_host(one)[i] = 1;
    y.cell()->add(one);
    t.backward(l.node);
    CHECK(agrees(l.bar(), a));
  });
}

}  // namespace
