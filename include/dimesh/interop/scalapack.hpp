// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a ScaLAPACK routine get at a matrix in blocks, and a tensor at what it leaves? Blocks of
// ceil(n/p) are block-cyclic ones of which each rank has one. Memory is row-major here and
// column-major there: the array that ScaLAPACK sees in the same memory is the transpose.
//
//   process_grid ranks = scalapack_grid(x);                      // of x[row/rows, column/cols]
//   int context = Csys2blacs_handle(ranks.comm);
//   Cblacs_gridmap(&context, ranks.at.data(), ranks.rows, ranks.rows, ranks.columns);
//   array_descriptor a = scalapack_descriptor(x, context);
//     -> {1, context, columns, rows, columns_per_block, rows_per_block, 0, 0, leading dimension}
//   X y = borrow<X>(grid, data, a);                              // the other way, no copy either
//
// The transpose is over a process grid that is the mesh turned round: its process rows lie along
// the axis that splits columns. A product C = A B is then pdgemm of B and A: C^T = B^T A^T. No
// element moves.
//
// Layouts of any other form, and block-cyclic arrays of smaller blocks, move: to_scalapack_exchange
// and from_scalapack_exchange (scalapack_exchange.hpp). ScaLAPACK itself is not needed to compile
// this.
// ScaLAPACK Users' Guide (1997), section 4.3.2.
#pragma once

#include <array>
#include <limits>
#include <vector>

#include "dimesh/core/rule_types.hpp"
#include "dimesh/detail/words.hpp"
#include "dimesh/interop/borrow.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh {

/// DESC of a dense matrix: DTYPE_, CTXT_, M_, N_, MB_, NB_, RSRC_, CSRC_, LLD_. data() is what
/// routines take.
using array_descriptor = std::array<int, 9>;

/// A BLACS process grid: at[i + rows * j] is the rank in `comm` of the process at row i, column j,
/// as Cblacs_gridmap takes it.
struct process_grid {
  MPI_Comm comm = MPI_COMM_NULL;
  int rows = 1, columns = 1;
  std::vector<int> at;
};

namespace detail {

/// A number that ScaLAPACK's integers hold.
inline int scalapack_int(index_t n) {
  if (n > std::numeric_limits<int>::max())
    (words() << "scalapack_descriptor: " << n << " is more than ScaLAPACK's integers hold").raise();
  return static_cast<int>(n);
}
/// Ranks along the axis that splits a dim.
inline index_t scalapack_processes(const tensor_core& x, int d) {
  const int a = x.layout().axis_at(d, 0);
  return a < 0 ? 1 : x.sizes()[a];
}
/// Elements of the longest block; of an empty dim 1, as ScaLAPACK wants it.
inline index_t scalapack_block(const tensor_core& x, int d) {
  const index_t ranks = scalapack_processes(x, d), n = x.extent(d);
  return n == 0 ? 1 : (n + ranks - 1) / ranks;
}
/// The dim D of n elements, where its type leaves that open.
template <class D> auto scalapack_extent([[maybe_unused]] int n) {
  if constexpr (is_static_dim<D>)
    return D{};
  else
    return D{n};
}

}  // namespace detail

/// Is X a matrix of which each dim is whole or split over one axis, in blocks of ceil(n/p), without
/// halos, addends or places? Along axes that split neither dim, ranks have copies.
template <class X>
inline constexpr bool is_scalapack_matrix = [] {
  using S = spec_of<X>;
  if constexpr (S::rank != 2 || detail::is_probe<X>) {
    return false;
  } else {
    constexpr detail::table t = S::table;
    return t.split_count(0) <= 1 && t.split_count(1) <= 1 && !t.ragged[0] && !t.ragged[1] &&
           t.first_haloed() < 0 && !t.any_partial() && t.mask(use::placed) == 0;
  }
}();

/// The process grid that Cblacs_gridinit makes over the first rows * columns ranks of `comm`: in
/// the order 'R', process rows one after another, or 'C', columns. Local.
inline process_grid scalapack_grid(MPI_Comm comm, int rows, int columns, char order = 'R') {
  process_grid g{comm, rows, columns, {}};
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i)
      g.at.push_back(order == 'C' || order == 'c' ? i + rows * j : i * columns + j);
  return g;
}

/// The process grid of the transpose of x: as many rows as ranks split x's second dim, and columns
/// as split its first. Collective over `comm` when first asked: of the ranks that have x among them
/// (along axes that split neither dim, each has a grid of its own).
template <Tensor X>
  requires is_scalapack_matrix<X>
process_grid scalapack_grid(const X& x) {
  const detail::tensor_core& c = detail::core_of(x);
  detail::require_grid("scalapack_grid", c);
  const int down = c.layout().axis_at(1, 0), across = c.layout().axis_at(0, 0);
  process_grid p{c.grid->along(c.layout().axes_of(0) | c.layout().axes_of(1)).handle(),
                 static_cast<int>(detail::scalapack_processes(c, 1)),
                 static_cast<int>(detail::scalapack_processes(c, 0)),
                 {}};
  for (int j = 0; j < p.columns; ++j)  // ranks are in the order of the mesh's axes
    for (int i = 0; i < p.rows; ++i)
      p.at.push_back(across < down ? j * p.rows + i : i * p.columns + j);
  return p;
}

/// The descriptor of the transpose of x, which lies in x's memory; `context` is a BLACS context of
/// the process grid scalapack_grid(x). Local. Throws dimesh::error where extents are no ints.
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
/// routine left in an array of this form is a tensor of X's type (borrow it).
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
                       << "; move the array's elements (from_scalapack_exchange), or redistribute "
                          "it to one block a rank (pdgemr2d)")
          .raise();
}

/// A tensor over this rank's part of an array of ScaLAPACK's, which is its transpose, where it lies
/// (as `borrow` of an address; the memory must stay there). Its extents are the descriptor's.
/// Local. Throws dimesh::error where blocks, or what lies between columns, are others than of X.
template <Tensor X, class T>
  requires(is_scalapack_matrix<X> && std::is_same_v<std::remove_const_t<T>, value_of<X>>)
X borrow(const typename X::grid_type& g, T* data, const array_descriptor& given) {
  using dims = typename spec_of<X>::dims;
  X x = detail::tensor_over<X>(g, detail::lent_storage<X>(data, nullptr),
                               detail::scalapack_extent<detail::type_at<0, dims>>(given[3]),
                               detail::scalapack_extent<detail::type_at<1, dims>>(given[2]));
  require_scalapack(x, given);
  return x;
}

/// Poison stays poison.
template <Operand X>
  requires is_poison<X>
poison scalapack_grid(const X&) {
  return {};
}
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
process_grid scalapack_grid(const X&) {
  static_assert(ok<wrong_arguments<X>>,
                "scalapack_grid: this is no matrix of which each dim is whole or split over one "
                "axis, without halos, cuts, addends or places; relayout it");
  return {};
}
template <Tensor X>
  requires(!is_scalapack_matrix<X>)
array_descriptor scalapack_descriptor(const X&, int) {
  static_assert(ok<wrong_arguments<X>>,
                "scalapack_descriptor: this is no matrix of which each dim is whole or split over "
                "one axis, without halos, cuts, addends or places; relayout it");
  return {};
}
template <Tensor X>
  requires(!is_scalapack_matrix<X>)
void require_scalapack(const X&, const array_descriptor&) {
  static_assert(ok<wrong_arguments<X>>,
                "require_scalapack: this is no matrix of which each dim is whole or split over one "
                "axis, without halos, cuts, addends or places; relayout it");
}
template <Tensor X, class T>
  requires(!is_scalapack_matrix<X>)
X borrow(const typename X::grid_type&, T*, const array_descriptor&) {
  static_assert(ok<wrong_arguments<X>>,
                "borrow: an array of ScaLAPACK's is a matrix of which each dim is whole or split "
                "over one axis, without halos, cuts, addends or places; name such a tensor");
  return X{};
}

}  // namespace dimesh
