// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/dim.hpp"

#include <doctest/doctest.h>

#include "dimesh/axis.hpp"

namespace dm = dimesh;
namespace {

struct batch : dm::dim<256> {};
struct label : dm::dim<256> {};
struct nothing : dm::dim<0> {};
struct length : dm::dim<> {};
struct finer : batch {};  // an identity of its own
struct rows : dm::axis<2> {};

static_assert(dm::Dim<batch> && dm::Dim<length> && dm::Dim<nothing> && dm::Dim<finer>);
static_assert(!dm::Dim<rows> && !dm::Dim<int> && !dm::Dim<batch*> &&
              !dm::Dim<dm::detail::dim_base>);
static_assert(batch::extent == 256 && nothing::extent == 0 && finer::extent == 256);
static_assert(length::extent == dm::dynamic);
static_assert(dm::is_static_dim<batch> && dm::is_static_dim<nothing> && !dm::is_static_dim<length>);
static_assert(!std::is_same_v<batch, label>);
namespace members {  // whose names hide what they inherit
struct extent : dm::dim<3> {};
struct size : dm::axis<2> {};
}  // namespace members
static_assert(dm::static_extent<members::extent> == 3 && dm::static_extent<finer> == 256);
static_assert(dm::static_size<members::size> == 2 && dm::static_size<rows> == 2);

// A static dim may carry an index, a dynamic one an index or its extent.
static_assert(batch{}.n == dm::dynamic && batch{3}.n == 3 && finer{4}.n == 4);
static_assert(length{37}.n == 37);
static_assert(length{0}.n == 0);
static_assert(length{dm::index_t{1} << 40}.n == dm::index_t{1} << 40);

TEST_CASE("a dynamic dim takes its extent at run time") {
  const int elements = 5;
  CHECK(length{elements}.n == 5);
}

}  // namespace
