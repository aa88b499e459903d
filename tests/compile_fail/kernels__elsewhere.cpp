// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels over elements in memory that the host does not reach.
// alone: they specialize a variable of the library
#include <dimesh/dimesh.hpp>
#include <dimesh/local/copy.hpp>
#include <dimesh/local/factored.hpp>
#include <dimesh/nn/positions.hpp>
#include <dimesh/op/attention.hpp>
#include <dimesh/op/dispatch.hpp>
#include <dimesh/op/grouped_einsum.hpp>
#include <dimesh/op/rotary.hpp>

namespace dm = dimesh;
namespace local = dimesh::local;
#ifdef COMPILE_FAIL
template <> inline constexpr bool dimesh::detail::is_on_host<short> = false;
template <> inline constexpr bool dimesh::detail::is_on_host<double> = false;
#endif
using to = dm::detail::results;
using from = dm::detail::operands;

// mistake: elsewhere__attention
// expect: attention: the kernel runs on the host only; use a host space
#ifdef COMPILE_FAIL
void f(const dm::detail::attention_op<double>& op, to y, from x) { op.fill(y, x); }
#else
void f(const dm::detail::attention_op<float>& op, to y, from x) { op.fill(y, x); }
#endif

// mistake: elsewhere__cross_entropy
// expect: cross_entropy: the kernel runs on the host only; use a host space
#ifdef COMPILE_FAIL
void f(const dm::detail::cross_entropy_op<short, int>& op, to y, from x) { op.fill(y, x); }
#else
void f(const dm::detail::cross_entropy_op<int, int>& op, to y, from x) { op.fill(y, x); }
#endif

// mistake: elsewhere__dropout
// expect: dropout: the kernel runs on the host only; use a host space
#ifdef COMPILE_FAIL
void f(const dm::detail::dropout_op<short>& op, to y, from x) { op.fill(y, x); }
#else
void f(const dm::detail::dropout_op<int>& op, to y, from x) { op.fill(y, x); }
#endif

// mistake: elsewhere__grouped_einsum
// expect: grouped_einsum: lengths are read on the host; use a host space
#ifdef COMPILE_FAIL
void f(const dm::detail::grouped_einsum_op<int, short>& op, to y, from x) { op.fill(y, x); }
#else
void f(const dm::detail::grouped_einsum_op<int, int>& op, to y, from x) { op.fill(y, x); }
#endif

// mistake: elsewhere__rotary
// expect: rotary: the kernel runs on the host only; use a host space
#ifdef COMPILE_FAIL
void f(const dm::detail::rotary_op<short>& op, to y, from x) { op.fill(y, x); }
#else
void f(const dm::detail::rotary_op<int>& op, to y, from x) { op.fill(y, x); }
#endif

// mistake: elsewhere__take
// expect: take: the kernel runs on the host only; use a host space
#ifdef COMPILE_FAIL
void f(const dm::detail::take_op<short, int>& op, to y, from x) { op.fill(y, x); }
#else
void f(const dm::detail::take_op<int, int>& op, to y, from x) { op.fill(y, x); }
#endif

// mistake: elsewhere__dispatch
// expect: all_to_all: rows are packed on the host; relayout the tensor to a host space
// lines: 11
#ifdef COMPILE_FAIL
void f(const dm::detail::dispatch_op<short, false>& op, to y, from x) { op.fill(y, x); }
#else
void f(const dm::detail::dispatch_op<int, false>& op, to y, from x) { op.fill(y, x); }
#endif

// mistake: elsewhere__waves
// expect: waves: the kernel runs on the host only; use a host space
#ifdef COMPILE_FAIL
void f(const dm::nn::detail::waves_op<short>& op, to y, from x) { op.fill(y, x); }
#else
void f(const dm::nn::detail::waves_op<int>& op, to y, from x) { op.fill(y, x); }
#endif

// mistake: elsewhere__copy_box
// expect: copy_box, add_box, pack, unpack: blocks are copied on the host only (also in relayout, all_gather, own, halo_exchange, shift ...); use a host space
// lines: 13
#ifdef COMPILE_FAIL
auto f = &local::copy_box<short>;
#else
auto f = &local::copy_box<int>;
#endif

// mistake: elsewhere__sums
// expect: factored_sums: adafactor's kernels run on the host only; use a host space
#ifdef COMPILE_FAIL
auto f = &local::factored_sums<short>;
#else
auto f = &local::factored_sums<int>;
#endif

// mistake: elsewhere__total
// expect: factored_total: adafactor's kernels run on the host only; use a host space
#ifdef COMPILE_FAIL
auto f = &local::factored_total<short>;
#else
auto f = &local::factored_total<int>;
#endif

// mistake: elsewhere__divide
// expect: factored_divide: adafactor's kernels run on the host only; use a host space
#ifdef COMPILE_FAIL
auto f = &local::factored_divide<short>;
#else
auto f = &local::factored_divide<int>;
#endif

// mistake: elsewhere__square
// expect: factored_square: adafactor's kernels run on the host only; use a host space
#ifdef COMPILE_FAIL
auto f = &local::factored_square<short>;
#else
auto f = &local::factored_square<int>;
#endif

// mistake: elsewhere__step
// expect: factored_step: adafactor's kernels run on the host only; use a host space
#ifdef COMPILE_FAIL
void f(const local::factored_extents& n, const short* g, short* p) {
  local::factored_step(n, g, g, g, *g, p);
}
#else
void f(const local::factored_extents& n, const int* g, int* p) {
  local::factored_step(n, g, g, g, *g, p);
}
#endif
