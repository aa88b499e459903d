// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// First steps: names, a mesh, a layout, a tensor; and what happens when a layout does not fit.
//
// ranks: 4
#include <dimesh/dimesh.hpp>
#include <dimesh/show/draw.hpp>
#include <iostream>

namespace dm = dimesh;

// Dims are structs; the name is the identity, the extent part of it.
struct batch : dm::dim<8> {};
struct hidden : dm::dim<6> {};

// So are the axes of the processor mesh: here 2 ranks by as many as there are.
struct rows : dm::axis<2> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};

// Which axis splits which dim. This line decides how everything below is distributed.
using hybrid = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, cols>>;

// A tensor keeps the rules that concern it: the bias has no batch, so rows only replicate it.
using activations = dm::tensor<float, hybrid, batch, hidden>;
using bias = dm::tensor<float, hybrid, hidden>;
static_assert(
    std::is_same_v<bias, dm::tensor<float, dm::layout<pod, dm::split<hidden, cols>>, hidden>>);

int main(int argc, char** argv) {
  return dm::run(argc, argv, [] {
    dm::grid<pod> g;

    auto x = dm::generate<activations>(
        g, [](dm::index_t b, dm::index_t h) { return static_cast<float>(10 * b + h); });
    auto b = dm::constant<bias>(g, 0.5f);
    auto y = x + b;  // local: every rank has the blocks it needs
    static_assert(std::is_same_v<decltype(y), activations>);

    const auto whole = dm::to_rank(y);  // a collective, and called like one
    if (g.rank() == 0) {
      std::cout << dm::describe<activations>() << "\n" << dm::draw_text<activations>(g);
      const float found = whole[3 * hidden::extent + 2];
      std::cout << "y[3, 2] = " << found << "\n";
      if (found != 32.5f) throw dm::error("the sum is wrong");
    }

#ifdef TRY_A_WRONG_LAYOUT
    // Both dims on one axis: no rank could hold such a block. One error, and it names the culprits:
    //   error: static assertion failed: tensor: two dims are split over the same mesh axis; ...
    //   note: 'ok<dims_share_mesh_axis<batch, hidden, rows> >' evaluates to false
    using wrong = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, rows>>;
    dm::tensor<float, wrong, batch, hidden> z(g);
#endif
  });
}
