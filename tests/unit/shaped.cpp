// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/shaped.hpp"

#include <doctest/doctest.h>

using namespace dimesh;
namespace {

struct batch : dim<8> {};
struct hidden : dim<12> {};
struct odd : dim<7> {};
struct length : dim<> {};
struct rows : axis<2> {};
struct cols : axis<3> {};
struct wide : axis<> {};
struct pod : mesh<rows, cols> {};
struct open : mesh<rows, wide> {};

using program = layout<pod, split<hidden, cols>, split<batch, rows>, split<uneven<odd>, rows>>;
template <class... D> using shape_only = tensor<float, shaped<program>, D...>;

// Sizes are constants where extents and axes are.
static_assert(shape_only<batch, hidden>{}.local_size() == 4 * 4);
static_assert(shape_only<batch, hidden>{}.local_bytes() == 64);
static_assert(shape_only<batch, hidden>{}.extent<hidden>() == 12);
static_assert(shape_only<batch, hidden>{}.local<batch>() == 4);
static_assert(shape_only<odd>{}.local_size() == 4);  // the rank at the origin has the largest block
static_assert(shape_only<>{}.local_size() == 1);
static_assert(tensor<double, shaped<layout<pod, partial<rows>>>, batch>{}.local_bytes() == 64);

// A shape with open extents gets them, and the sizes of open axes, when it is made.
using on_open = tensor<float, shaped<layout<open, split<length, rows, wide>>>, length, batch>;
static_assert(on_open(mesh_sizes<open>{wide{3}}, length{12}).local_size() == 16);
static_assert(on_open(mesh_sizes<open>{wide{3}}, shape<length>{length{0}}).local_size() == 0);

/// Live bytes while handles come and go.
constexpr index_t peak_of_two_copies() {
  detail::tally t;
  {
    const shape_only<batch, hidden> x(mesh_sizes<pod>{}, shape<batch, hidden>{}, &t);
    const auto copy = x;  // shares
    const auto second = x.counted_by(&t);
    if (t.live != 128) return -1;
    auto none = second;
    none.forget_data();
    if (t.live != 128) return -2;
  }
  return t.live == 0 ? t.peak : -3;
}
static_assert(peak_of_two_copies() == 128);

TEST_CASE("extents that do not come out even, or are missing, are errors also without data") {
  CHECK_THROWS_AS((void)on_open(mesh_sizes<open>{wide{3}}, length{13}), error);
  CHECK_THROWS_AS((void)on_open(mesh_sizes<open>{wide{3}}), error);
  CHECK_NOTHROW((void)on_open());  // no shape yet
  CHECK(on_open(mesh_sizes<open>{wide{3}}, length{18}).local_size() == 24);
}

TEST_CASE("assignment hands over what counts as live") {
  detail::tally t;
  {
    using X = shape_only<batch, hidden>;
    X x(mesh_sizes<pod>{}, shape<batch, hidden>{}, &t);
    X y(mesh_sizes<pod>{}, shape<batch, hidden>{}, &t);
    CHECK(t.live == 128);
    y = x;
    CHECK(t.live == 64);
    x = X{};
    CHECK(t.live == 64);  // y still holds it
  }
  CHECK(t.peak == 128);
  CHECK(t.live == 0);
}

}  // namespace
