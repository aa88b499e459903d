// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Right programs that are written in other ways than the tutorial's compile, and give the right
// numbers: arguments, numbers and functions of other kinds.
// ranks: 1 2
#include <doctest/doctest.h>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>

#include <any>
#include <array>
#include <functional>
#include <span>
#include <variant>
#include <vector>

namespace {
namespace dm = dimesh;

struct batch : dm::dim<8> {};
struct hidden : dm::dim<6> {};
struct label : dm::dim<4> {};
struct rows : dm::axis<> {};
struct line : dm::mesh<rows> {};
using whole = dm::layout<line>;
using by_batch = dm::layout<line, dm::split<batch, rows>>;

namespace bindings_in_loss {
template <class L> struct par {
  BOOST_HANA_DEFINE_STRUCT(par, (dm::tensor<float, L, hidden>, w),
                           (dm::tensor<float, L, hidden>, b));
};
TEST_CASE("a loss binds the members of its parameters") {
  const dm::grid<line> g;
  const par<whole> p{.w = dm::zeros<dm::tensor<float, whole, hidden>>(g),
                     .b = dm::constant<dm::tensor<float, whole, hidden>>(g, 1)};
  auto r = dm::complete(dm::value_and_grad(
      [](const auto& q) {
        const auto& [w, b] = q;
        return dm::sum(w * b);
      },
      p)());
  CHECK(dm::value(dm::sum(r.gradient.w)) == 6);
}
}  // namespace bindings_in_loss

namespace number_types {
TEST_CASE("numbers of every type beside a tensor, on either side") {
  const dm::grid<line> g;
  auto x = dm::constant<dm::tensor<float, whole, hidden>>(g, 1);
  const std::size_t n = 2;
  const short s = 2;
  CHECK(dm::value(dm::sum(x * x.extent<hidden>())) == 36);
  CHECK(dm::value(dm::sum(x / x.extent<hidden>())) == 1);
  CHECK(dm::value(dm::sum(x * n)) == 12);
  CHECK(dm::value(dm::sum(s * x)) == 12);
  CHECK(dm::value(dm::sum(x * true)) == 6);
  CHECK(dm::value(dm::sum(dm::select(0 < x, 1 - x, x))) == 0);
  for (const auto& m : {0 < x, 1 <= x, 2 > x, 1 >= x, 1 == x, 0 != x})
    CHECK(dm::value(dm::sum(dm::cast<int>(m))) == 6);
}
}  // namespace number_types

namespace unary_plus {
TEST_CASE("a sign that changes nothing") {
  const dm::grid<line> g;
  auto x = dm::constant<dm::tensor<float, whole, hidden>>(g, 1);
  CHECK(dm::value(dm::sum(+x)) == 6);
}
}  // namespace unary_plus

namespace fill_types {
TEST_CASE("tensors filled from arrays, spans, C arrays, numbers written out") {
  const dm::grid<line> g;
  dm::tensor<float, whole, label> x(g);
  const std::array<float, 4> a{1, 2, 3, 4};
  dm::fill_from(x, a);
  CHECK(dm::value(dm::sum(x)) == 10);
  const float b[4] = {1, 2, 3, 5};
  dm::fill_from(x, std::span<const float>(b));
  CHECK(dm::value(dm::sum(x)) == 11);
  const float c[4] = {1, 2, 3, 6};
  dm::fill_from(x, c);
  CHECK(dm::value(dm::sum(x)) == 12);
  dm::fill_from(x, {1, 2, 3, 7});
  CHECK(dm::value(dm::sum(x)) == 13);
}
}  // namespace fill_types

namespace generate_types {
TEST_CASE("functions of indices of other types, of any number of indices") {
  const dm::grid<line> g;
  using X = dm::tensor<float, whole, hidden, label>;
  auto a = dm::generate<X>(g, [](dm::index_t i, dm::index_t j) { return i + j; });
  auto b = dm::generate<X>(g, [](int i, int j) { return i + j; });
  auto c = dm::generate<X>(g, [](auto... i) { return static_cast<float>((i + ...)); });
  auto d = dm::generate<X>(g, [](std::size_t i, std::size_t) { return double(i); });
  auto e = dm::generate<X>(g, [](auto, auto) { return 1; });
  CHECK(dm::value(dm::max(dm::abs(a - b))) == 0);
  CHECK(dm::value(dm::max(dm::abs(a - c))) == 0);
  CHECK(dm::value(dm::sum(d)) == 4 * 15);  // 0 to 5, in each of 4 columns
  CHECK(dm::value(dm::sum(e)) == 24);
}
}  // namespace generate_types

namespace map_objects {
struct twice {
  template <class T> constexpr T operator()(T x) const { return x + x; }
};
TEST_CASE("map with function objects of std, of one's own, captures of all kinds") {
  const dm::grid<line> g;
  auto x = dm::constant<dm::tensor<float, whole, hidden>>(g, 1);
  float by = 2;
  const std::array<float, 2> t{1, 2};
  CHECK(dm::value(dm::sum(dm::map(std::plus<>{}, x, x))) == 12);
  CHECK(dm::value(dm::sum(dm::map(std::negate<>{}, x))) == -6);
  CHECK(dm::value(dm::sum(dm::map(std::multiplies<float>{}, x, x))) == 6);
  CHECK(dm::value(dm::sum(dm::map(twice{}, x))) == 12);
  CHECK(dm::value(dm::sum(dm::map([&](float v) { return v * by; }, x))) == 12);
  CHECK(dm::value(dm::sum(dm::map([t](auto v) { return v * t[1]; }, x))) == 12);
  CHECK(dm::value(dm::sum(dm::map([](double v) { return float(v); }, x))) == 6);
}
}  // namespace map_objects

namespace element_types {
template <class T> void one(const dm::grid<line>& g) {
  auto x = dm::constant<dm::tensor<T, whole, label>>(g, T(1));
  CHECK(dm::value(dm::sum(x + x)) == T(8));
}
TEST_CASE("elements of every integer type") {
  const dm::grid<line> g;
  one<std::uint8_t>(g);
  one<std::int8_t>(g);
  one<short>(g);
  one<unsigned>(g);
  one<long long>(g);
  one<unsigned long>(g);
}
}  // namespace element_types

namespace scalars {
TEST_CASE("tensors without dims") {
  const dm::grid<line> g;
  auto x = dm::constant<dm::tensor<float, whole, hidden>>(g, 1);
  const dm::tensor<float, whole> s = dm::sum(x);
  CHECK(dm::value(dm::sum(x * s - s)) == 0);
  CHECK(dm::value(s * s + 1) == 37);
  float f = dm::value(s);
  double d = dm::value(s);
  CHECK(f == d);
  CHECK(s.at() == 6);
}
}  // namespace scalars

namespace adl {
TEST_CASE("calls without a namespace") {
  const dm::grid<line> g;
  auto x = dm::constant<dm::tensor<float, by_batch, batch, hidden>>(g, 1);
  CHECK(value(complete(sum(x))) == 48);
  CHECK(value(complete(sum<hidden>(sum<batch>(x)))) == 48);
  CHECK(value(complete(sum(relu(x) + exp(x * 0)))) == 96);
  CHECK(value(complete(sum(abs(sqrt(x))))) == 48);
}
}  // namespace adl

namespace lambda_type_cost {
struct four : dm::axis<4> {};
struct fixed : dm::mesh<four> {};
using shape =
    dm::tensor<float, dm::shaped<dm::layout<fixed, dm::split<batch, four>>>, batch, hidden>;
constexpr auto cost =
    dm::cost_of<decltype([](const auto& x) { return dm::complete(dm::sum(x)); }), shape>;
static_assert(cost.bytes<four> == 4);
constexpr auto f = [](const auto& x) { return dm::complete(dm::sum(x)); };
static_assert(dm::cost_of<decltype(f), shape>.bytes<four> == 4);
static_assert(dm::cost_of<const decltype(f)&, const shape&>.bytes<four> == 4);
static_assert(dm::cost_of<std::remove_const_t<decltype(f)>, const shape>.bytes<four> == 4);
TEST_CASE("the cost of lambdas by their types, const or not") {}
}  // namespace lambda_type_cost

namespace second_argument {
template <class L, class T = float> struct par {
  BOOST_HANA_DEFINE_STRUCT(par, (dm::tensor<T, L, hidden>, w));
};
template <class L, class In, class Out> struct dense {
  BOOST_HANA_DEFINE_STRUCT(dense, (dm::tensor<float, L, In, Out>, w),
                           (dm::tensor<float, L, Out>, b));
};
template <class L> using layer = dense<L, hidden, label>;
struct net {
  template <class L> struct params {
    BOOST_HANA_DEFINE_STRUCT(params, (layer<L>, a), (dense<L, label, hidden>, z));
  };
};
TEST_CASE("structs of parameters with further arguments, in classes, by alias") {
  const dm::grid<line> g;
  const auto p = dm::zeros<par<whole, double>>(g);
  CHECK(dm::value(
            dm::value_and_grad([](const auto& q) { return dm::sum(q.w * q.w); }, p)().value) == 0);
  const auto n = dm::zeros<net::params<whole>>(g);
  auto r = dm::complete(
      dm::value_and_grad([](const auto& q) { return dm::sum(dm::einsum<>(q.a.w, q.z.w)); }, n)());
  layer<whole> l = r.gradient.a;
}
}  // namespace second_argument

namespace number_argument {
template <class L, int N> struct par {
  BOOST_HANA_DEFINE_STRUCT(par, (std::array<dm::tensor<float, L, hidden>, N>, w));
};
TEST_CASE("structs of parameters with a number behind the layout") {
  const dm::grid<line> g;
  const auto p = dm::zeros<par<whole, 3>>(g);
  CHECK(dm::value(dm::value_and_grad([](const auto& q) { return dm::sum(q.w[0] * q.w[2]); }, p)()
                      .value) == 0);
}
}  // namespace number_argument

namespace std_any {
TEST_CASE("any") {
  const dm::grid<line> g;
  using X = dm::tensor<float, whole, hidden>;
  std::any a = dm::constant<X>(g, 1);
  CHECK(dm::value(dm::sum(std::any_cast<const X&>(a))) == 6);
  a = 3;
}
}  // namespace std_any

namespace overloaded_visit {
template <class... F> struct overloaded : F... {
  using F::operator()...;
};
TEST_CASE("overloaded functions for visit and map") {
  const dm::grid<line> g;
  using X = dm::tensor<float, whole, hidden>;
  using Y = dm::tensor<float, whole, label>;
  std::variant<X, Y> v = dm::constant<Y>(g, 1);
  CHECK(std::visit(overloaded{[](const X&) { return 1; }, [](const Y&) { return 2; }}, v) == 2);
  CHECK(dm::value(
            dm::sum(dm::map(overloaded{[](float x) { return x; }, [](int x) { return float(x); }},
                            dm::constant<X>(g, 1)))) == 6);
}
}  // namespace overloaded_visit

namespace struct_arithmetic {
template <class L> struct par {
  BOOST_HANA_DEFINE_STRUCT(par, (dm::tensor<float, L, hidden>, w),
                           (dm::tensor<float, L, label>, b));
};
template <class L> par<L> operator+(const par<L>& x, const par<L>& y) {
  return {x.w + y.w, x.b + y.b};
}
template <class L> par<L>& operator*=(par<L>& x, float f) {
  dm::for_each_tensor([f](const auto&, auto& t) { t *= f; }, x);
  return x;
}
TEST_CASE("operators of structs of tensors") {
  const dm::grid<line> g;
  par<whole> p{dm::constant<dm::tensor<float, whole, hidden>>(g, 1),
               dm::constant<dm::tensor<float, whole, label>>(g, 1)};
  auto q = p + p;
  q *= 2;
  CHECK(dm::value(dm::sum(q.w)) == 24);
  CHECK(dm::value(dm::sum(p.w)) == 6);
}
}  // namespace struct_arithmetic

namespace ema {
template <class L> struct par {
  BOOST_HANA_DEFINE_STRUCT(par, (dm::tensor<float, L, hidden>, w),
                           (dm::tensor<float, L, label>, b));
};
TEST_CASE("an average of parameters beside them") {
  const dm::grid<line> g;
  auto p = dm::zeros<par<whole>>(g), average = dm::clone(p);
  dm::fill(p.w, 1);
  dm::for_each_tensor([](const auto&, auto& a, const auto& w) { a = a * 0.5f + w * 0.5f; }, average,
                      p);
  CHECK(dm::value(dm::sum(average.w)) == 3);
}
}  // namespace ema
}  // namespace
