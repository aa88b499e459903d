// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a local contraction? A matrix product in a nest of outer loops, told by extents and
// element strides alone. Folding finds the largest matrix product that the strides allow.
//
//   x[b,t,d] . w[d,f], all contiguous: one outer loop b with b_outer == 0
//   folded(it)   -> no outer loop; m = b*t
#pragma once

#include <utility>

#include "dimesh/detail/config.hpp"
#include "dimesh/detail/writes_memory.hpp"

namespace dimesh::local {

/// c[o.., m, n] (+)= sum over k of a[o.., m, k] * b[o.., k, n]. The stride of a loop that an
/// operand does not have is 0; an outer loop that c does not have is summed over. Strides of loops
/// with one turn do not matter.
struct contraction {
  static constexpr int max_outer = max_dims + 1;  // a dim's loop each; two of a window's dim
  int outer = 0;
  index_t extent[max_outer] = {};
  index_t a_outer[max_outer] = {}, b_outer[max_outer] = {}, c_outer[max_outer] = {};
  index_t m = 1, n = 1, k = 1;
  index_t a_m = 0, a_k = 0, b_k = 0, b_n = 0, c_m = 0, c_n = 0;
  bool short_factors = false;  ///< a device may read 11 bits of a float (TF32)
};

/// The same contraction read as transpose(c) = transpose(b) * transpose(a): call it with a and b
/// exchanged.
constexpr contraction transposed(const contraction& x) {
  contraction y = x;
  for (int i = 0; i < x.outer; ++i) {
    y.a_outer[i] = x.b_outer[i];
    y.b_outer[i] = x.a_outer[i];
  }
  y.m = x.n, y.n = x.m;
  y.a_m = x.b_n, y.a_k = x.b_k, y.b_k = x.a_k, y.b_n = x.a_m, y.c_m = x.c_n, y.c_n = x.c_m;
  return y;
}

namespace detail {

struct loop {
  index_t extent, a, b, c;  // strides in a, b and c
};
/// Of which loop of a product a loop can be a part.
enum class loop_kind : unsigned char { m, n, k, batch };
constexpr loop_kind kind_of(const loop& l) {
  return l.c == 0   ? loop_kind::k
         : l.b == 0 ? loop_kind::m
         : l.a == 0 ? loop_kind::n
                    : loop_kind::batch;
}

/// Makes one loop of two where walking them in this order, or the other, visits evenly spaced
/// elements in all three arrays.
constexpr bool fuse(loop& into, const loop& x) {
  const auto follows = [](const loop& major, const loop& minor) {
    const index_t e = minor.extent;
    return major.a == minor.a * e && major.b == minor.b * e && major.c == minor.c * e;
  };
  if (into.extent == 1) {
    into = x;
  } else if (follows(x, into)) {
    into.extent *= x.extent;
  } else if (follows(into, x)) {
    into = {into.extent * x.extent, x.a, x.b, x.c};
  } else {
    return false;
  }
  return true;
}

}  // namespace detail

/// An equal contraction with outer loops fused with each other and into m, n and k where strides
/// permit. Of m, n and k, one that has no turns to make becomes the longest outer loop of its kind.
/// Extents must be positive.
constexpr contraction folded(const contraction& x) {
  using detail::loop;
  loop m{x.m, x.a_m, 0, x.c_m}, n{x.n, 0, x.b_n, x.c_n}, k{x.k, x.a_k, x.b_k, 0};
  loop outer[contraction::max_outer] = {};
  int count = 0;
  for (int i = 0; i < x.outer; ++i) {
    const loop l{x.extent[i], x.a_outer[i], x.b_outer[i], x.c_outer[i]};
    bool gone = l.extent == 1;
    for (int j = 0; !gone && j < count; ++j) gone = detail::fuse(outer[j], l);
    if (!gone) outer[count++] = l;
  }
  const auto take = [&](int i) {
    const loop l = outer[i];
    for (--count; i < count; ++i) outer[i] = outer[i + 1];
    return l;
  };
  const auto into_product = [&](loop& to, detail::loop_kind kind) {
    if (to.extent == 1) {
      int longest = -1;
      for (int i = 0; i < count; ++i)
        if (kind_of(outer[i]) == kind && (longest < 0 || outer[i].extent > outer[longest].extent))
          longest = i;
      if (longest >= 0) to = take(longest);
    }
    for (int i = 0; i < count; ++i)
      if (kind_of(outer[i]) == kind && detail::fuse(to, outer[i])) take(i), i = -1;
  };
  into_product(m, detail::loop_kind::m);
  into_product(n, detail::loop_kind::n);
  into_product(k, detail::loop_kind::k);
  for (int i = 1; i < count; ++i) {  // as they lie in c, widest steps outside
    for (int j = i; j > 0 && outer[j - 1].c < outer[j].c; --j) std::swap(outer[j - 1], outer[j]);
  }
  contraction y;
  y.short_factors = x.short_factors;
  y.outer = count;
  for (int i = 0; i < count; ++i) {
    y.extent[i] = outer[i].extent;
    y.a_outer[i] = outer[i].a, y.b_outer[i] = outer[i].b, y.c_outer[i] = outer[i].c;
  }
  y.m = m.extent, y.n = n.extent, y.k = k.extent;
  y.a_m = m.a, y.a_k = k.a, y.b_k = k.b, y.b_n = n.b, y.c_m = m.c, y.c_n = n.c;
  return y;
}

/// A contraction one of whose outer loops has other turns from call to call: rows of group after
/// group. It is folded once, where the turns do not decide how, and each call sets an extent or
/// two.
class contraction_of_length {
 public:
  /// Loop r of x changes.
  constexpr contraction_of_length(const contraction& x, int r)
      : now_(with(x, r, 2)), turns_{}, any_(x), changes_(r) {
    // Of two lengths: where loops are one by chance of the turns, they are so for one of them.
    const contraction once = folded(with(x, r, first)), again = folded(with(x, r, second));
    if (once.outer != again.outer) return;
    contraction same = again;
    for (int i = 0; i < 3 + once.outer; ++i) {
      const index_t n = extent(once, i), m = extent(again, i);
      if (n == m) continue;
      if (n % first != 0 || m % second != 0 || n / first != m / second) return;
      turns_[i] = n / first;
      extent(same, i) = n;
    }
    if (!is_same(once, same)) return;
    now_ = once;
    changes_ = -1;
  }
  /// Of so many turns. Like the extents of every contraction, positive.
  constexpr const contraction& of(index_t turns) {
    if (changes_ >= 0) {
      now_ = with(any_, changes_, turns);
    } else {
      for (int i = 0; i < 3 + now_.outer; ++i)
        if (turns_[i] != 0) extent(now_, i) = turns_[i] * turns;
    }
    return now_;
  }

 private:
  static constexpr index_t first = 1009, second = 2003;
  static constexpr contraction with(contraction x, int r, index_t n) {
    x.extent[r] = n;
    return x;
  }
  static constexpr index_t& extent(contraction& x, int i) {
    return i == 0 ? x.m : i == 1 ? x.n : i == 2 ? x.k : x.extent[i - 3];
  }
  static constexpr index_t extent(const contraction& x, int i) {
    return i == 0 ? x.m : i == 1 ? x.n : i == 2 ? x.k : x.extent[i - 3];
  }
  static constexpr bool is_same(const contraction& x, const contraction& y) {
    bool same = x.m == y.m && x.n == y.n && x.k == y.k && x.a_m == y.a_m && x.a_k == y.a_k &&
                x.b_k == y.b_k && x.b_n == y.b_n && x.c_m == y.c_m && x.c_n == y.c_n;
    for (int i = 0; i < x.outer; ++i)
      same = same && x.extent[i] == y.extent[i] && x.a_outer[i] == y.a_outer[i] &&
             x.b_outer[i] == y.b_outer[i] && x.c_outer[i] == y.c_outer[i];
    return same;
  }

  contraction now_;
  index_t turns_[3 + contraction::max_outer];
  contraction any_;
  int changes_;  // -1: it is folded
};

/// How a library reads a matrix: as row-major with a leading dimension, or as the transpose of one.
struct matrix_order {
  bool fits;  ///< one of the two serves
  bool transposed;
  index_t ld;
};

/// The order of a (rows, columns) matrix with these strides; loops with one turn suit either order.
constexpr matrix_order order_of(index_t rows, index_t columns, index_t row, index_t column) {
  if (columns == 1 || column == 1) {
    if (rows == 1) return {true, false, columns};
    if (row >= columns) return {true, false, row};
  }
  if (rows == 1 || row == 1) {
    if (columns == 1) return {true, true, rows};
    if (column >= rows) return {true, true, column};
  }
  return {false, false, 0};
}

/// Calls f(a, b, c, add) for every turn of the outer loops; `add` says whether the matrix product
/// must be added to what c holds: when the caller asked for it, or when a summed outer loop has
/// passed here before.
template <class T, class C, class F>
void for_each_product(const contraction& x, const T* a, const T* b, C* c, bool add, const F& f) {
  const dimesh::detail::writes_memory kernel;
  index_t at[contraction::max_outer] = {};
  for (;;) {
    bool again = add;
    for (int i = 0; i < x.outer; ++i) again = again || (x.c_outer[i] == 0 && at[i] > 0);
    f(a, b, c, again);
    int i = x.outer - 1;
    for (; i >= 0; --i) {
      a += x.a_outer[i], b += x.b_outer[i], c += x.c_outer[i];
      if (++at[i] < x.extent[i]) break;
      a -= x.a_outer[i] * x.extent[i], b -= x.b_outer[i] * x.extent[i];
      c -= x.c_outer[i] * x.extent[i];
      at[i] = 0;
    }
    if (i < 0) return;
  }
}

}  // namespace dimesh::local
