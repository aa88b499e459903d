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
inline void for_each_index(const extents& size, const std::function<void(const extents&)>& f) {
  index_t n = 1;
  for (const index_t s : size) n *= s;
  extents index(size.size(), 0);
  for (index_t i = 0; i < n; ++i) {
    f(index);
    for (std::size_t d = size.size(); d-- > 0;) {
      if (++index[d] < size[d]) break;
      index[d] = 0;
    }
  }
}

inline array make(const names& dims, const extents& size,
                  const std::function<double(const extents&)>& f) {
  array a{dims, size, {}};
  for_each_index(size, [&](const extents& index) { a.values.push_back(f(index)); });
  return a;
}

inline std::uint64_t scramble(std::uint64_t h) {
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return h ^ (h >> 31);
}

/// Integers from -4 to 4 that differ from index to index: their sums and products are exact.
inline array numbers(const names& dims, const extents& size, std::uint64_t seed) {
  std::uint64_t at = seed * 1000003u;
  return make(dims, size,
              [&](const extents&) { return static_cast<double>(scramble(++at) % 9) - 4.0; });
}

/// Reals in (-1, 1), away from 0, where many functions bend.
inline array reals(const names& dims, const extents& size, std::uint64_t seed) {
  std::uint64_t at = seed * 1000003u;
  return make(dims, size, [&](const extents&) {
    const double v = static_cast<double>(scramble(++at) >> 11) * 0x1p-52 - 1.0;
    return v < 0 ? v * 0.9 - 0.05 : v * 0.9 + 0.05;
  });
}

/// The value of an array at the places that its names have in a larger index.
inline double value_at(const array& a, const names& all, const extents& index) {
  index_t at = 0;
  for (std::size_t d = 0; d < a.dims.size(); ++d) {
    const auto place = std::find(all.begin(), all.end(), a.dims[d]) - all.begin();
    at = at * a.size[d] + index[static_cast<std::size_t>(place)];
  }
  return a.values[static_cast<std::size_t>(at)];
}

/// All names of the arrays, in order of first appearance, with their extents.
inline array union_of(const std::vector<array>& in) {
  array all;
  for (const array& a : in)
    for (std::size_t d = 0; d < a.dims.size(); ++d)
      if (all.place(a.dims[d]) < 0) {
        all.dims.push_back(a.dims[d]);
        all.size.push_back(a.size[d]);
      }
  return all;
}

/// out[i] = f(values of all inputs at i), inputs broadcast by name.
inline array map(const std::function<double(const std::vector<double>&)>& f,
                 const std::vector<array>& in) {
  array out = union_of(in);
  std::vector<double> v(in.size());
  for_each_index(out.size, [&](const extents& index) {
    for (std::size_t k = 0; k < in.size(); ++k) v[k] = value_at(in[k], out.dims, index);
    out.values.push_back(f(v));
  });
  return out;
}

/// Folds f over the dims that `keep` leaves out; the result has the dims of `keep`, in its order.
inline array fold(const names& keep, const array& a, double start,
                  const std::function<double(double, double)>& f) {
  array out{keep, {}, {}};
  for (const std::string& name : keep)
    out.size.push_back(a.size[static_cast<std::size_t>(a.place(name))]);
  out.values.assign(static_cast<std::size_t>(out.count()), start);
  for_each_index(a.size, [&](const extents& index) {
    index_t at = 0;
    for (std::size_t d = 0; d < keep.size(); ++d)
      at = at * out.size[d] + index[static_cast<std::size_t>(a.place(keep[d]))];
    double& v = out.values[static_cast<std::size_t>(at)];
    v = f(v, value_at(a, a.dims, index));
  });
  return out;
}
inline array sum(const names& keep, const array& a) {
  return fold(keep, a, 0.0, [](double s, double v) { return s + v; });
}
inline array max(const names& keep, const array& a) {
  return fold(keep, a, -HUGE_VAL, [](double s, double v) { return std::max(s, v); });
}
inline array min(const names& keep, const array& a) {
  return fold(keep, a, HUGE_VAL, [](double s, double v) { return std::min(s, v); });
}
/// The same values with the dims in another order.
inline array transpose(const names& order, const array& a) { return sum(order, a); }
inline array einsum(const names& keep, const std::vector<array>& in) {
  const auto product = [](const std::vector<double>& v) {
    double all = 1;
    for (const double x : v) all *= x;
    return all;
  };
  return sum(keep, map(product, in));
}
inline array renamed(array a, const std::string& from, const std::string& to) {
  for (std::string& name : a.dims)
    if (name == from) name = to;
  return a;
}
inline double dot(const array& a, const array& b) {
  const array c = einsum({}, {a, b});
  return c.values[0];
}

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

inline names dim_names(const dimesh::detail::tensor_core& x) {
  names all;
  for (int d = 0; d < x.rank(); ++d) all.emplace_back(x.facts->dim[d]->name);
  return all;
}
inline extents extents_of(const dimesh::detail::tensor_core& x) {
  return extents(x.runs.extents(), x.runs.extents() + x.rank());
}

/// For all types of tensors: a test makes hundreds, and each function costs its compilation.
inline holding holding_of(const dimesh::detail::tensor_core& x, const element_access& elements) {
  const int axes = x.layout().axes;
  holding h{{dim_names(x), extents_of(x), {}},
            x.layout(),
            {x.sizes(), x.sizes() + axes},
            {x.grid->coords(), x.grid->coords() + axes},
            {},
            {},
            x.elements(),
            x.once,
            x.grid->along((1u << axes) - 1).handle(),
            static_cast<int>(x.facts->element),
            x.memory.data(),
            x.facts->space,
            elements.load,
            elements.store};
  for (int d = 0; d < x.rank(); ++d) {
    h.blocks.push_back(x.own(d));
    const auto* cut = dimesh::detail::cuts_of_dim(x.cuts.first(), x.facts->dim[d]);
    h.cuts.push_back(cut == nullptr ? extents{} : cut->begin);
  }
  return h;
}
template <class X> holding holding_of(const X& x) {
  holding h = holding_of(dimesh::detail::core_of(x), elements_of<typename X::value_type>);
  h.local_size = x.local_size();
  h.data = dimesh::detail::core_of(x).memory.data();
  return h;
}

/// The run of dim d that this rank should hold, by definition: nested blocks of ceil(n/p), or what
/// the cuts say of as many of them as one rank has.
inline dimesh::block block_of(const holding& h, std::size_t d) {
  if (h.table.ragged[d]) {
    std::size_t at = 0, ranks = 1;
    for (int level = 0, a = 0; (a = h.table.axis_at(static_cast<int>(d), level)) >= 0; ++level) {
      ranks *= static_cast<std::size_t>(h.sizes[static_cast<std::size_t>(a)]);
      at = at * static_cast<std::size_t>(h.sizes[static_cast<std::size_t>(a)]) +
           static_cast<std::size_t>(h.coords[static_cast<std::size_t>(a)]);
    }
    const std::size_t each = (h.cuts[d].size() - 1) / ranks;
    return {h.cuts[d][at * each], h.cuts[d][(at + 1) * each] - h.cuts[d][at * each]};
  }
  index_t full = h.whole.size[d], begin = 0, end = full;
  for (int level = 0, a = 0; (a = h.table.axis_at(static_cast<int>(d), level)) >= 0; ++level) {
    const index_t p = h.sizes[static_cast<std::size_t>(a)];
    full = (full + p - 1) / p;
    begin = std::min(begin + full * h.coords[static_cast<std::size_t>(a)], end);
    end = std::min(begin + full, end);
  }
  return {begin, end - begin};
}

/// Is the rank at these coordinates one that holds nothing of the tensor?
inline bool is_away(const holding& h) {
  for (int a = 0; a < h.table.axes; ++a)
    if (h.table.axis[a].what == dimesh::use::placed &&
        h.table.axis[a].at != h.coords[static_cast<std::size_t>(a)])
      return true;
  return false;
}

/// Calls f(place in this rank's memory, global index) for every element of its block.
inline void for_each_element(const holding& h,
                             const std::function<void(std::size_t, const extents&)>& f) {
  if (is_away(h)) return;
  extents begin, size;
  for (std::size_t d = 0; d < h.whole.size.size(); ++d) {
    const dimesh::block b = block_of(h, d);
    begin.push_back(b.offset);
    size.push_back(b.length);
  }
  std::size_t at = 0;
  for_each_index(size, [&](const extents& index) {
    extents global = index;
    for (std::size_t d = 0; d < global.size(); ++d) global[d] += begin[d];
    f(at++, global);
  });
}

/// The blocks of all ranks, as bytes, one after another: one collective a check.
struct gathered {
  std::vector<int> begin, bytes;  // by rank
  std::vector<char> data;
};

/// The coordinates of a rank, row-major.
inline std::vector<index_t> coords_of(const holding& h, index_t rank) {
  std::vector<index_t> coords(h.sizes.size());
  for (std::size_t a = coords.size(); a-- > 0; rank /= h.sizes[a]) coords[a] = rank % h.sizes[a];
  return coords;
}

inline gathered gather(const holding& h) {
  gathered all;
  index_t ranks = 1;
  for (const index_t n : h.sizes) ranks *= n;
  int total = 0;
  for (index_t r = 0; r < ranks; ++r) {
    holding there = h;
    there.coords = coords_of(h, r);
    index_t count = is_away(there) ? 0 : 1;
    for (std::size_t d = 0; d < h.whole.size.size(); ++d) count *= block_of(there, d).length;
    all.begin.push_back(total);
    all.bytes.push_back(static_cast<int>(count) * h.element_bytes);
    total += all.bytes.back();
  }
  int mine = 0;
  MPI_Comm_rank(h.ranks, &mine);
  const int expected = all.bytes[static_cast<std::size_t>(mine)];
  std::vector<char> sent = h.elements();
  sent.resize(static_cast<std::size_t>(expected));  // else the check fails anyway
  all.data.resize(static_cast<std::size_t>(total));
  MPI_Allgatherv(sent.data(), expected, MPI_BYTE, all.data.data(), all.bytes.data(),
                 all.begin.data(), MPI_BYTE, h.ranks);
  return all;
}

/// Calls f(bytes of the block) for every rank with this rank's coordinates on all axes but those in
/// the mask.
inline void for_each_along(const holding& h, const gathered& all, unsigned axes,
                           const std::function<void(const char*)>& f) {
  for (std::size_t r = 0; r < all.begin.size(); ++r) {
    const std::vector<index_t> coords = coords_of(h, static_cast<index_t>(r));
    bool in = true;
    for (std::size_t a = 0; a < coords.size(); ++a)
      in = in && (axes >> a & 1u || coords[a] == h.coords[a]);
    if (in) f(all.data.data() + all.begin[r]);
  }
}

/// Does every rank along the axes hold the same bits?
inline bool same_bits(const holding& h, const gathered& all, unsigned axes) {
  bool same = true;
  const std::vector<char> mine = h.elements();
  if (!mine.empty())
    for_each_along(h, all, axes, [&](const char* block) {
      same = same && std::memcmp(block, mine.data(), mine.size()) == 0;
    });
  return same;
}

/// The elements of this rank's block, addends summed (or their extreme taken).
inline std::vector<double> settled_values(const holding& h, const gathered& all) {
  const unsigned greatest = h.table.mask(dimesh::use::partial_max),
                 least = h.table.mask(dimesh::use::partial_min);
  const unsigned addends = h.table.mask(dimesh::use::partial) & ~h.once;
  const auto size = static_cast<std::size_t>(h.local_size);
  const double start = greatest != 0 ? -HUGE_VAL : least != 0 ? HUGE_VAL : 0;
  std::vector<double> v(size, start);
  for_each_along(h, all, addends | greatest | least, [&](const char* block) {
    for (std::size_t k = 0; k < size; ++k) {
      const double one = h.load(block + k * static_cast<std::size_t>(h.element_bytes));
      v[k] = greatest != 0 ? std::max(v[k], one) : least != 0 ? std::min(v[k], one) : v[k] + one;
    }
  });
  return v;
}

inline bool close(double got, double want, double tolerance) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return true;
  return std::abs(got - want) <= tolerance * std::max(1.0, std::abs(want));
}

/// Along partial axes the addends differ from rank to rank and element to element, and sum to the
/// value; of maxima and minima one rank holds the value.
inline void scatter(const array& a, const holding& h) {
  index_t ranks = 1, mine = 0;  // of the group that shares a value
  for (int axis = 0; axis < h.table.axes; ++axis)
    if (h.table.is_partial(axis) && !(h.once >> axis & 1u)) {
      ranks *= h.sizes[static_cast<std::size_t>(axis)];
      mine =
          mine * h.sizes[static_cast<std::size_t>(axis)] + h.coords[static_cast<std::size_t>(axis)];
    }
  const bool greatest = h.table.mask(dimesh::use::partial_max) != 0;
  const bool least = h.table.mask(dimesh::use::partial_min) != 0;
  std::vector<char> elements = h.elements();
  for_each_element(h, [&](std::size_t at, const extents& index) {
    double v = value_at(a, a.dims, index);
    index_t salt = 1;
    for (const index_t i : index) salt += i;
    if (greatest || least)
      v += (least ? 1.0 : -1.0) * static_cast<double>((mine + salt) % ranks);
    else if (h.table.any_partial())
      v = mine > 0 ? static_cast<double>(mine * (1 + salt % 3))
                   : v - static_cast<double>(ranks * (ranks - 1) / 2 * (1 + salt % 3));
    h.store(elements.data() + at * static_cast<std::size_t>(h.element_bytes), v);
  });
  h.take(elements);
}

inline std::string disagreement(const holding& h, const array& want, double tolerance) {
  const unobserved quietly;
  std::ostringstream what;
  if (h.whole.dims != want.dims) return "the dims are others, or in another order";
  if (h.whole.size != want.size) return "the extents differ";
  const bool away = is_away(h);
  if (away && h.data != nullptr) what << "there is memory, though the tensor lives elsewhere; ";
  index_t count = away ? 0 : 1;
  for (std::size_t d = 0; d < h.whole.size.size(); ++d) {
    dimesh::block b = block_of(h, d);
    if (away) b.length = 0;
    count *= b.length;
    if (h.blocks[d] != b)
      what << "the block of " << h.whole.dims[d] << " is [" << h.blocks[d].offset << ", +"
           << h.blocks[d].length << "), not [" << b.offset << ", +" << b.length << "); ";
  }
  if (h.local_size != count) what << h.local_size << " elements here, not " << count << "; ";
  const gathered all = gather(h);
  if (!what.str().empty()) return what.str();
  if (!same_bits(
          h, all,
          h.table.mask(dimesh::use::replicated) | (h.table.mask(dimesh::use::partial) & h.once)))
    what << "replicated copies differ; ";
  const std::vector<double> got = settled_values(h, all);
  bool first = true;
  for_each_element(h, [&](std::size_t at, const extents& index) {
    const double v = value_at(want, want.dims, index);
    if (!first || close(got[at], v, tolerance)) return;
    first = false;
    what << "at (";
    for (const index_t i : index) what << ' ' << i;
    what << " ) stands " << got[at] << ", not " << v;
  });
  return what.str();
}

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
inline array numbers_like(const dimesh::detail::tensor_core& x, std::uint64_t seed) {
  return numbers(dim_names(x), extents_of(x), seed);
}
inline array reals_like(const dimesh::detail::tensor_core& x, std::uint64_t seed) {
  return reals(dim_names(x), extents_of(x), seed);
}
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
