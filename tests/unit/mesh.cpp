// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/mesh.hpp"

#include <doctest/doctest.h>

#include "dimesh/error.hpp"

namespace dm = dimesh;
namespace {

struct rows : dm::axis<2> {};
struct cols : dm::axis<> {};
struct deep : dm::axis<> {};
struct other : dm::axis<3> {};

struct pod : dm::mesh<rows, cols> {};
struct cube : dm::mesh<deep, rows, cols> {};
struct fixed : dm::mesh<rows, other> {};
struct single : dm::mesh<> {};

static_assert(dm::Mesh<pod> && dm::Mesh<cube> && dm::Mesh<single>);
static_assert(!dm::Mesh<rows> && !dm::Mesh<int>);
static_assert(pod::rank == 2 && cube::rank == 3 && single::rank == 0);

static_assert(dm::axis_index<pod, rows> == 0 && dm::axis_index<pod, cols> == 1);
static_assert(dm::axis_index<cube, rows> == 1 && dm::axis_index<cube, cols> == 2);
static_assert(dm::axis_index<pod, other> == -1);
static_assert(dm::axis_index<single, rows> == -1);

static_assert(dm::is_static_mesh<fixed> && dm::is_static_mesh<single>);
static_assert(!dm::is_static_mesh<pod> && !dm::is_static_mesh<cube>);

// Sizes come in any order; a size that nobody gives is 1; a static size stays what it is.
static_assert(dm::mesh_sizes<cube>{cols{4}, deep{3}}.size == std::array<dm::index_t, 3>{3, 2, 4});
static_assert(dm::mesh_sizes<cube>{deep{3}, cols{4}}.size == std::array<dm::index_t, 3>{3, 2, 4});
static_assert(dm::mesh_sizes<cube>{cols{4}}.size == std::array<dm::index_t, 3>{1, 2, 4});
static_assert(dm::mesh_sizes<pod>{rows{}, cols{5}}.size == std::array<dm::index_t, 2>{2, 5});
static_assert(dm::mesh_sizes<fixed>{}.ranks() == 6);
static_assert(dm::mesh_sizes<cube>{cols{4}, deep{3}}.ranks() == 24);
static_assert(dm::mesh_sizes<single>{}.ranks() == 1);
static_assert(dm::mesh_sizes<pod>{cols{7}}[1] == 7);

TEST_CASE("sizes of axes given at run time") {
  const int n = 6;
  CHECK(dm::mesh_sizes<pod>(cols{n}).ranks() == 12);
  const char* refused = "mesh_sizes: axis 'cols' of mesh 'pod' has size 0; give it at least 1";
  CHECK_THROWS_WITH_AS((void)dm::mesh_sizes<pod>(cols{0}), refused, dm::error);
  CHECK_THROWS_AS((void)dm::mesh_sizes<cube>(deep{2}, cols{-1}), dm::error);
  // An axis whose type says how many may be given as many, and no others.
  CHECK(dm::mesh_sizes<pod>(rows{2}, cols{3}).ranks() == 6);
  CHECK_THROWS_WITH_AS((void)dm::mesh_sizes<pod>(rows{4}, cols{3}),
                       "mesh: axis 'rows' of mesh 'pod' has 2 ranks by its type, and 4 are given; "
                       "declare it axis<>, or leave them out",
                       dm::error);
}

}  // namespace
