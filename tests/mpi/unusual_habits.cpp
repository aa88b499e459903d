// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Right programs that are written in other ways than the tutorial's compile, and give the right
// numbers: what the standard library and its users do with values, here with
// tensors.
// ranks: 1 2
#include <doctest/doctest.h>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

#include <algorithm>
#include <concepts>
#include <functional>
#include <future>
#include <numeric>
#include <tuple>
#include <variant>
#include <vector>

#include "support/host.hpp"

namespace {
namespace dm = dimesh;

struct batch : dm::dim<8> {};
struct hidden : dm::dim<6> {};
struct label : dm::dim<4> {};
struct rows : dm::axis<> {};
struct line : dm::mesh<rows> {};
using whole = dm::layout<line>;
using by_batch = dm::layout<line, dm::split<batch, rows>>;

namespace complete_containers {
TEST_CASE("complete of a vector") {
  const dm::grid<line> g;
  using S = dm::tensor<float, dm::layout<line, dm::partial<rows>>, hidden>;
  std::vector<S> v{dm::constant<S>(g, 1), dm::constant<S>(g, 2)};
  auto c = dm::complete(v);
  CHECK(dm::value(dm::sum(c[1])) == 12);
}
}  // namespace complete_containers

namespace concepts_of_names {
template <dm::Dim D, dm::Layout L, dm::Mesh M, dm::Axis A> auto made(const dm::grid<M>& g) {
  return dm::constant<dm::tensor<float, L, D>>(g, float(g.template size<A>()));
}
TEST_CASE("templates over dims, layouts, meshes and axes") {
  const dm::grid<line> g;
  CHECK(dm::value(dm::sum(made<hidden, whole, line, rows>(g))) == 6 * g.ranks());
}
}  // namespace concepts_of_names

namespace opt_variant {
TEST_CASE("an optimizer that the run chooses") {
  const dm::grid<line> g;
  auto p = dm::constant<dm::tensor<float, whole, hidden>>(g, 1);
  auto d = dm::clone(p);
  std::variant<dm::sgd, dm::adam> o = dm::sgd{.rate = 1};
  if (auto* s = std::get_if<dm::sgd>(&o)) (*s)(p, d);
  CHECK(dm::value(dm::sum(p)) == 0);
}
}  // namespace opt_variant

namespace generic_train {
template <class Optimizer, class P> auto started(const Optimizer& o, const P& p) {
  if constexpr (requires { o.start(p); })
    return std::tuple(o.start(p));
  else
    return std::tuple();
}
template <class O> void steps(const O& o, const dm::grid<line>& g) {
  auto p = dm::constant<dm::tensor<float, whole, hidden>>(g, 1);
  auto d = dm::clone(p);
  auto state = started(o, p);
  std::apply([&](auto&... s) { o(p, d, s...); }, state);
  CHECK(dm::value(dm::sum(p)) < 6);
}
TEST_CASE("one training step for optimizers with and without state") {
  const dm::grid<line> g;
  steps(dm::sgd{}, g);
  steps(dm::momentum{}, g);
  steps(dm::adam{}, g);
}
}  // namespace generic_train

namespace reference_wrapper {
TEST_CASE("references to tensors in a vector") {
  const dm::grid<line> g;
  auto x = dm::constant<dm::tensor<float, whole, hidden>>(g, 1);
  std::vector<std::reference_wrapper<const dm::tensor<float, whole, hidden>>> v{x, x};
  CHECK(dm::value(dm::sum(v[0].get() + v[1].get())) == 12);
}
}  // namespace reference_wrapper

namespace thread_work {
TEST_CASE("threads that load and compute") {
  const dm::grid<line> g;
  auto x = dm::constant<dm::tensor<float, whole, hidden>>(g, 1);
  auto v = std::async(std::launch::async, [] { return std::vector<float>(6, 2.f); });
  dm::tensor<float, whole, hidden> y(g);
  dm::fill_from(y, v.get());
  auto z = std::async(std::launch::async, [&] { return x * y; }).get();
  CHECK(dm::value(dm::sum(z)) == 12);
}
}  // namespace thread_work

namespace assign_partial_complete {
TEST_CASE("tensors made empty and assigned later; if and switch with initialisers") {
  const dm::grid<line> g;
  auto x = dm::constant<dm::tensor<float, by_batch, batch, hidden>>(g, 1);
  dm::tensor<float, whole, hidden> s;
  s = dm::complete(dm::sum<batch>(x));
  if (auto y = s * 2; dm::value(dm::sum(y)) == 96) s = y;
  CHECK(dm::value(dm::sum(s)) == 96);
  switch (int(s.extent<hidden>())) {
    case 6:
      s = s - 1;
      break;
    default:
      break;
  }
  CHECK(dm::value(dm::sum(s)) == 90);
}
}  // namespace assign_partial_complete

namespace initializer_list_loop {
TEST_CASE("loops over tensors in braces, std::max by a comparison") {
  const dm::grid<line> g;
  auto x = dm::constant<dm::tensor<float, whole, hidden>>(g, 1);
  float t = 0;
  for (const auto& v : {x, x * 2, x + 2}) t += dm::value(dm::sum(v));
  CHECK(t == 6 + 12 + 18);
  CHECK(dm::value(dm::sum(std::max({x, x * 2}, [](const auto& a, const auto& b) {
          return test_support::on_host(a)[0] < test_support::on_host(b)[0];
        }))) == 12);
}
}  // namespace initializer_list_loop

namespace noexcept_function {
auto noex(const auto& x) noexcept { return x * 2; }
TEST_CASE("tensors are regular: moves do not throw") {
  const dm::grid<line> g;
  using X = dm::tensor<float, whole, hidden>;
  auto x = dm::constant<X>(g, 1);
  CHECK(dm::value(dm::sum(noex(x))) == 12);
  static_assert(std::is_nothrow_move_constructible_v<X> && std::is_nothrow_move_assignable_v<X> &&
                std::is_copy_constructible_v<X>);
  static_assert(std::semiregular<X>);
  static_assert(std::is_nothrow_swappable_v<X>);
}
}  // namespace noexcept_function

namespace parameter_member_pointer {
template <class L> struct par {
  BOOST_HANA_DEFINE_STRUCT(par, (dm::tensor<float, L, hidden>, w),
                           (dm::tensor<float, L, hidden>, b));
};
TEST_CASE("pointers to members") {
  const dm::grid<line> g;
  auto p = dm::zeros<par<whole>>(g);
  for (auto m : {&par<whole>::w, &par<whole>::b}) p.*m = p.*m + 1;
  CHECK(dm::value(dm::sum(p.b)) == 6);
}
}  // namespace parameter_member_pointer

namespace accumulate_in_gradient_loop {
TEST_CASE("a vector of recorded tensors") {
  const dm::grid<line> g;
  auto p = dm::constant<dm::tensor<float, whole, hidden>>(g, 1);
  auto r = dm::complete(dm::value_and_grad(
      [](const auto& q) {
        std::vector<std::remove_cvref_t<decltype(q * 1)>> hs;
        for (int i = 1; i <= 3; ++i) hs.push_back(q * i);
        auto s = dm::sum(hs[0]);
        for (std::size_t i = 1; i < hs.size(); ++i) s += dm::sum(hs[i]);
        return s;
      },
      p)());
  CHECK(dm::value(dm::sum(r.gradient)) == 36);
}
}  // namespace accumulate_in_gradient_loop

namespace accumulate_std {
TEST_CASE("std::accumulate of recorded parameters") {
  const dm::grid<line> g;
  auto p = std::vector(3, dm::constant<dm::tensor<float, whole, hidden>>(g, 1));
  auto r = dm::complete(dm::value_and_grad(
      [](const auto& q) { return dm::sum(std::accumulate(q.begin() + 1, q.end(), q.front())); },
      p)());
  CHECK(dm::value(dm::sum(r.gradient[2])) == 6);
}
}  // namespace accumulate_std

namespace loss_float_scalar {
TEST_CASE("losses that take numbers") {
  const dm::grid<line> g;
  auto p = dm::constant<dm::tensor<float, whole, hidden>>(g, 1);
  float weight = 0.5f;
  int n = 4;
  dm::index_t m = 3;
  auto r = dm::complete(dm::value_and_grad(
      [&](const auto& q, float w) { return w * dm::sum(q * q) / n + m; }, p)(weight));
  CHECK(dm::value(r.value) == 3.75f);
}
}  // namespace loss_float_scalar

namespace capture_structured {
TEST_CASE("captures of bound names") {
  const dm::grid<line> g;
  auto p = std::pair(dm::constant<dm::tensor<float, whole, hidden>>(g, 1),
                     dm::constant<dm::tensor<float, whole, hidden>>(g, 2));
  auto& [a, b] = p;
  auto f = [&a = a, b = b] { return a * b; };
  CHECK(dm::value(dm::sum(f())) == 12);
}
}  // namespace capture_structured

namespace forward_as {
TEST_CASE("perfect forwarding") {
  const dm::grid<line> g;
  auto a = dm::constant<dm::tensor<float, whole, hidden>>(g, 1);
  auto f = []<class... A>(A&&... x) {
    return dm::map([](auto... v) { return (v + ...); }, std::forward<A>(x)...);
  };
  CHECK(dm::value(dm::sum(f(a, a, a * 2))) == 24);
}
}  // namespace forward_as

namespace using_whole_namespaces {
using namespace std;
TEST_CASE("using namespace std") {
  const dm::grid<line> g;
  auto x = dm::constant<dm::tensor<float, whole, hidden>>(g, 1);
  CHECK(value(sum(x + x)) == 12);
  CHECK(value(sum<hidden>(exp(x * 0))) == 6);
  CHECK(value(max<hidden>(abs(x))) == 1);
}
}  // namespace using_whole_namespaces
}  // namespace
