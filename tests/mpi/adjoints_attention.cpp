// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// labels: device
// checks: 97 187 277
// The transpose of attention against central differences, and that neither it nor attention itself
// communicates.
#include "dimesh/grad/vjp.hpp"
#include "dimesh/op/attention.hpp"

#include <doctest/doctest.h>

#include "support/adjoint.hpp"
#include "support/attention.hpp"
#include "support/host.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
using dm::split, dm::uneven;

template <class... Rule> void check_layout(const std::vector<dm::attention_options>& options) {
  using L = dm::layout<plane, Rule...>;
  for_each_grid<plane>([&](const dm::grid<plane>& g) {
    for (const auto& a : {attention_arrays(2, 3, 2, 5, 5, 3), attention_arrays(1, 2, 1, 3, 20, 1)})
      for (const auto& o : options) {
        const auto q = scattered<queries_of<double, L>>(g, a.q);
        const auto k = scattered<keys_of<double, L>>(g, a.k),
                   v = scattered<keys_of<double, L>>(g, a.v);
        check_operation(
            [&o](const auto& vq, const auto& vk, const auto& vv) {
              return dm::attention<length, key, head>(vq, vk, vv, o);
            },
            smooth, {a.q, a.k, a.v}, q, k, v);
      }
  });
}
const dm::attention_options causal{.causal = true};
const dm::attention_options dropped{.window = 3, .dropout = 0.3, .key = dm::random_key(5)};

TEST_CASE("attention: nothing split") { check_layout<>({{}, causal, dropped}); }
TEST_CASE("attention: batch and heads") {
  check_layout<split<uneven<batch>, x>, split<uneven<heads>, y>>({causal, dropped});
}
TEST_CASE("attention: queries split") {
  check_layout<split<uneven<batch>, y>, split<uneven<length>, x>>({causal, dropped});
}
TEST_CASE("attention: a dim that keys and values lack is split: their cotangents are partial") {
  check_layout<split<uneven<group>, x>>({causal});
}

TEST_CASE("attention: dims in another order, keys and values that are one tensor") {
  using L = dm::layout<line, split<uneven<heads>, x>>;
  for_each_grid<line>([](const dm::grid<line>& g) {
    const attention_arrays a(2, 3, 1, 4, 5, 3);
    const array qa = sum({"head", "heads", "length"}, a.q), ka = sum({"head", "key"}, a.k);
    const auto q = scattered<dm::tensor<double, L, head, heads, length>>(g, qa);
    const auto k = scattered<dm::tensor<double, L, head, key>>(g, ka);
    check_operation(
        [](const auto& vq, const auto& vk) { return dm::attention<length, key, head>(vq, vk, vk); },
        smooth, {qa, ka}, q, k);
  });
}

TEST_CASE("attention: a cotangent is the same whether others are wanted or not") {
  const dm::grid<line> g;
  using L = dm::layout<line>;
  const attention_arrays a(2, 2, 2, 9, 9, 3);
  const auto q = scattered<queries_of<float, L>>(g, a.q);
  const auto ybar = scattered<queries_of<float, dm::gradient<L>>>(g, reals(a.q.dims, a.q.size, 9));
  const auto k = scattered<keys_of<float, L>>(g, a.k), v = scattered<keys_of<float, L>>(g, a.v);
  const auto f = [](const auto& vq, const auto& vk, const auto& vv) {
    return dm::attention<length, key, head>(vq, vk, vv, causal);
  };
  const auto [qbar, kbar, vbar] = dm::vjp(f, q, k, v).pullback(ybar);
  const auto same = [](const auto& one, const auto& other) {
    return std::equal(test_support::on_host(one).data(),
                      test_support::on_host(one).data() + one.local_size(),
                      test_support::on_host(other).data());
  };
  CHECK(same(dm::vjp([&](const auto& x) { return f(x, k, v); }, q).pullback(ybar), qbar));
  CHECK(same(dm::vjp([&](const auto& x) { return f(q, x, v); }, k).pullback(ybar), kbar));
  CHECK(same(dm::vjp([&](const auto& x) { return f(q, k, x); }, v).pullback(ybar), vbar));
  auto back = dm::vjp([&](const auto& x, const auto& z) { return f(x, k, z); }, q, v).pullback;
  CHECK(same(std::get<1>(back(ybar)), vbar));
}

}  // namespace
