// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A distributed matrix product under two layouts: the summed dim whole on each rank, or split. The
// text of the product is one; the types say what has to be communicated, and how many bytes.
//
// ranks: 4
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <iostream>

namespace dm = dimesh;

struct row : dm::dim<512> {};
struct inner : dm::dim<256> {};
struct col : dm::dim<384> {};

struct down : dm::axis<2> {};
struct across : dm::axis<2> {};
struct square : dm::mesh<down, across> {};

// Each rank owns a block of the result and has all it needs of both factors: nothing to send.
using by_result = dm::layout<square, dm::split<row, down>, dm::split<col, across>>;
// The summed dim is split: each rank has an addend of its rows of the result.
using by_inner = dm::layout<square, dm::split<row, down>, dm::split<inner, across>>;

struct product {
  template <class A, class B> constexpr auto operator()(const A& a, const B& b) const {
    return dm::complete(dm::einsum<row, col>(a, b));
  }
};

// Without `complete` the second layout's product is marked as a sum yet to be made.
template <class L> using a_type = dm::tensor<double, L, row, inner>;
template <class L> using b_type = dm::tensor<double, L, inner, col>;
using addend = decltype(dm::einsum<row, col>(a_type<by_inner>{}, b_type<by_inner>{}));
static_assert(
    std::is_same_v<addend,
                   dm::tensor<double, dm::layout<square, dm::split<row, down>, dm::partial<across>>,
                              row, col>>);

template <class L> void multiply(const dm::grid<square>& g, const char* name) {
  auto a = dm::generate<a_type<L>>(
      g, [](dm::index_t i, dm::index_t k) { return 1.0 / static_cast<double>(i + k + 1); });
  auto b =
      dm::generate<b_type<L>>(g, [](dm::index_t k, dm::index_t j) { return k == j ? 2.0 : 0.0; });
  auto c = product{}(a, b);

  // Known while compiling, since all extents are: payload bytes per rank and axis.
  constexpr auto cost = dm::cost_of<product, dm::tensor<double, dm::shaped<L>, row, inner>,
                                    dm::tensor<double, dm::shaped<L>, inner, col>>;
  static_assert(cost.template bytes<down> == 0);

  const double found = dm::broadcast_element(c, {100, 50}), expected = 2.0 / 151;
  if (g.rank() == 0)
    std::cout << name << ": c[100, 50] = " << found << " (expected " << expected << "), "
              << cost.flops / 1000000 << " Mflop and "
              << cost.template bytes<across> << " bytes along 'across' per rank\n";
  if (!(std::abs(found - expected) <= 1e-12)) throw dm::error("the product is wrong");
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [] {
    dm::grid<square> g;
    multiply<by_result>(g, "split by result");
    multiply<by_inner>(g, "split by inner dim");
  });
}
