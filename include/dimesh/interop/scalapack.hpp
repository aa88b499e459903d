// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a ScaLAPACK routine get at a matrix on a 2-D mesh, and a tensor at what it leaves? Its
// blocks, of ceil(n/p), are block-cyclic ones of which each rank has one. Memory is row-major here
// and column-major there: the array that ScaLAPACK sees in the same memory is the transpose.
//
//   array_descriptor a = scalapack_descriptor(x, context);   // of x[row/rows, column/cols]
//     -> {1, context, columns, rows, columns_per_block, rows_per_block, 0, 0, leading dimension}
//
// That transpose is over a process grid that is the mesh turned round: its process rows are `cols`.
// With ranks numbered as the mesh has them (rows major): Cblacs_gridinit(&context, "Col", cols,
// rows). A product C = A B is then pdgemm of B and A: C^T = B^T A^T. No element moves.
//
// Layouts of any other form, block-cyclic arrays of smaller blocks too, go through relayout, or
// ScaLAPACK's own pdgemr2d, at the door. ScaLAPACK itself is not needed to compile this.
// ScaLAPACK Users' Guide (1997), section 4.3.2.
#pragma once

#include <array>
#include <limits>

#include "dimesh/core/rule_types.hpp"
#include "dimesh/detail/words.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh {

/// DESC of a dense matrix: DTYPE_, CTXT_, M_, N_, MB_, NB_, RSRC_, CSRC_, LLD_. data() is what
/// routines take.
using array_descriptor = std::array<int, 9>;

namespace detail {

/// A number that ScaLAPACK's integers hold.
inline int scalapack_int(index_t n) {
  if (n > std::numeric_limits<int>::max())
    (words() << "scalapack_descriptor: " << n << " is more than ScaLAPACK's integers hold").raise();
  return static_cast<int>(n);
}
/// Elements of the longest block; of an empty dim 1, as ScaLAPACK wants it.
inline index_t scalapack_block(const tensor_core& x, int d) {
  const int a = x.layout().axis_at(d, 0);
  const index_t ranks = a < 0 ? 1 : x.sizes()[a], n = x.extent(d);
  return n == 0 ? 1 : (n + ranks - 1) / ranks;
}

}  // namespace detail

/// Is X a matrix of which the first axis of a 2-D mesh splits the first dim and the second axis the
/// second, in blocks of ceil(n/p), without halos?
template <class X>
inline constexpr bool is_scalapack_matrix = [] {
  using S = spec_of<X>;
  if constexpr (S::rank != 2 || S::mesh::rank != 2 || detail::is_probe<X>) {
    return false;
  } else {
    constexpr detail::table t = S::table;
    return t.axis_at(0, 0) == 0 && t.axis_at(1, 0) == 1 && !t.ragged[0] && !t.ragged[1] &&
           !t.halo[0].any() && !t.halo[1].any();
  }
}();

/// The descriptor of the transpose of x, which lies in x's memory; `context` is a BLACS context of
/// as many process rows as x's second axis has ranks, and columns as its first. Local. Throws
/// dimesh::error where extents are no ints.
template <Tensor X>
  requires is_scalapack_matrix<X>
array_descriptor scalapack_descriptor(const X& x, int context) {
  const detail::tensor_core& c = detail::core_of(x);
  detail::require_grid("scalapack_descriptor", c);
  const auto fits = [](index_t n) { return detail::scalapack_int(n); };
  const index_t lead = c.local(1);
  return {1,
          context,
          fits(c.extent(1)),
          fits(c.extent(0)),
          fits(detail::scalapack_block(c, 1)),
          fits(detail::scalapack_block(c, 0)),
          0,
          0,
          fits(lead > 0 ? lead : 1)};
}

/// Throws dimesh::error, and says what differs, unless a descriptor is that of x: then what a
/// routine left in an array of this form is a tensor of X's type (borrow<X> it).
template <Tensor X>
  requires is_scalapack_matrix<X>
void require_scalapack(const X& x, const array_descriptor& given) {
  static constexpr const char* entry[] = {"DTYPE_", "CTXT_", "M_",    "N_",  "MB_",
                                          "NB_",    "RSRC_", "CSRC_", "LLD_"};
  const array_descriptor own = scalapack_descriptor(x, given[1]);
  for (std::size_t i = 0; i < own.size(); ++i)
    if (given[i] != own[i])
      (detail::words() << "require_scalapack: " << entry[i] << " is " << given[i]
                       << ", of the tensor's transpose " << own[i]
                       << "; redistribute the array (pdgemr2d) to one block a rank")
          .raise();
}

/// Poison stays poison.
template <Operand X>
  requires is_poison<X>
poison scalapack_descriptor(const X&, int) {
  return {};
}
template <Operand X>
  requires is_poison<X>
void require_scalapack(const X&, const array_descriptor&) {}
// What is no such matrix has sentences of its own.
template <Tensor X>
  requires(!is_scalapack_matrix<X>)
array_descriptor scalapack_descriptor(const X&, int) {
  static_assert(ok<wrong_arguments<X>>,
                "scalapack_descriptor: this is no matrix over a mesh of two axes, of which the "
                "first splits the rows, the second the columns, without halos; relayout it");
  return {};
}
template <Tensor X>
  requires(!is_scalapack_matrix<X>)
void require_scalapack(const X&, const array_descriptor&) {
  static_assert(ok<wrong_arguments<X>>,
                "require_scalapack: this is no matrix over a mesh of two axes, of which the first "
                "splits the rows, the second the columns, without halos; relayout it");
}

}  // namespace dimesh
