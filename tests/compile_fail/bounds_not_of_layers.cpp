// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cells that are not of all layers, each with one at least.
#include <dimesh/dimesh.hpp>
#include <dimesh/pipeline/cut_layers.hpp>
#include <dimesh/pipeline/pipeline.hpp>

namespace dm = dimesh;
struct stage : dm::axis<2> {};
constexpr auto layer = [](const auto& w, const auto& x) { return x * w; };

// mistake: bounds_not_of_layers
// expect: cells_of_layers: bounds of cells do not ascend from 0 to the number of layers; take what partition<cells>(costs) gives for the costs of all layers
// expect: bounds_not_of_layers<dimesh::cell_bounds<1, 2, 4>, 4>
#ifdef COMPILE_FAIL
constexpr auto net = dm::pipeline_of_layers<stage, std::array{1, 2, 4}>(layer, layer, layer, layer);
#else
constexpr auto net = dm::pipeline_of_layers<stage, std::array{0, 2, 4}>(layer, layer, layer, layer);
#endif

// mistake: bounds_not_of_layers__last
// expect: cells_of_layers: bounds of cells do not ascend from 0 to the number of layers; take what
// expect: bounds_not_of_layers<dimesh::cell_bounds<0, 2, 3>, 4>
#ifdef COMPILE_FAIL
constexpr auto cells = dm::cells_of_layers<std::array{0, 2, 3}>(layer, layer, layer, layer);
#else
constexpr auto cells = dm::cells_of_layers<std::array{0, 2, 3}>(layer, layer, layer);
#endif

// mistake: bounds_not_of_layers__none
// expect: cells_of_layers: bounds of cells do not ascend from 0 to the number of layers; take what
// expect: bounds_not_of_layers<dimesh::cell_bounds<0, 2, 2, 4>, 4>
#ifdef COMPILE_FAIL
constexpr auto cells = dm::cells_of_layers<std::array{0, 2, 2, 4}>(layer, layer, layer, layer);
#else
constexpr auto cells = dm::cells_of_layers<std::array{0, 2, 3, 4}>(layer, layer, layer, layer);
#endif
