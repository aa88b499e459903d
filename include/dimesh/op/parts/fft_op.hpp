// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do Fourier transforms run on cores? Along dims that a rank holds whole, by one kernel. They
// are linear, and <a, b> is Re(sum of conj(a) b): the transpose of the forward transform is the
// backward one, neither divided by anything, with the same scale.
//
//   fft_op<complex<float>>{0b11, true, 1, "fft"}      of the first two dims, exp(-..)
//   to_half_op<float>{1, 0b01, half, 33, ...}         real along dim 1: 33 of 64; then of dim 0
//
// Of a half transform the elements between the ends stand for two each, a number and its conjugate.
// So to_half and from_half are transposes of each other where one of them weighs these by 2.
#pragma once

#include <bit>
#include <cstring>

#include "dimesh/local/fft_dims.hpp"
#include "dimesh/op/parts/complex_parts.hpp"
#include "dimesh/op/parts/strided.hpp"

namespace dimesh::detail {

/// ceil(log2(n)): the passes of a transform of n elements.
constexpr index_t fft_passes(index_t n) {
  return n < 2 ? 0 : static_cast<index_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
}
/// Operations of a complex transform along these dims of a block, as FFTW's authors count: 5 for
/// each element and pass.
constexpr index_t fft_flops(const tensor_core& x, unsigned along) {
  index_t passes = 0;
  for (int d = 0; d < x.rank(); ++d)
    if (along >> d & 1u) passes += fft_passes(x.local(d));
  return 5 * passes * x.elements();
}
/// The places that the dims of x at these places have in y, which may have them in another order.
constexpr unsigned fft_places_in(const tensor_core& y, const tensor_core& x, unsigned along) {
  if (y.facts == x.facts) return along;
  unsigned there = 0;
  for (int d = 0; d < x.rank(); ++d)
    if (along >> d & 1u) there |= 1u << y.facts->place_of(x.facts->dim[d]);
  return there;
}
/// Complex x to complex y along these dims of x; y has the same dims. Lead: elements of the first
/// one, if not all.
inline local::fft_loops fft_loops_of(const tensor_core& x, const tensor_core& y, unsigned along,
                                     index_t lead = -1) {
  local::fft_loops l;
  for (int d = 0; d < x.rank(); ++d) {
    const index_t n = d == 0 && lead >= 0 ? lead : x.local(d);
    const index_t to = y.stride(y.facts == x.facts ? d : y.facts->place_of(x.facts->dim[d]));
    if (along >> d & 1u)
      l.along(n, x.stride(d), to);
    else
      l.over(n, x.stride(d), to);
  }
  return l;
}
/// One dim of x to one of y, whose other dims are the same; extents are those of `longer`, of whose
/// first dim `lead` elements.
inline local::fft_loops half_loops_of(const tensor_core& x, const tensor_core& y,
                                      const tensor_core& longer, int along, index_t lead) {
  local::fft_loops l;
  for (int d = 0; d < x.rank(); ++d) {
    const index_t n = d == 0 ? lead : longer.local(d);
    if (d == along)
      l.along(n, x.stride(d), y.stride(d));
    else
      l.over(n, x.stride(d), y.stride(d));
  }
  return l;
}
inline local::half_lines half_lines_of(const tensor_core& half, int d, index_t n, index_t lead) {
  local::half_lines l{1, half.local(d), half.stride(d), n};
  for (int i = 0; i < d; ++i) l.outer *= i == 0 ? lead : half.local(i);
  return l;
}

/// Calls part(begin, end) for parts of a block along its first dim, in which what is done to their
/// elements one after another finds them in the cache; all at once where that dim is transformed.
template <class F>
void fft_in_parts(const tensor_core& x, bool first_is_transformed, const F& part) {
  constexpr index_t bytes = index_t{1} << 18, even = 4;  // even: vectors begin where they did
  const index_t lead = x.local(0);
  if (first_is_transformed || x.bytes() <= bytes) return part(index_t{0}, lead);
  const index_t fit = bytes * lead / x.bytes() / even * even, each = fit > even ? fit : even;
  for (index_t at = 0; at < lead; at += each) part(at, at + each < lead ? at + each : lead);
}

/// The elements of x, T, where vector instructions may take them: lent memory may begin anywhere,
/// and plans, so rounding, would depend on where. `copied` holds them if they were moved.
template <class R, class T> const T* aligned(const tensor_core& x, storage& copied) {
  const T* const data = x.data<const T>();
  if (local::fft_is_aligned<R>(data)) return data;
  copied = storage::acquire(static_cast<std::size_t>(x.bytes()));
  copy_bytes(copied.data(), data, x.bytes());
  return static_cast<const T*>(copied.data());
}

/// Along the dims of x in a mask, elements T, complex; y = scale * sum of x exp(-+ ..). The dims of
/// y are those of x, in any order.
template <class T> struct fft_op {
  static constexpr bool on_host = true;
  unsigned along;
  bool forward;
  double scale;
  std::string_view call;
  static constexpr bool takes_complex = true;
  using real = part_of<T>;
  using number = std::complex<real>;

  void fill(results y, operands x) const {
    storage copied;
    if (x[0].elements() == 0) return;
    const auto* const from = reinterpret_cast<const number*>(aligned<real, T>(x[0], copied));
    auto* const to = reinterpret_cast<number*>(y[0].data<T>());
    local::fft_dims<real>(fft_loops_of(x[0], y[0], along), forward, static_cast<real>(scale), from,
                          to);
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const index_t scaled = scale != 1 ? 2 : 0;
    t.compute(fft_flops(x[0], along) + scaled * y[0].elements(),
              x[0].bytes() + (1 + scaled) * y[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    to.give(0, fft_op{fft_places_in(to.y(), to.x(0), along), !forward, scale, call}, to.ybar);
  }
};

/// What the two transforms between real numbers T and half their transform share. Along dim d, n
/// elements of dim `full` there and n / 2 + 1 of dim `half` here; and along the dims `more`.
template <class T> struct half_transform {
  int d;
  unsigned more;
  const dim_facts *full, *half;
  index_t n;
  double scale, middle;  // of all elements, and beside that of those between the ends
  std::string_view call;
  using number = std::complex<T>;

  constexpr index_t extent_of(const dim_facts* e) const {
    return same_dim(e, half) ? n / 2 + 1 : same_dim(e, full) ? n : dynamic;
  }
  constexpr index_t flops(const tensor_core& full_block, const tensor_core& half_block) const {
    return 5 * fft_passes(n) * full_block.elements() / 2 + fft_flops(half_block, more);
  }
  /// Is the first dim one of those that are transformed?
  bool takes_first() const { return d == 0 || (more & 1u) != 0; }
  /// The elements of the first dim of the real block in a part of it.
  index_t lead(const tensor_core& whole, index_t begin, index_t end) const {
    return d == 0 ? whole.local(0) : end - begin;
  }
  T ends() const { return static_cast<T>(scale); }
  T between() const { return static_cast<T>(scale * middle); }
  constexpr bool weighs() const { return scale != 1 || middle != 1; }
  constexpr half_transform transposed(double by) const {
    return {d, more, full, half, n, scale, middle * by, call};
  }
};
template <class T> struct from_half_op;

/// Real x to half of its forward transform, weighed.
template <class T> struct to_half_op : half_transform<T> {
  static constexpr bool on_host = true;
  using base = half_transform<T>;
  using number = typename base::number;
  static constexpr bool takes_complex = true;

  constexpr explicit to_half_op(const base& b) : base(b) {}
  void fill(results y, operands x) const {
    storage copied;
    if (x[0].elements() == 0) return;
    auto* const to = y[0].data<number>();
    const T* const from = aligned<T, T>(x[0], copied);
    const bool all = this->takes_first() || (this->more == 0 && !this->weighs());
    fft_in_parts(y[0], all, [&](index_t begin, index_t end) {
      number* const here = to + begin * y[0].stride(0);
      local::fft_to_half<T>(half_loops_of(x[0], y[0], x[0], this->d, this->lead(x[0], begin, end)),
                            from + begin * x[0].stride(0), here);
      if (this->more != 0)
        local::fft_dims<T>(fft_loops_of(y[0], y[0], this->more, end - begin), true, 1, here, here);
      if (this->weighs())
        local::fft_weigh_half<T>(half_lines_of(y[0], this->d, this->n, end - begin), this->ends(),
                                 this->between(), here, here);
    });
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const index_t passes = 1 + (this->more != 0 ? 2 : 0) + (this->weighs() ? 2 : 0);
    t.compute(this->flops(x[0], y[0]) + (this->weighs() ? 2 * y[0].elements() : 0),
              x[0].bytes() + passes * y[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    to.give(0, from_half_op<T>(this->transposed(0.5)), to.ybar);
  }
};

/// Half of a transform, weighed, to the real numbers of its backward transform. Imaginary parts
/// that no real numbers have, those at the ends once `more` is transformed, count for nothing.
template <class T> struct from_half_op : half_transform<T> {
  static constexpr bool on_host = true;
  using base = half_transform<T>;
  using number = typename base::number;
  static constexpr bool takes_complex = true;

  constexpr explicit from_half_op(const base& b) : base(b) {}
  void fill(results y, operands x) const {
    if (y[0].elements() == 0) return;
    storage scratch, copied;
    const auto* const from = reinterpret_cast<const number*>(
        this->more != 0 ? aligned<T, char>(x[0], copied) : x[0].data<const char>());
    fft_in_parts(x[0], this->takes_first(), [&](index_t begin, index_t end) {
      const auto bytes = static_cast<std::size_t>((end - begin) * x[0].stride(0)) * sizeof(number);
      if (begin == 0) scratch = storage::acquire(bytes);  // the first part is the longest
      auto* const part = static_cast<number*>(scratch.data());
      const local::half_lines l = half_lines_of(x[0], this->d, this->n, end - begin);
      const number* here = from + begin * x[0].stride(0);
      const bool alike = this->middle == 1 && this->more != 0;  // then a transform scales, too
      if (!alike)
        local::fft_weigh_half<T>(l, this->ends(), this->between(), here, part), here = part;
      if (this->more != 0)
        local::fft_dims<T>(fft_loops_of(x[0], x[0], this->more, end - begin), false,
                           alike ? this->ends() : T{1}, here, part);
      local::fft_real_ends<T>(l, part);
      local::fft_from_half<T>(
          half_loops_of(x[0], y[0], y[0], this->d, this->lead(y[0], begin, end)), part,
          y[0].data<T>() + begin * y[0].stride(0));
    });
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const index_t passes = 3 + (this->more != 0 ? 2 : 0);
    t.compute(this->flops(y[0], x[0]) + 2 * x[0].elements(), y[0].bytes() + passes * x[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const {
    to.give(0, to_half_op<T>(this->transposed(2)), to.ybar);
  }
};

// ---- rules --------------------------------------------------------------------------------------

/// Which numbers a transform takes: float, double, or complex ones of them.
enum class fft_takes : signed char { real, complex, both };
constexpr bool fft_takes_kind(fft_takes what, element_kind k) {
  const bool real = k == element_kind::float32 || k == element_kind::float64;
  const bool complex = k == element_kind::complex64 || k == element_kind::complex128;
  return (real && what != fft_takes::complex) || (complex && what != fft_takes::real);
}
/// Dims are there, whole and without halos.
constexpr outcome fft_dims_rule_of(const tensor_facts& x, dim_list along, bool whole,
                                   fft_takes what) {
  if (!fft_takes_kind(what, x.kind)) return blamed_place(fault_code::element_not_differentiable, 0);
  if (const int i = along.repeated(); i >= 0) return blamed(fault_code::dim_repeated, along[i]);
  for (int i = 0; i < along.size; ++i) {
    const int d = x.place_of(along[i]);
    if (d < 0) return blamed(fault_code::dim_not_in_tensor, along[i]);
    if (x.layout.halo[d].any()) return blamed(fault_code::dim_has_halo, along[i]);
    if (const int a = x.layout.axis_at(d, 0); whole && a >= 0)
      return blamed(fault_code::dim_is_split, along[i], a);
  }
  const int a = x.layout.first_partial(false);
  return a < 0 ? allowed(x.layout) : blamed_axis(fault_code::partial_operand, a);
}
/// Rule of a transform along D..., which are whole.
template <class... D> struct fft_rule : keeps_dims {
  using named = list<D...>;
  static constexpr outcome of(rule_operands x, dim_list) {
    return fft_dims_rule_of(x[0], dims_in<named>, true, fft_takes::both);
  }
};
/// The extent of a half, of static extents.
template <class Full, class Half>
inline constexpr bool is_half_of = !is_static_dim<Full> || !is_static_dim<Half> ||
                                   static_extent<Half> == static_extent<Full> / 2 + 1;

/// Rule of a transform from dim From to dim To, one of them Half, and along More...
template <fft_takes What, class From, class To, bool Fits, class... More> struct half_rule {
  using named = list<From, To, More...>;
  template <class First> struct dims : replaced_dims<From, To, First> {};
  static constexpr outcome of(rule_operands x, dim_list) {
    const outcome o = fft_dims_rule_of(x[0], dims_in<list<From, More...>>, true, What);
    if (!o.ok()) return o;
    if (x[0].place_of(&facts_of_dim<To>) >= 0)
      return blamed(fault_code::dim_already_in_tensor, &facts_of_dim<To>);
    if (!Fits) return blamed(fault_code::extents_differ, &facts_of_dim<From>, &facts_of_dim<To>);
    return o;
  }
};

}  // namespace dimesh::detail
