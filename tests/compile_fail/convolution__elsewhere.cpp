// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows over elements in memory that the host does not reach.
// alone: they specialize a variable of the library
#include <dimesh/dimesh.hpp>
#include <dimesh/op/convolution.hpp>
#include <dimesh/op/pooling.hpp>

#include "names.hpp"

struct tap : dm::dim<3> {};
struct high : dm::dim<10> {};
struct out : dm::dim<5> {};
struct other_mesh : dm::mesh<cols, rows> {};
using image = dm::tensor<float, by_batch, batch, pixel, hidden>;
using filter = dm::tensor<float, whole, tap, hidden, out>;
using w = dm::window<pixel, tap, high>;
using v = dm::pool_window<pixel, label>;

// mistake: convolution__elsewhere
// Elements in memory that the host does not reach.
// expect: convolution: the kernel runs on the host only; use a host space
using far = dm::tensor<short, by_batch, batch, pixel, hidden>;
using far_filter = dm::tensor<short, whole, tap, hidden, out>;
#ifdef COMPILE_FAIL
template <> inline constexpr bool dimesh::detail::is_on_host<short> = false;
auto f(const far& x, const far_filter& k) { return dm::convolution<batch, high, out>(x, k, w{}); }
#else
auto f(const far& x, const far_filter& k) { return dm::convolution<batch, high, out>(x, k, w{}); }
#endif

// mistake: max_pool__elsewhere
// Elements in memory that the host does not reach.
// expect: max_pool: the kernel runs on the host only; use a host space
using far = dm::tensor<short, by_batch, batch, pixel, hidden>;
#ifdef COMPILE_FAIL
template <> inline constexpr bool dimesh::detail::is_on_host<short> = false;
auto f(const far& x) { return dm::max_pool(x, v{.size = 3}); }
#else
auto f(const far& x) { return dm::max_pool(x, v{.size = 3}); }
#endif

// mistake: mean_pool__elsewhere
// Elements in memory that the host does not reach.
// expect: mean_pool: the kernel runs on the host only; use a host space
using far = dm::tensor<short, by_batch, batch, pixel, hidden>;
#ifdef COMPILE_FAIL
template <> inline constexpr bool dimesh::detail::is_on_host<short> = false;
auto f(const far& x) { return dm::mean_pool(x, v{.size = 3}); }
#else
auto f(const far& x) { return dm::mean_pool(x, v{.size = 3}); }
#endif
