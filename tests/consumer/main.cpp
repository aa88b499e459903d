// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a user's program look like? It includes the library, names its dims and axes, and runs:
// here a product of two matrices whose inner dim is split over all ranks.
#include <dimesh/create.hpp>
#include <dimesh/dimesh.hpp>

#include <cstdio>
#if DIMESH_COMPILED_FILES == 1  // checkpoints, too, are in the compiled part
#include <dimesh/io/checkpoint/load.hpp>
#include <dimesh/io/checkpoint/save.hpp>
#include <filesystem>
#endif

namespace dm = dimesh;

struct row : dm::dim<2> {};
struct inner : dm::dim<8> {};
struct column : dm::dim<3> {};

struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
using split_inner = dm::layout<line, dm::split<inner, ranks>>;

int main(int argc, char** argv) {
  return dm::run(argc, argv, [] {
    const dm::grid<line> grid;
    auto ones = [](auto...) { return 1.0F; };
    const auto a = dm::generate<dm::tensor<float, split_inner, row, inner>>(grid, ones);
    const auto b = dm::generate<dm::tensor<float, split_inner, inner, column>>(grid, ones);
    const auto c = dm::complete(dm::einsum<row, column>(a, b));
    if (grid.rank() == 0) std::printf("c(0, 0) = %g\n", static_cast<double>(c.data()[0]));
#if DIMESH_COMPILED_FILES == 1
    const auto folder = std::filesystem::current_path() / "consumer_checkpoint";
    dm::save_checkpoint(folder.string(), {.step = 7}, {}, dm::part("c", c));
    auto again = dm::zeros<dm::tensor<float, dm::layout<line>, row, column>>(grid);
    if (dm::load_checkpoint(folder.string(), {}, dm::part("c", again)).step != 7) return 2;
    if (again.data()[5] != c.data()[5]) return 3;
    if (grid.rank() == 0) std::puts("loaded");
#endif
    return c.data()[0] == 8.0F ? 0 : 1;
  });
}
