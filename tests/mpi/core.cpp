// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do operations refuse that their operands' types allow? Operands on two grids, operands that
// are not there, and operands recorded by two backward passes of which neither is inside the other:
// each is an error that names the call, before anything is computed.
//
// ranks: 1 2
#include "dimesh/core/pullback.hpp"

#include <doctest/doctest.h>

#include <dimesh/dimesh.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/grad/vjp.hpp>
#include <string>

namespace dm = dimesh;

namespace {

struct width : dm::dim<12> {};
struct length : dm::dim<> {};
struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
using whole = dm::layout<line>;
using halves = dm::layout<line, dm::split<width, ranks>>;
template <class L> using row = dm::tensor<double, L, width>;

template <class L> auto filled(const dm::grid<line>& g, double by) {
  return dm::generate<row<L>>(g, [by](dm::index_t i) { return by + static_cast<double>(i); });
}

/// What f complains of; empty if it does not.
template <class F> std::string complaint(const F& f) {
  try {
    f();
  } catch (const dm::error& e) {
    return e.what();
  }
  return "";
}
bool says(const std::string& text, const char* what) {
  return text.find(what) != std::string::npos;
}

template <class L> void check_operands() {
  const dm::grid<line> g, other;
  const auto a = filled<L>(g, 1), b = filled<L>(other, 2);
  CHECK(complaint([&] { (void)(a + filled<L>(g, 2)); }).empty());

  for (const std::string& text : {complaint([&] { (void)dm::einsum<>(a, b); }),
                                  complaint([&] { (void)dm::einsum<>(b, a); })}) {
    CHECK(says(text, "einsum: the operands live on two grids"));
  }
  const row<L> never;
  for (const std::string& text :
       {complaint([&] { (void)dm::einsum<>(never, a); }),
        complaint([&] { (void)dm::einsum<>(a, never); }), complaint([&] { (void)dm::sum(never); }),
        complaint([&] { (void)dm::tanh(never); })}) {
    CHECK(says(text, ": an operand is not defined"));
  }
  CHECK(complaint([&] { (void)dm::sum(never); }).starts_with("sum: "));
}

TEST_CASE("operands on two grids, and operands that were never made") {
  check_operands<whole>();
  check_operands<halves>();
}

template <class L> void check_names() {
  const dm::grid<line> g, other;
  const auto a = filled<L>(g, 1), b = filled<L>(other, 2);
  const row<L> never;
  // Each complaint begins with what the user wrote, then a colon.
  CHECK(complaint([&] { (void)(a + b); }).starts_with("operator+: the operands live on two grids"));
  CHECK(complaint([&] { (void)(a - b); }).starts_with("operator-: "));
  CHECK(complaint([&] { (void)(a * b); }).starts_with("operator*: "));
  CHECK(complaint([&] { (void)(a / b); }).starts_with("operator/: "));
  CHECK(complaint([&] { (void)(a <= b); }).starts_with("operator<=: "));
  CHECK(complaint([&] { (void)dm::select(a < 1.0, a, b); }).starts_with("select: "));
  CHECK(complaint([&] { (void)dm::maximum(a, b); }).starts_with("maximum: "));
  CHECK(complaint([&] { (void)dm::pow(a, b); }).starts_with("pow: "));
  CHECK(complaint([&] { (void)dm::layer_norm<width>(a, b); }).starts_with("layer_norm: "));
  CHECK(complaint([&] { (void)dm::rms_norm<width>(a, b); }).starts_with("rms_norm: "));
  CHECK(complaint([&] { (void)dm::exp(never); }).starts_with("exp: an operand is not defined"));
  CHECK(complaint([&] { (void)-never; }).starts_with("operator-: "));
  CHECK(complaint([&] { (void)(never + 1); }).starts_with("operator+: "));
  CHECK(complaint([&] { (void)(never - 1); }).starts_with("operator-: "));
  CHECK(complaint([&] { (void)(1 - never); }).starts_with("operator-: "));
  CHECK(complaint([&] { (void)(2 * never); }).starts_with("operator*: "));
  CHECK(complaint([&] { (void)(never != 2); }).starts_with("operator!=: "));
  const auto own = [](const auto& x, const auto& y) { return x + y; };
  CHECK(complaint([&] { (void)dm::map(own, a, b); }).starts_with("map: "));
  const auto recorded = [&](const auto& x) { return dm::complete(dm::sum(x * b)); };
  CHECK(complaint([&] { (void)dm::value_and_grad(recorded, a)(); }).starts_with("operator*: "));
}

TEST_CASE("complaints name what was called") {
  check_names<whole>();
  check_names<halves>();
}

TEST_CASE("extents that only the run knows must agree") {
  const dm::grid<line> g;
  using text = dm::tensor<double, whole, length>;
  const auto a = dm::zeros<text>(g, length{4}), b = dm::zeros<text>(g, length{5});
  const std::string said = complaint([&] { (void)dm::einsum<>(a, b); });
  CHECK(says(said, "einsum: the operands disagree on dim 'length'"));
}

constexpr const char* two_passes = "the operands are recorded by two value_and_grad";

TEST_CASE("what is recorded outside is not taken for what is recorded inside") {
  const dm::grid<line> g;
  const auto mixed = [&g](const auto& product) {
    return complaint([&] {
      const auto inner = filled<whole>(g, 1), outer = filled<whole>(g, 2);
      const auto outside = [&](const auto& w) {
        const auto inside = [&](const auto& q) { return product(q, w); };
        return dm::sum(w) + dm::value_and_grad(inside, inner)().value;
      };
      (void)dm::value_and_grad(outside, outer)();
    });
  };
  const auto product = [](const auto& a, const auto& b) { return dm::einsum<>(a, b); };
  const std::string plain = mixed(product);
  CHECK(says(plain, "einsum: "));
  CHECK(says(plain, two_passes));
  const std::string again =
      mixed([&product](const auto&... x) { return dm::recompute(product)(x...); });
  CHECK(says(again, "recompute: "));
  CHECK(says(again, two_passes));
  const auto stopped = [](const auto& a, const auto& b) {
    return dm::einsum<>(a, dm::stop_gradient(b));
  };
  CHECK(mixed(stopped).empty());
}

// A function with a written-out parameter is not tried on plain tensors first.
TEST_CASE("a value that only the outside reaches has no gradient inside") {
  const dm::grid<line> g;
  const auto inner = filled<whole>(g, 1), outer = filled<whole>(g, 2);
  using recorded = dm::tensor<double, dm::tracked<whole>, width>;
  const std::string said = complaint([&] {
    const auto outside = [&](const recorded& w) {
      const auto inside = [&w](const recorded&) { return dm::einsum<>(w, w); };
      return dm::sum(w) + dm::value_and_grad(inside, inner)().value;
    };
    (void)dm::value_and_grad(outside, outer)();
  });
  CHECK(says(said, "value_and_grad: the function's value is recorded outside"));
}

}  // namespace
