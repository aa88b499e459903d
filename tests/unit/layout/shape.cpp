// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/layout/shape.hpp"

#include <doctest/doctest.h>

namespace dm = dimesh;
namespace {

struct batch : dm::dim<256> {};
struct width : dm::dim<3> {};
struct none : dm::dim<0> {};
struct length : dm::dim<> {};
struct depth : dm::dim<> {};
struct other : dm::dim<> {};

using mixed = dm::shape<batch, length, width, depth>;

static_assert(mixed::rank == 4 && dm::shape<>::rank == 0);
static_assert(mixed::has<batch> && mixed::has<depth> && !mixed::has<other>);
static_assert(dm::shape<>{}.size() == 1);  // a scalar
static_assert(dm::shape<batch, width>{}.size() == 768);
static_assert(dm::shape<batch, none>{}.size() == 0);

// Only what is not static is stored.
static_assert(std::is_empty_v<dm::shape<batch, width>>);
static_assert(sizeof(mixed) == 2 * sizeof(dm::index_t));

// Extents come in any order, as dims or whole shapes; what does not concern a shape is ignored.
static_assert(mixed{length{5}, depth{7}}.extents() == std::array<dm::index_t, 4>{256, 5, 3, 7});
static_assert(mixed{depth{7}, length{5}}.extents() == std::array<dm::index_t, 4>{256, 5, 3, 7});
static_assert(mixed{depth{7}, other{11}, batch{}, length{5}}.size() == 256 * 5 * 3 * 7);
constexpr dm::shape<depth, other, length> source{length{5}, depth{7}, other{2}};
static_assert(mixed{source}.extents() == std::array<dm::index_t, 4>{256, 5, 3, 7});
static_assert(mixed{dm::shape<length>{length{5}}, dm::shape<depth, batch>{depth{7}}}.size() ==
              256 * 5 * 3 * 7);
static_assert(mixed{source, length{6}}.extent<length>() == 6);  // the last word counts
static_assert(dm::shape<length>{dm::shape<length>{length{4}}}.extent<length>() == 4);
static_assert(dm::shape<length>{length{0}}.size() == 0);

static_assert(dm::Extents<length> && dm::Extents<batch> && dm::Extents<mixed>);
static_assert(!dm::Extents<int>);

TEST_CASE("a shape is copied, not taken apart") {
  mixed a{length{5}, depth{7}};
  const mixed b = a;
  a = mixed{length{1}, depth{1}};
  CHECK(b.extent<length>() == 5);
  CHECK(b.extent<depth>() == 7);
  CHECK(a.size() == 768);
}

}  // namespace
