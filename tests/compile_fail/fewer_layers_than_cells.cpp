// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Three layers, and a stage for each of four ranks.
// expect: partition: there are fewer layers than cells; every cell has a layer
// expect: fewer_layers_than_cells<4, 3>
#include <dimesh/pipeline/partition.hpp>

#ifdef COMPILE_FAIL
constexpr auto cells = dimesh::partition<4>(std::array{1.0, 2.0, 3.0});
#else
constexpr auto cells = dimesh::partition<3>(std::array{1.0, 2.0, 3.0});
#endif
