// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a scan run on cores? Each rank scans its own block. Where blocks before it cut the same
// dim, it first says what its block does to a carry, gets what those before do together (MPI_Exscan
// in the order of blocks), and begins with that. Transposes of scans are scans from the other end.
//
//   fold_scan_op<plus, float>{{}, {}, 1, "cumsum"}     x -> sums along dim 1
//   recurrence_op<float>{{}, 1, "linear_recurrence"}   a, b -> h
#pragma once

#include "dimesh/collective/exscan.hpp"
#include "dimesh/local/map.hpp"
#include "dimesh/local/scan.hpp"
#include "dimesh/op/map.hpp"
#include "dimesh/op/parts/apply_rule.hpp"
#include "dimesh/op/parts/arithmetic_functions.hpp"
#include "dimesh/op/parts/complex_parts.hpp"

namespace dimesh {

/// Which elements, and from which end.
struct scan_options {
  bool exclusive = false;  ///< those before an element, without itself
  bool reverse = false;  ///< from the last element to the first
};

namespace detail {

/// (A kernel's function is public: nvcc takes no other.)
template <class V> struct set_to {
  V value;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(V& x) const { x = value; }
};

/// A step along dim d of operands that have the same dims in the same order, elements T.
template <class Step, class T> struct scan_op {
  Step step;
  int d;
  bool reverse;
  std::string_view call;
  using total = local::scan_total<Step, T>;

  /// The axes that cut the dim, major first.
  struct cut {
    int axis[max_axes]{}, count = 0;
    unsigned mask = 0;
  };
  constexpr cut cut_of(const tensor_core& x) const {
    cut c;
    for (int level = 0, a = 0; (a = x.layout().axis_at(d, level)) >= 0; ++level) {
      if (x.sizes()[a] == 1) continue;
      c.axis[c.count++] = a;
      c.mask |= 1u << a;
    }
    return c;
  }
  constexpr local::lines lines_of(const tensor_core& x) const {
    local::lines l{1, x.local(d), 1, reverse};
    for (int i = 0; i < d; ++i) l.outer *= x.local(i);
    for (int i = d + 1; i < x.rank(); ++i) l.inner *= x.local(i);
    return l;
  }
  void fill(results y, operands x) const {
    const local::lines l = lines_of(x[0]);
    local::detail::scan_inputs<T> in{};
    for (int k = 0; k < Step::inputs; ++k) in.at[k] = x[k].template data<const T>();
    const cut c = cut_of(x[0]);
    if (l.count() == 0) return;
    if (c.count == 0) return scan_from(l, in, nullptr, 0, y[0]);
    const auto bytes = static_cast<std::size_t>(l.count()) * sizeof(total);
    const storage mine = storage::acquire(bytes), before = storage::acquire(bytes);
    auto* const own = static_cast<total*>(mine.data());
    auto* const from = static_cast<total*>(before.data());
    local::scan_totals(step, l, in, own);
    local::for_each(l.count(), set_to<total>{nothing()}, from);  // the first rank keeps these
    const local::join_totals<Step, T> join{step};
    collective::exscan(x[0].grid->in_order(c.axis, c.count, reverse),
                       collective::joined_by<total>(join), own, from, l.count());
    // The carry is what the blocks before give where nothing was before them: of affine ones the
    // value, since first() is 0.
    if constexpr (Step::affine)
      scan_from(l, in, &from->value, sizeof(total) / sizeof(T), y[0]);
    else
      scan_from(l, in, from, 1, y[0]);
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const cut c = cut_of(x[0]);
    const index_t n = lines_of(x[0]).count(), passes = c.count > 0 && n > 0 ? 2 : 1;
    if (passes == 2) {
      const auto bytes = n * static_cast<index_t>(sizeof(total));
      t.collective(event_kind::scan, c.mask, bytes, bytes);
    }
    t.compute(passes * Step::flops * x[0].elements(), y[0].bytes() + passes * bytes_of(x));
  }

 private:
  void scan_from(const local::lines& l, const local::detail::scan_inputs<T>& in, const T* start,
                 index_t apart, tensor_core& y) const {
    local::scan(step, l, in, start, apart, y.template data<T>());
  }
  constexpr total nothing() const {
    if constexpr (Step::affine && local::Scalable<T>)
      return {T(1), T(0), T(0)};
    else if constexpr (Step::affine)
      return {T(1), T(0)};
    else
      return step.first();
  }
};

/// An operand, as the transpose of a product with it reads it: conjugated where it is complex.
template <class T> constexpr decltype(auto) as_factor(const auto& to, const tensor_core& x) {
  if constexpr (is_complex<T>)
    return to.made(x.facts, conj_op<T>{}, x);
  else
    return (x);
}

/// The elements of x joined one after another.
template <class Join, class T> struct fold_scan_op : scan_op<local::fold_step<Join, T>, T> {
  using base = scan_op<local::fold_step<Join, T>, T>;
  static constexpr bool takes_complex =
      std::is_same_v<Join, local::plus> || std::is_same_v<Join, local::times>;

  constexpr fold_scan_op(const Join& by, const scan_options& o, int dim, std::string_view name)
      : base{{by, o.exclusive}, dim, o.reverse, name} {}
  static constexpr bool needs(int k, unsigned) {
    return !std::is_same_v<Join, local::plus> && k == 0;
  }
  constexpr void transpose(const auto& to) const {
    const auto& [by, exclusive] = this->step;
    if constexpr (std::is_same_v<Join, local::plus>) {
      to.give(0, fold_scan_op(by, {exclusive, !this->reverse}, this->d, this->call), to.ybar);
    } else {
      using earlier = typename local::joined_before<Join, T>::type;
      const earlier how = local::joined_before<Join, T>::of(by);
      const fold_scan_op<earlier, T> before(how, {true, this->reverse}, this->d, this->call);
      const tensor_core& x = as_factor<T>(to, to.x(0));
      to.give(0,
              scan_op<local::fold_pulled_step<earlier, T>, T>{
                  {how, exclusive}, this->d, !this->reverse, this->call},
              to.ybar, x, to.made(x.facts, before, x));
    }
  }
};

/// h = a h + b along dim d.
template <class T> struct recurrence_op : scan_op<local::recurrence_step<T>, T> {
  using base = scan_op<local::recurrence_step<T>, T>;
  static constexpr bool takes_complex = true;

  constexpr recurrence_op(const scan_options& o, int dim, std::string_view name)
      : base{{o.exclusive}, dim, o.reverse, name} {}
  static constexpr bool needs(int k, unsigned wanted) {
    return k == 0 || (k == 1 && (wanted & 1u) != 0);
  }
  constexpr void transpose(const auto& to) const {
    using product = map_op<multiply_function, T, T, T>;
    const bool exclusive = this->step.exclusive;
    const scan_op<local::recurrence_pulled_step<T>, T> back{
        {exclusive}, this->d, !this->reverse, this->call};
    const tensor_core& a = as_factor<T>(to, to.x(0));
    if (!to.wants(0)) return to.give(1, back, to.ybar, a);
    const tensor_core bar = to.made(to.x(1).facts->dual, back, to.ybar, a);
    const tensor_core& b = as_factor<T>(to, to.x(1));
    const tensor_core before =
        to.made(b.facts, recurrence_op({true, this->reverse}, this->d, this->call), a, b);
    to.pass(0, to.template made<3u>(to.x(0).facts->dual, product{{}, this->call}, bar, before));
    to.pass(1, bar);
  }
};

/// Rule of a scan along D; Whole: a rank must hold all of it; Addends: of sums yet to be made, too.
template <class D, bool Whole, bool Addends> struct scan_rule : keeps_dims {
  using named = list<D>;
  static constexpr outcome of(rule_operands x, dim_list out) {
    constexpr const dim_facts* dim = &facts_of_dim<D>;
    const int d = x[0].place_of(dim);
    if (d < 0) return blamed(fault_code::dim_not_in_tensor, dim);
    for (int k = 1; k < x.count; ++k)
      for (int i = 0; i < max_dims; ++i) {
        if (i < x[k].rank && x[0].place_of(x[k].dim[i]) < 0)
          return blamed(fault_code::dim_not_in_tensor, x[k].dim[i]);
        if (i < x[0].rank && x[k].place_of(x[0].dim[i]) < 0)
          return blamed(fault_code::dim_not_in_tensor, x[0].dim[i]);
      }
    if (const int k = foreign_operand(x); k >= 0) return blamed_place(fault_code::meshes_differ, k);
    for (int k = 0; k < x.count; ++k) {
      if (const int a = x[k].layout.first_partial(!Addends); a >= 0)
        return blamed_axis(fault_code::partial_operand, a);
      if (x[k].layout.halo[x[k].place_of(dim)].any()) return blamed(fault_code::dim_has_halo, dim);
      if (const int a = x[k].layout.axis_at(x[k].place_of(dim), 0); Whole && a >= 0)
        return blamed(fault_code::dim_is_split, dim, a);
    }
    return x.count == 1 ? allowed(x[0].layout) : join_operands(join_kind::nonlinear, x, out);
  }
};

}  // namespace detail
}  // namespace dimesh
