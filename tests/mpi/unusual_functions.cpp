// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Right programs that are written in other ways than the tutorial's: functions and operators of the
// user's that have the library's names are called, and tensors are no ranges and no numbers to
// whoever asks.
// ranks: 1 2
#include <doctest/doctest.h>

#include <dimesh/dimesh.hpp>
#include <dimesh/interop/borrow.hpp>
#include <dimesh/io/checkpoint/load.hpp>
#include <dimesh/io/checkpoint/save.hpp>
#include <dimesh/io/npy.hpp>
#include <dimesh/op/logic.hpp>
#include <ranges>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

namespace {
namespace dm = dimesh;

struct batch : dm::dim<4> {};
struct rows : dm::axis<> {};
struct line : dm::mesh<rows> {};
using whole = dm::layout<line>;
using field = dm::tensor<double, whole, batch>;
using number = dm::tensor<double, whole>;
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<double, L, batch>, w));
};
using parameters = network<whole>;

// In another namespace than the tests: argument-dependent lookup finds them beside the library's.
double value(const field& x, double t) { return dm::value(dm::sum(x)) + t; }
std::string clamp(const field&, long) { return "mine"; }
std::string save_checkpoint(const parameters&, const std::string& name) { return name; }
std::string load_checkpoint(const parameters&, double) { return "loaded"; }
std::string save_npy(const field&, const std::string& name, double) { return name; }
std::string part(const field&, double) { return "a part"; }
std::string borrow(const field&, double) { return "lent"; }
std::string zeros(const field&, double) { return "none"; }
parameters operator*(double f, const parameters& p) { return {p.w * f}; }

TEST_CASE("functions and operators of the user's that have the library's names") {
  const dm::grid<line> g;
  const auto x = dm::constant<field>(g, 1);
  const parameters p{x};
  CHECK(value(x, 2) == 6);
  CHECK(clamp(x, 2) == "mine");
  CHECK(save_checkpoint(p, "run") == "run");
  CHECK(load_checkpoint(p, 3) == "loaded");
  CHECK(save_npy(x, "x.npy", 3) == "x.npy");
  CHECK(part(x, 3) == "a part");
  CHECK(borrow(x, 3) == "lent");
  CHECK(zeros(x, 3) == "none");
  CHECK(dm::value(dm::sum((2 * p).w)) == 8);
}

std::variant<double, number> either(const number& x) { return x; }

/// All tensors below, of vectors of vectors, too.
template <class T> int count_of(const T& x) {
  if constexpr (std::ranges::range<T>) {
    int n = 0;
    for (const auto& y : x) n += count_of(y);
    return n;
  } else {
    return x.defined() ? 1 : 0;
  }
}

TEST_CASE("who asks what a tensor is gets the right answer") {
  const dm::grid<line> g;
  CHECK(either(dm::constant<number>(g, 3)).index() == 1);
  const auto x = dm::constant<field>(g, 1);
  CHECK(count_of(std::vector<std::vector<field>>{{x, x}, {x}}) == 3);
}

TEST_CASE("memory of a C array is lent") {
  const dm::grid<line> g;
  double a[4] = {1, 2, 3, 4};
  const auto x = dm::borrow<field>(g, a, 4);
  CHECK(dm::value(dm::sum(x)) == 10);
}

struct point {
  float x, y;
};
TEST_CASE("elements that cannot be printed are not") {
  const dm::grid<line> g;
  std::ostringstream out;
  out << dm::make<dm::tensor<point, whole>>(g)
      << dm::constant<dm::tensor<signed char, whole>>(g, 7);
  CHECK(out.str().ends_with("7"));
}

}  // namespace
