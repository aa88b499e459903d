// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What should a distributed program have computed? The same, on whole arrays in one process,
// written naively: arrays with named dims, loops over every index, no use of the library's
// arithmetic.
//
//   array a = numbers({"p", "q"}, {4, 6}, seed);          // small integers: sums are exact
//   array c = einsum({"p", "r"}, {a, b});                  // sums over the names that are not kept
//   scatter(a, x);  CHECK(agrees(f(x), oracle_f(a)));      // x: a distributed tensor of any layout
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "dimesh/tensor.hpp"

#if __has_include(<census.hpp>)
#include <census.hpp>
#endif

namespace test_support {

using dimesh::index_t;
using names = std::vector<std::string>;
using extents = std::vector<index_t>;

/// A whole array: dims by name, row-major.
struct array {
  names dims;
  extents size;
  std::vector<double> values;

  index_t count() const {
    index_t n = 1;
    for (const index_t s : size) n *= s;
    return n;
  }
  int place(const std::string& dim) const {
    const auto at = std::find(dims.begin(), dims.end(), dim);
    return at == dims.end() ? -1 : static_cast<int>(at - dims.begin());
  }
};

/// Calls f(index) for every index of a box, the last one fastest.
void for_each_index(const extents& size, const std::function<void(const extents&)>& f);

array make(const names& dims, const extents& size, const std::function<double(const extents&)>& f);

std::uint64_t scramble(std::uint64_t h);

/// Integers from -4 to 4 that differ from index to index: their sums and products are exact.
array numbers(const names& dims, const extents& size, std::uint64_t seed);

/// Integers from -1 to n, as places in a dim of n elements, and beside it.
array places(const names& dims, const extents& size, index_t n, std::uint64_t seed);
/// -1, 0 and 1: sums of many of them are exact in the short elements, too.
array signs(const names& dims, const extents& size, std::uint64_t seed);

/// Reals in (-1, 1), away from 0, where many functions bend.
array reals(const names& dims, const extents& size, std::uint64_t seed);

/// The value of an array at the places that its names have in a larger index.
double value_at(const array& a, const names& all, const extents& index);

/// All names of the arrays, in order of first appearance, with their extents.
array union_of(const std::vector<array>& in);

/// out[i] = f(values of all inputs at i), inputs broadcast by name.
array map(const std::function<double(const std::vector<double>&)>& f, const std::vector<array>& in);

/// Folds f over the dims that `keep` leaves out; the result has the dims of `keep`, in its order.
array fold(const names& keep, const array& a, double start,
           const std::function<double(double, double)>& f);
array sum(const names& keep, const array& a);
array max(const names& keep, const array& a);
array min(const names& keep, const array& a);
/// The same values with the dims in another order.
array transpose(const names& order, const array& a);
array einsum(const names& keep, const std::vector<array>& in);
array renamed(array a, const std::string& from, const std::string& to);

using line_values = std::vector<double>;
/// Every line of a along d becomes f of it, which may have another length, along `to`.
array along(const array& a, const std::string& d, const std::string& to,
            const std::function<line_values(const line_values&)>& f);
/// One number for every line along d.
array folded(const array& a, const std::string& d,
             const std::function<double(const line_values&)>& f);
/// a and then b along their dim d, which is called `to`; otherwise the dims of a.
array joined(const array& a, const array& b, const std::string& d, const std::string& to);
/// x at the places along d that ids name, 0 where there is no such place; dims as in `out`.
array looked_up(const names& out, const array& x, const std::string& d, const array& ids);
/// Each row along `from` added up at the place that ids name of n along d.
array added_up(const array& rows, const std::string& from, const array& ids, const std::string& d,
               index_t n);
double dot(const array& a, const array& b);

// ---- distributed tensors ------------------------------------------------------------------------
// Everything about a tensor as plain data, so that one compiled function serves all types.

namespace detail {

/// The census of MPI calls looks away, where there is one.
struct unobserved {
#if __has_include(<census.hpp>)
  census::pause pause;
#endif
};

/// What a rank holds of a tensor.
struct holding {
  array whole;  // names and extents
  dimesh::detail::table table;
  std::vector<index_t> sizes, coords;  // of the mesh
  std::vector<dimesh::block> blocks;  // per dim, as the tensor says
  std::vector<extents> cuts;  // per dim: where blocks of a ragged one begin, as the tensor says
  index_t local_size = 0;  // elements, as the tensor says
  unsigned once = 0;
  MPI_Comm ranks = MPI_COMM_NULL;  // of the whole mesh
  int element_bytes = 0;
  void* data = nullptr;  // where the tensor lives, which may be a device
  const dimesh::detail::space_facts* space = nullptr;
  double (*load)(const void* from) = nullptr;
  void (*store)(void* to, double v) = nullptr;

  std::size_t bytes() const { return static_cast<std::size_t>(local_size * element_bytes); }
  /// Its elements on the host, and back from there.
  std::vector<char> elements() const {
    std::vector<char> copy(bytes());
    if (!copy.empty())
      dimesh::detail::facts_of_space(space).copy_out(copy.data(), data, copy.size());
    return copy;
  }
  void take(const std::vector<char>& from) const {
    if (!from.empty())
      dimesh::detail::facts_of_space(space).copy_in(data, from.data(), from.size());
  }
};

/// How doubles come out of elements and into them.
struct element_access {
  double (*load)(const void* from) = nullptr;
  void (*store)(void* to, double v) = nullptr;
};
template <class T> double load_as(const void* from) {
  return static_cast<double>(*static_cast<const T*>(from));
}
/// Whole numbers wrap around; a double that is out of range of T has no value in it.
template <class T> void store_as(void* to, double v) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    *static_cast<T*>(to) = static_cast<T>(static_cast<std::int64_t>(v));
  else
    *static_cast<T*>(to) = static_cast<T>(v);
}

template <class T> inline constexpr element_access elements_of{&load_as<T>, &store_as<T>};

names dim_names(const dimesh::detail::tensor_core& x);
extents extents_of(const dimesh::detail::tensor_core& x);

/// For all types of tensors: a test makes hundreds, and each function costs its compilation.
holding holding_of(const dimesh::detail::tensor_core& x, const element_access& elements);
template <class X> holding holding_of(const X& x) {
  holding h = holding_of(dimesh::detail::core_of(x), elements_of<typename X::value_type>);
  h.local_size = x.local_size();
  h.data = dimesh::detail::core_of(x).memory.data();
  return h;
}

/// The run of dim d that this rank should hold, by definition: nested blocks of ceil(n/p), or what
/// the cuts say of as many of them as one rank has.
dimesh::block block_of(const holding& h, std::size_t d);

/// Is the rank at these coordinates one that holds nothing of the tensor?
bool is_away(const holding& h);

/// Calls f(place in this rank's memory, global index) for every element of its block.
void for_each_element(const holding& h, const std::function<void(std::size_t, const extents&)>& f);

/// The blocks of all ranks, as bytes, one after another: one collective a check.
struct gathered {
  std::vector<int> begin, bytes;  // by rank
  std::vector<char> data;
};

/// The coordinates of a rank, row-major.
std::vector<index_t> coords_of(const holding& h, index_t rank);

gathered gather(const holding& h);

/// Calls f(bytes of the block) for every rank with this rank's coordinates on all axes but those in
/// the mask.
void for_each_along(const holding& h, const gathered& all, unsigned axes,
                    const std::function<void(const char*)>& f);

/// Does every rank along the axes hold the same bits?
bool same_bits(const holding& h, const gathered& all, unsigned axes);

/// The elements of this rank's block, addends summed (or their extreme taken).
std::vector<double> settled_values(const holding& h, const gathered& all);

bool close(double got, double want, double tolerance);

/// Along partial axes the addends differ from rank to rank and element to element, and sum to the
/// value; of maxima and minima one rank holds the value.
void scatter(const array& a, const holding& h);

std::string disagreement(const holding& h, const array& want, double tolerance);

template <class Shape, class D> void give_extent(Shape& shape, const array& a) {
  if constexpr (!dimesh::is_static_dim<D>) {
    D d;
    d.n = a.size[static_cast<std::size_t>(a.place(std::string(dimesh::detail::name_of<D>())))];
    shape = Shape(shape, d);
  }
}
template <class Shape, class... D>
void give_extents(Shape& shape, const array& a, dimesh::detail::list<D...>) {
  (give_extent<Shape, D>(shape, a), ...);
}

}  // namespace detail

namespace detail {
array numbers_like(const dimesh::detail::tensor_core& x, std::uint64_t seed);
array reals_like(const dimesh::detail::tensor_core& x, std::uint64_t seed);
}  // namespace detail

/// Values with the names and extents of a tensor.
template <class X> array numbers_like(const X& x, std::uint64_t seed) {
  return detail::numbers_like(dimesh::detail::core_of(x), seed);
}
template <class X> array reals_like(const X& x, std::uint64_t seed) {
  return detail::reals_like(dimesh::detail::core_of(x), seed);
}

/// Gives a tensor the values of an array; partial axes get addends that differ from rank to rank.
template <class X> void scatter(const array& a, const X& x) {
  detail::scatter(a, detail::holding_of(x));
}

/// A tensor of type X on the grid with the shape and values of an array.
template <class X, class Grid, class... Cuts>
X scattered(const Grid& g, const array& a, const Cuts&... cuts) {
  typename X::shape_type shape;
  detail::give_extents(shape, a, typename dimesh::spec_of<X>::dims{});
  X x(g, shape, cuts...);
  scatter(a, x);
  return x;
}

/// What CHECK prints when it fails.
struct verdict {
  std::string text;
  explicit operator bool() const { return text.empty(); }
  friend std::ostream& operator<<(std::ostream& out, const verdict& v) { return out << v.text; }
};

/// CHECK(agrees(x, a)): is the tensor the array? Every rank looks at its own block: extents,
/// values, and that replicated copies agree to the last bit. Collective.
template <class X> verdict agrees(const X& x, const array& want, double tolerance = 0) {
  return {detail::disagreement(detail::holding_of(x), want, tolerance)};
}

}  // namespace test_support
