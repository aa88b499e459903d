// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// alone: its cases are made for its program
// ranks: 1 2 4
// options: -O2
// labels: sanitize
// Random operations against plain loops: dims of random extents, most of them static and small,
// random layouts, the memory of results spoilt before each. support/make_differential.py writes the
// cases while building; scripts/fuzz.sh tries others, at every optimisation level.
#include "dimesh/dimesh.hpp"

#include <doctest/doctest.h>

#include "support/laws.hpp"

namespace dm = dimesh;
using namespace test_support;

#include <differential_cases.hpp>
