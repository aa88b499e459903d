// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What batch and group norms do not take.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/batch_norm.hpp>

#include "names.hpp"

using matrix = dm::tensor<float, by_batch, batch, hidden>;
using row = dm::tensor<float, whole, hidden>;

// mistake: dim_not_in_tensor__batch_norm
// expect: batch_norm, group_norm: the tensor lacks a dim; name those of its own that keep their moments apart, and let gain and bias have dims of it
// expect: dim_not_in_tensor<label>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::batch_norm_all_reduce<label>(x); }
#else
auto f(const matrix& x) { return dm::batch_norm_all_reduce<hidden>(x); }
#endif

// mistake: dim_repeated__group_norm
// expect: batch_norm, group_norm: a dim is named twice; name it once
// expect: dim_repeated<batch>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::group_norm<batch, batch>(x); }
#else
auto f(const matrix& x) { return dm::group_norm<batch>(x); }
#endif

// mistake: dim_is_split__batch_norm
// expect: batch_norm, group_norm: a dim over which moments are taken is split, and a rank sees its block only; take batch_norm_all_reduce or group_norm_all_reduce
// expect: dim_is_split<batch, rows>
#ifdef COMPILE_FAIL
auto f(const matrix& x, const row& gain) { return dm::batch_norm<hidden>(x, gain).y; }
#else
auto f(const matrix& x, const row& gain) { return dm::batch_norm_all_reduce<hidden>(x, gain).y; }
#endif

// mistake: dim_has_halo__batch_norm
// expect: batch_norm, group_norm: blocks carry a halo, which would count twice; take the tensor without it
// expect: dim_has_halo<batch>
#ifdef COMPILE_FAIL
auto f(const matrix& x) {
  return dm::batch_norm_all_reduce<hidden>(dm::halo_exchange<1, batch>(x));
}
#else
auto f(const matrix& x) { return dm::batch_norm_all_reduce<hidden>(x); }
#endif

// mistake: partial_operand__batch_norm
// expect: batch_norm, group_norm: an operand is a sum yet to be made; complete it first
// expect: partial_operand<rows>
#ifdef COMPILE_FAIL
auto f(const matrix& x) { return dm::group_norm<hidden>(dm::sum<batch>(x)); }
#else
auto f(const matrix& x) { return dm::group_norm<hidden>(dm::complete(dm::sum<batch>(x))); }
#endif

// mistake: dim_split_in_one_operand_only__batch_norm
// expect: batch_norm, group_norm: gain or bias lies on the ranks differently than the tensor; relayout it to the layout of the tensor
// expect: dim_split_in_one_operand_only<hidden, cols>
#ifdef COMPILE_FAIL
auto f(const matrix& x, const dm::tensor<float, hybrid, hidden>& gain) {
  return dm::batch_norm_all_reduce<hidden>(x, gain).y;
}
#else
auto f(const matrix& x, const dm::tensor<float, hybrid, hidden>& gain) {
  return dm::batch_norm_all_reduce<hidden>(x, dm::relayout<whole>(gain)).y;
}
#endif

// mistake: placed_in_one_operand_only__batch_norm
// expect: batch_norm, group_norm: the operands live on different ranks of this axis; place<axis, k> what all ranks hold, or send<axis, k> what lives elsewhere
// expect: placed_in_one_operand_only<cols, 1>
#ifdef COMPILE_FAIL
auto f(const matrix& x, const row& gain) {
  return dm::batch_norm_all_reduce<hidden>(dm::place<cols, 1>(x), gain).y;
}
#else
auto f(const matrix& x, const row& gain) {
  return dm::batch_norm_all_reduce<hidden>(dm::place<cols, 1>(x), dm::place<cols, 1>(gain)).y;
}
#endif
