// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that .npy files do not hold.
#include <dimesh/dimesh.hpp>
#include <dimesh/io/npy.hpp>

#include "names.hpp"

using x = dm::tensor<float, by_batch, batch, hidden>;

// mistake: partial_operand__save_npy
// expect: save_npy: the tensor is a sum yet to be made; complete it first
// expect: partial_operand<rows>
#ifdef COMPILE_FAIL
void f(const x& a) { dm::save_npy(dm::sum<batch>(a), "a.npy"); }
#else
void f(const x& a) { dm::save_npy(dm::complete(dm::sum<batch>(a)), "a.npy"); }
#endif

// mistake: partial_operand__load_npy
// expect: load_npy: the tensor would be a sum yet to be made; load a whole one
#ifdef COMPILE_FAIL
using loaded = dm::tensor<float, dm::layout<pod, dm::partial<rows>>, batch>;
#else
using loaded = dm::tensor<float, by_batch, batch>;
#endif
auto f(const dm::grid<pod>& g) { return dm::load_npy<loaded>(g, "a.npy"); }

// mistake: dim_has_halo__load_npy
// expect: load_npy: blocks with halos are not in files; load a tensor without, then halo_exchange
#ifdef COMPILE_FAIL
using loaded = dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch>;
#else
using loaded = dm::tensor<float, by_batch, batch>;
#endif
auto f(const dm::grid<pod>& g) { return dm::load_npy<loaded>(g, "a.npy"); }

// mistake: npy__save_bfloat16
// Elements that NumPy does not have.
// expect: save_npy: .npy files have no elements of this type; save cast<float>(x)
// expect: not_an_element<dimesh::bfloat16>
using brief = dm::tensor<dm::bfloat16, by_batch, batch, hidden>;
#ifdef COMPILE_FAIL
void f(const brief& a) { dm::save_npy(a, "a.npy"); }
#else
void f(const brief& a) { dm::save_npy(dm::cast<float>(a), "a.npy"); }
#endif

// mistake: npy__load_bfloat16
// The same on the way back.
// expect: load_npy: .npy files have no elements of this type; load a tensor of float, and cast it
#ifdef COMPILE_FAIL
using loaded = dm::tensor<dm::bfloat16, by_batch, batch, hidden>;
#else
using loaded = dm::tensor<float, by_batch, batch, hidden>;
#endif
auto f(const dm::grid<pod>& g) { return dm::load_npy<loaded>(g, "a.npy"); }
