// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do most tests include from elsewhere? Compiled once for all of them. The library's own
// headers stay out: tests/headers checks that each stands alone.
#pragma once

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <boost/hana.hpp>
#include <cmath>
#include <complex>
#include <cstdint>
#include <dimesh/detail/mpi.hpp>
#include <functional>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
