// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much does a step from one layout to another move? As a part of the tensor, by what types say:
// blocks are taken to be even, and where only the run knows how many ranks stand along an axis, two
// are assumed.
//
//   share.sum({0}, {split d over 0}, true)               -> 1/2 of it on two ranks: scattered
//   share.move({split d over 0}, {split e over 0})       -> 1/4 of it on two ranks
#pragma once

#include <bit>

#include "dimesh/layout/table.hpp"

namespace dimesh::detail {

/// What a route may know besides layouts. A dim's extent of `dynamic`: nothing.
struct route_terms {
  dim_list dims{nullptr, 0};
  const index_t* sizes = nullptr;  // of axes, as far as types say them; null: they do not
  bool by_axis = false;  // moves over several axes are made axis by axis
  bool spares = true;  // what stays replicated may be cut for a sum, and gathered

  constexpr bool knows(int a) const { return sizes != nullptr && sizes[a] > 0; }
};

/// What an average rank receives, as a part of the whole tensor.
class moved_share {
 public:
  /// Between tables over some axes that split none but the first of some dims.
  constexpr moved_share(int axes, int dims, const route_terms& known) : axes_(axes), dims_(dims) {
    for (int a = 0; a < axes; ++a) size_[a] = known.knows(a) ? known.sizes[a] : 2;
  }
  constexpr int dims() const { return dims_; }
  /// From now on at so many ranks at most, where there are more.
  constexpr void look_at(index_t ranks) { most_ = ranks; }
  /// How many ranks stand along the axes of a mask.
  constexpr index_t ranks(unsigned axes) const { return product(axes, size_); }
  /// In the sum over the axes of a mask, which leaves blocks of a table, scattered or not.
  constexpr double sum(unsigned axes, const table& to, bool scatters) const {
    const double n = part(axes), all = (1 / n - 1) * part(to.mask(use::split));
    return scatters ? all : 2 * all * n;
  }
  /// In a move from one table to another: what it lacks.
  constexpr double move(const table& from, const table& to) const {
    const double had = part(from.mask(use::split)), wanted = part(to.mask(use::split));
    double both = 1;
    unsigned anew = 0, axes = 0;  // dims that are cut in another way
    for (int d = 0; d < dims_; ++d) {
      const unsigned old = from.axes_of(d), now = to.axes_of(d);
      const bool alike = old == now && stand_alike(old, from, to);
      both *= part(old) * (alike ? 1 : part(now));
      if (alike || old == 0 || now == 0) continue;
      anew |= 1u << d;
      axes |= old | now;
    }
    if (anew != 0) both *= closeness(from, to, anew, axes);
    const double least = had < wanted ? had : wanted;
    return wanted - (both < least ? both : least);
  }

 private:
  int axes_, dims_;
  index_t most_ = 64;
  index_t size_[max_axes]{};

  static constexpr index_t product(unsigned axes, const index_t* sizes) {
    index_t n = 1;
    for (unsigned left = axes; left != 0; left &= left - 1) n *= sizes[std::countr_zero(left)];
    return n;
  }
  constexpr double part(unsigned axes) const { return 1 / static_cast<double>(ranks(axes)); }

  static constexpr bool stand_alike(unsigned axes, const table& from, const table& to) {
    for (unsigned left = axes; left != 0; left &= left - 1)
      if (!(from.axis[std::countr_zero(left)] == to.axis[std::countr_zero(left)])) return false;
    return true;
  }
  /// How a table cuts a dim: the length of its blocks, and how far apart those of neighbours are.
  struct cut {
    int levels = 0, axis[max_axes]{};
    index_t apart[max_axes]{}, length = 0;

    constexpr void of(const table& t, int d, const index_t* sizes, index_t extent) {
      length = extent;
      for (int a = 0; (a = t.axis_at(d, levels)) >= 0; ++levels) {
        axis[levels] = a;
        apart[levels] = length /= sizes[a];
      }
    }
    constexpr index_t begin(const index_t* coords) const {
      index_t at = 0;
      for (int i = 0; i < levels; ++i) at += coords[axis[i]] * apart[i];
      return at;
    }
  };
  /// Of the dims of a mask, how many times as much do ranks hold under both tables as if these had
  /// nothing to do with each other? Of many ranks: as of fewer.
  constexpr double closeness(const table& from, const table& to, unsigned dims,
                             unsigned axes) const {
    index_t size[max_axes]{}, coords[max_axes]{};
    for (int a = 0; a < axes_; ++a) size[a] = axes >> a & 1u ? size_[a] : 1;
    while (product(axes, size) > most_) {
      int widest = 0;
      for (int a = 1; a < axes_; ++a) widest = size[a] > size[widest] ? a : widest;
      size[widest] = size[widest] > 2 ? (size[widest] + 1) / 2 : 1;
    }
    const index_t count = product(axes, size);  // and the length of dims: blocks come out even
    cut had[max_axes], wanted[max_axes];
    int cuts = 0;
    for (unsigned left = dims; left != 0; left &= left - 1, ++cuts) {
      had[cuts].of(from, std::countr_zero(left), size, count);
      wanted[cuts].of(to, std::countr_zero(left), size, count);
    }
    double sum = 0;
    for (index_t r = 0; r < count; ++r) {
      double n = 1;
      for (int i = 0; i < cuts && n > 0; ++i) {
        const index_t p = had[i].begin(coords), q = wanted[i].begin(coords);
        const index_t p_end = p + had[i].length, q_end = q + wanted[i].length;
        const index_t begin = p > q ? p : q, end = p_end < q_end ? p_end : q_end;
        n *= end > begin ? static_cast<double>((end - begin) * count) /
                               static_cast<double>(had[i].length * wanted[i].length)
                         : 0;
      }
      sum += n;
      for (unsigned left = axes; left != 0; left &= left - 1) {
        const int a = std::countr_zero(left);
        if (++coords[a] < size[a]) break;
        coords[a] = 0;
      }
    }
    return sum / static_cast<double>(count);
  }
};

}  // namespace dimesh::detail
