// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// alone: its cases are made for its program
// ranks: 1 2 4
// checks: 86 167 262
// options: -O1
// library: headers
// labels: sanitize
// Random operations against plain loops: dims of random extents, most of them static and small,
// random layouts, the memory of results spoilt before each. support/make_differential.py writes the
// cases while building; scripts/fuzz.sh tries others, at every optimisation level.
#include "dimesh/dimesh.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "dimesh/element/bfloat16.hpp"
#include "dimesh/element/half.hpp"
#include "dimesh/op/argmax_all_gather.hpp"
#include "dimesh/op/concat_exchange.hpp"
#include "dimesh/op/convolution_exchange.hpp"
#include "dimesh/op/cuts.hpp"
#include "dimesh/op/expand.hpp"
#include "dimesh/op/gather.hpp"
#include "dimesh/op/pooling_exchange.hpp"
#include "dimesh/op/scan.hpp"
#include "dimesh/op/shuffle.hpp"
#include "dimesh/op/slice_exchange.hpp"
#include "dimesh/op/top_k_all_gather.hpp"
#include "support/laws.hpp"
#include "support/windows.hpp"

namespace dm = dimesh;
using namespace test_support;

#ifdef DIMESH_CHECKED
[[maybe_unused]] const bool as_in_plain_builds = (dm::detail::checks_places = false);
#endif

/// Blocks of lengths that have nothing to do with one another, some of none.
template <class D, class Grid> dm::cuts<D> ragged_cuts(const Grid& g, index_t n) {
  std::vector<double> shares;
  for (int rank = 0; rank < g.ranks(); ++rank)
    shares.push_back(static_cast<double>((rank + 1) % 3));
  return dm::cuts_by_speed<D>(n, shares);
}

#include <differential_cases.hpp>
