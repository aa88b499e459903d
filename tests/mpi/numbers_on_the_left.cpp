// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number may stand on either side, and tensors begin with lists of numbers; values, gradients.
//
// ranks: 1 2 4
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/logic.hpp>
#include <dimesh/op/slice_exchange.hpp>
#include <limits>
#include <sstream>

#include "support/host.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<4> {};
struct hidden : dm::dim<2> {};
struct open : dm::dim<> {};
struct one : dm::axis<> {};
struct pod : dm::mesh<one> {};
using whole = dm::layout<pod>;
using data = dm::layout<pod, dm::split<batch, one>>;

template <class L> auto numbers(const dm::grid<pod>& g) {
  return dm::from_array<dm::tensor<double, L, batch, hidden>>(g,
                                                              {-2, -1.5, -1, -0.5, 0, 0.25, 1, 2});
}
template <class A, class B> double farthest(const A& a, const B& b) {
  return dm::value(dm::complete(dm::max(dm::abs(a - b))));
}
template <class X> auto as_numbers(const X& truths) { return dm::cast<double>(truths); }

template <class L> void check_sides(const dm::grid<pod>& g) {
  const auto x = numbers<L>(g);
  CHECK(farthest(dm::maximum(0, x), dm::maximum(x, 0)) == 0);
  CHECK(farthest(dm::minimum(0.5, x), dm::minimum(x, 0.5)) == 0);
  CHECK(farthest(dm::clamp(x, 0, 1.5), dm::clamp(x, 0.0, 1.5)) == 0);
  CHECK(farthest(dm::pow(2, x), dm::map([](auto v) { return dm::exp(v * std::log(2.0)); }, x)) <
        1e-15);
  CHECK(farthest(as_numbers(0 < x), as_numbers(x > 0)) == 0);
  CHECK(farthest(as_numbers(0 <= x), as_numbers(x >= 0)) == 0);
  CHECK(farthest(as_numbers(0 > x), as_numbers(x < 0)) == 0);
  CHECK(farthest(as_numbers(0 >= x), as_numbers(x <= 0)) == 0);
  CHECK(farthest(as_numbers(1 == x), as_numbers(x == 1)) == 0);
  CHECK(farthest(as_numbers(1 != x), as_numbers(x != 1)) == 0);
  CHECK(dm::value(dm::complete(dm::sum(as_numbers(0 < x)))) == 3);
}

TEST_CASE("a number on the left is one on the right") {
  const dm::grid<pod> g;
  check_sides<whole>(g);
  check_sides<data>(g);
}

TEST_CASE("a number to the power of a tensor has a derivative") {
  const dm::grid<pod> g;
  const auto x = numbers<data>(g);
  const auto loss = [](const auto& v) { return dm::sum(dm::pow(3, v)); };
  const auto d = dm::complete(dm::value_and_grad(loss, x)()).gradient;
  CHECK(farthest(d, dm::pow(3, x) * std::log(3.0)) < 1e-13);
}

int clamped(int v) { return std::clamp(v, -70000, 1); }
template <dm::Tensor X> auto clamped(const X& x) { return dm::clamp(x, -70000, 1); }
/// Short elements beside numbers that they do not hold: as C++ has it of one of them.
template <class T, class F>
void check_each(const dm::grid<pod>& g, const std::array<T, 4>& elements, const F& f) {
  using X = dm::tensor<T, data, batch>;
  const auto x =
      dm::generate<X>(g, [&](dm::index_t i) { return elements[static_cast<std::size_t>(i)]; });
  const auto y = dm::to_rank(f(x));
  for (std::size_t i = 0; i < y.size(); ++i)
    CHECK(static_cast<int>(y[i]) == static_cast<int>(f(static_cast<int>(elements[i]))));
}
template <class T> void check_short(const dm::grid<pod>& g, const std::array<T, 4>& elements) {
  const auto each = [&](const auto& f) { check_each(g, elements, f); };
  each([](const auto& v) { return v + 70000; });
  each([](const auto& v) { return 70000 + v; });
  each([](const auto& v) { return v - 3; });
  each([](const auto& v) { return 70000 - v; });
  each([](const auto& v) { return v * 2; });
  each([](const auto& v) { return 30000 * v; });
  each([](const auto& v) { return v / 65536; });
  each([](const auto& v) { return 70000 / (v + 1); });
  each([](const auto& v) { return dm::minimum(v, 70000); });
  each([](const auto& v) { return dm::maximum(-70000, v); });
  each([](const auto& v) { return clamped(v); });
  each([](const auto& v) { return dm::select(v > 70000, v, 1); });
  each([](const auto& v) { return dm::select(v < 70000, 1, v); });
  using X = dm::tensor<T, data, batch>;
  static_assert(std::is_same_v<decltype(std::declval<X>() * 2), dm::tensor<int, data, batch>>);
  static_assert(std::is_same_v<decltype(dm::maximum(std::declval<X>(), 0)), X>);
  static_assert(
      std::is_same_v<decltype(dm::select(std::declval<X>() > 0, std::declval<X>(), 0)), X>);
}

TEST_CASE("numbers keep their value beside bool and short whole numbers") {
  const dm::grid<pod> g;
  check_short<bool>(g, {false, true, true, false});
  check_short<std::uint8_t>(g, {0, 1, 5, 255});
  check_short<std::int8_t>(g, {-100, 1, 5, 127});
  check_short<std::int16_t>(g, {-7, 1, 300, 32767});
  check_short<std::uint16_t>(g, {0, 1, 300, 65535});
}

template <class X, class T> bool is_list(const X& x, const std::vector<T>& all) {
  return dm::to_rank(x) == (x.grid().rank() == 0 ? all : std::vector<T>());
}
/// C++ says nothing of such quotients, and processors end the program.
template <class T> void check_quotients(const dm::grid<pod>& g) {
  using X = dm::tensor<T, data, batch>;
  constexpr T least = std::numeric_limits<T>::lowest(), other = static_cast<T>(-1);
  const auto x = dm::from_array<X>(g, std::vector<T>{least, 7, 7, 6});
  const auto y = dm::from_array<X>(g, std::vector<T>{other, 0, 2, other});
  using R = decltype(T() / T());
  using values = std::vector<R>;
  const R turned = std::is_signed_v<T> ? static_cast<R>(-6) : R(0);
  R most = least;
  if constexpr (sizeof(T) < sizeof(R)) most = -most;  // which is an element of the result
  const values quotients{most, 0, 3, turned}, by_six{turned, 0, 3, turned};
  CHECK(is_list(x / y, quotients));
  CHECK(is_list(dm::floor_div(x, y), quotients));
  CHECK(is_list(dm::mod(x, y), values{0, 0, 1, std::is_signed_v<T> ? R(0) : R(6)}));
  CHECK(is_list(6 / y, by_six));
  CHECK(is_list(dm::floor_div(6, y), by_six));
}
TEST_CASE("whole numbers divided by 0 are 0, the lowest one by -1 is itself") {
  const dm::grid<pod> g;
  check_quotients<int>(g);
  check_quotients<std::int8_t>(g);
  check_quotients<unsigned>(g);
  check_quotients<std::int64_t>(g);
  using I = dm::tensor<int, data, batch>;
  constexpr int least = std::numeric_limits<int>::lowest();
  const auto x = dm::from_array<I>(g, {least, -1, -1, -2});
  CHECK(is_list(x / -1, std::vector<int>{least, 1, 1, 2}));
  CHECK(is_list(x - least, std::vector<int>{0, 2147483647, 2147483647, 2147483646}));
}

template <class F> std::string said(const F& f) {
  try {
    (void)f();
  } catch (const dm::error& e) {
    return e.what();
  }
  return "nothing";
}

TEST_CASE("a number that would become an element, and cannot, is an error") {
  const dm::grid<pod> g;
  const auto b = dm::zeros<dm::tensor<std::uint8_t, data, batch>>(g);
  const std::string why = " is no element: these are whole numbers from 0 to 255; cast the tensor";
  CHECK(said([&] { return dm::maximum(b, 300); }) == "maximum: 300" + why);
  CHECK(said([&] { return dm::minimum(b, -1); }) == "minimum: -1" + why);
  CHECK(said([&] { return dm::clamp(b, 256, 300); }) == "clamp: 256" + why);
  CHECK(said([&] { return dm::select(b > 0, b, 300); }) == "select: 300" + why);
  CHECK(said([&] { return dm::select(b > 0, -5, b); }) == "select: -5" + why);
}

TEST_CASE("whole elements are not divided by the number 0") {
  const dm::grid<pod> g;
  const auto x = dm::constant<dm::tensor<int, data, batch>>(g, 3);
  const std::string why =
      ": the elements are whole numbers, which have no quotient by 0; cast the tensor to double, "
      "or divide by another number";
  CHECK(said([&] { return x / 0; }) == "operator/" + why);
  CHECK(said([&] { return dm::floor_div(x, 0); }) == "floor_div" + why);
  CHECK(said([&] { return dm::mod(x, false); }) == "mod" + why);
  CHECK(std::isinf(dm::value(dm::complete(dm::max(x / 0.0)))));
  CHECK(std::isinf(dm::value(dm::complete(dm::max(dm::cast<float>(x) / 0)))));
}

template <class X> auto last(const X& x) {
  return dm::value(dm::pick<batch>(dm::whole<batch>(x), 3));
}

TEST_CASE("tensors are filled with numbers that are elements, and with no others") {
  const dm::grid<pod> g;
  const auto filled = [&]<class T>(T, auto n) {
    using X = dm::tensor<T, data, batch>;
    X x = dm::zeros<X>(g);
    dm::fill(x, n);
    CHECK(dm::to_rank(x) == dm::to_rank(dm::constant<X>(g, n)));
    return last(x);
  };
  CHECK(filled(std::uint8_t{}, 255) == 255);
  CHECK(filled(bool{}, 1));
  CHECK(filled(bool{}, 0) == false);
  CHECK(filled('a', 98) == 'b');
  CHECK(filled(std::int64_t{}, 7u) == 7);
  CHECK(filled(float{}, std::int64_t{1} << 40) == 0x1p40f);
  CHECK(filled(dm::half{}, 3) == dm::half(3));
  using bytes = dm::tensor<std::uint8_t, data, batch>;
  const std::string why = " is no element: these are whole numbers from 0 to 255; cast the tensor";
  bytes b = dm::zeros<bytes>(g);
  CHECK(said([&] { return dm::constant<bytes>(g, 300); }) == "constant: 300" + why);
  CHECK(said([&] { return dm::fill(b, -1), 0; }) == "fill: -1" + why);
  CHECK_THROWS_AS((void)(dm::constant<dm::tensor<bool, data, batch>>(g, 2)), dm::error);
}

TEST_CASE("a whole number beyond the type of a result is an error") {
  const dm::grid<pod> g;
  const auto x = dm::constant<dm::tensor<int, data, batch>>(g, 1);
  const auto wide = std::int64_t{3000000000};
  const std::string why =
      ": 3000000000 is no element: these are whole numbers from -2147483648 to 2147483647; cast "
      "the tensor";
  CHECK(said([&] { return x + wide; }) == "operator+" + why);
  CHECK(said([&] { return wide + x; }) == "operator+" + why);
  CHECK(said([&] { return x - wide; }) == "operator-" + why);
  CHECK(said([&] { return 3000000000u - x; }) == "operator-" + why);
  CHECK(said([&] { return x * wide; }) == "operator*" + why);
  CHECK(said([&] { return wide * x; }) == "operator*" + why);
  CHECK(said([&] { return x / wide; }) == "operator/" + why);
  CHECK(said([&] { return wide / x; }) == "operator/" + why);
  CHECK(said([&] { return dm::pow(x, wide); }) == "pow" + why);
  CHECK(said([&] { return dm::pow(wide, x); }) == "pow" + why);
  static_assert(std::is_same_v<decltype(x + wide), std::remove_const_t<decltype(x)>>);
  CHECK(last(x + std::int64_t{2}) == 3);
  const auto u = dm::constant<dm::tensor<std::uint32_t, data, batch>>(g, 5);
  CHECK(last(u + -1) == 4);
  CHECK(last(dm::cast<double>(x) + wide) == 3000000001);
}

TEST_CASE("pad: a number that the elements do not hold is an error, and others keep their value") {
  const dm::grid<pod> g;
  const auto padded = [&]<class T>(T, auto n) {
    const auto x = dm::zeros<dm::tensor<T, whole, open>>(g, open{1});
    return dm::value(dm::pick<open>(dm::pad<open>(x, 0, 1, n), 1));
  };
  const auto exchanged = [&]<class T>(T, auto n) {
    using split = dm::layout<pod, dm::split<dm::uneven<open>, one>>;
    const auto x = dm::zeros<dm::tensor<T, split, open>>(g, open{1});
    const auto y = dm::pad_exchange<dm::uneven<open>>(x, 0, 1, n);
    return dm::value(dm::pick<open>(dm::whole<open>(y), 1));
  };
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  const auto limits = std::numeric_limits<double>();
  const auto check = [&](const auto& f) {
    CHECK(f(std::uint8_t{}, 255) == 255);
    CHECK(f(std::uint8_t{}, 255.0) == 255);
    CHECK(f(std::int64_t{}, odd) == odd);
    CHECK(f(std::int64_t{}, -0x1p63) == std::numeric_limits<std::int64_t>::lowest());
    CHECK(f(bool{}, 1));
    CHECK(f(float{}, 1) == 1);
    CHECK(f(float{}, 0.5) == 0.5f);
    CHECK(f(double{}, -limits.infinity()) == -limits.infinity());
    CHECK(f(dm::half{}, 1) == dm::half(1));
    CHECK(f(dm::half{}, dm::half(0.5)) == dm::half(0.5));
    CHECK_THROWS_AS(f(std::uint8_t{}, 300), dm::error);
    CHECK_THROWS_AS(f(std::uint8_t{}, 256.0), dm::error);
    CHECK_THROWS_AS(f(std::uint8_t{}, -1), dm::error);
    CHECK_THROWS_AS(f(bool{}, 2), dm::error);
    CHECK_THROWS_AS(f(bool{}, 0.5), dm::error);
    CHECK_THROWS_AS(f(int{}, 0.5), dm::error);
    CHECK_THROWS_AS(f(int{}, limits.quiet_NaN()), dm::error);
    CHECK_THROWS_AS(f(int{}, -limits.infinity()), dm::error);
    CHECK_THROWS_AS(f(std::int64_t{}, 0x1p63), dm::error);
  };
  check(padded);
  check(exchanged);
  CHECK_THROWS_WITH_AS(
      padded(std::uint8_t{}, 300),
      "pad: 300 is no element: these are whole numbers from 0 to 255; cast the tensor", dm::error);
  CHECK_THROWS_WITH_AS(
      exchanged(std::uint8_t{}, 300),
      "pad_exchange: 300 is no element: these are whole numbers from 0 to 255; cast the tensor",
      dm::error);
}

TEST_CASE("sums of whole numbers may leave their type on the way") {
  const dm::grid<pod> g;
  const auto x = dm::from_array<dm::tensor<int, whole, batch>>(g, {2147483647, 1, -5, -1});
  CHECK(dm::value(dm::sum(x)) == 2147483642);
}

TEST_CASE("a tensor without dims is printed with its number") {
  const dm::grid<pod> g;
  const auto printed = [](const auto& x) {
    std::ostringstream out;
    out << x;
    return out.str();
  };
  const auto x = numbers<data>(g);
  CHECK(printed(dm::complete(dm::sum(x))) == "double[] -1.75");
  if (g.ranks() > 1) CHECK(printed(dm::sum(x)).find("-1.75") == std::string::npos);
}

}  // namespace
