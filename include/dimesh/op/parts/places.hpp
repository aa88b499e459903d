// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a tensor get to a place of an axis, from there to another, and back to all its ranks?
// Five operations along one axis, closed under transposition. X(k): it lives at coordinate k alone.
//
//   place      replicated -> X(k)        free; transposed: addends
//   addends    X(k) -> partial           free, zeros elsewhere; transposed: place
//   send       X(j) -> X(k)              one message; transposed: the same, back
//   broadcast  X(k) -> replicated        transposed: reduce
//   reduce     partial -> X(k)           transposed: broadcast
#pragma once

#include "dimesh/collective/broadcast.hpp"
#include "dimesh/collective/reduce.hpp"
#include "dimesh/collective/send.hpp"
#include "dimesh/core/flight.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

/// The coordinate of axis a at which a tensor lives.
constexpr int place_on(const tensor_core& x, int a) { return x.layout().axis[a].at; }

template <class T> struct addends_op;

/// Along an axis where x is replicated, to one place of it: the other ranks forget it. Elements T.
template <class T> struct place_op {
  static constexpr int aliases = 0;
  static constexpr bool takes_complex = true;

  void fill(results, operands) const {}
  constexpr void cost(tally&, results, operands) const {}
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, addends_op<T>{}, to.ybar); }
};

/// From a place to addends, of which all but that place's are zeros. Elements T.
template <class T> struct addends_op {
  static constexpr std::string_view call = "place";
  static constexpr bool takes_complex = true;

  void fill(results y, operands x) const {
    if (x[0].away == 0)
      collective::copy(x[0].data<T>(), y[0].data<T>(), y[0].elements());
    else
      zero_bytes(y[0].memory.data(), y[0].bytes());
  }
  constexpr void cost(tally& t, results y, operands x) const {
    t.compute(0, y[0].bytes() + x[0].bytes());
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, place_op<T>{}, to.ybar); }
};

/// From one place of axis a to another, elements T.
template <class T> struct send_op {
  int a = 0;
  static constexpr bool takes_complex = true;

  void fill(results y, operands x) const { give(y, x, nullptr); }
  void start(results y, operands x, flight& f) const {
    const int from = place_on(x[0], a), to = place_on(y[0], a);
    f.axes = 1u << a;
    f.between = &x[0].grid->along(f.axes);
    f.peer = x[0].grid->coords()[a] == from ? to : from;
    give(y, x, &f.under_way);
  }
  void give(results y, operands x, collective::requests* later) const {
    const index_t n = x[0].away == 0 ? x[0].elements() : y[0].elements();
    collective::send(x[0].grid->along(1u << a), x[0].data<const T>(), y[0].data<T>(), n,
                     place_on(x[0], a), place_on(y[0], a), collective::most_per_call<T>, later);
  }
  bool only_messages(results y, operands x) const { return (x[0].away == 0) != (y[0].away == 0); }
  constexpr void cost(tally& t, results y, operands x) const {
    const index_t bytes = x[0].bytes();
    if (bytes > 0 && place_on(x[0], a) != place_on(y[0], a))
      t.collective(event_kind::message, 1u << a, bytes, bytes);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, send_op{a}, to.ybar); }
};

template <class T> struct broadcast_op;

/// The sum of the addends along axis a, at one place of it. Elements T.
template <class T> struct reduce_op {
  int a = 0;
  static constexpr event_kind kind = event_kind::reduce;
  static constexpr bool takes_complex = true;

  constexpr bool is_silent(const tensor_core& x) const {
    return (x.once >> a & 1u) != 0 || x.sizes()[a] == 1;
  }
  void fill(results y, operands x) const { give(y, x, nullptr); }
  void start(results y, operands x, flight& f) const {
    if (!is_silent(x[0])) f.axes = 1u << a;
    give(y, x, &f.under_way);
  }
  void give(results y, operands x, collective::requests* later) const {
    if (!is_silent(x[0]))
      collective::reduce(x[0].grid->along(1u << a), x[0].data<const T>(), y[0].data<T>(),
                         x[0].elements(), place_on(y[0], a), collective::most_per_call<T>, later);
    else if (y[0].away == 0)
      collective::copy(x[0].data<T>(), y[0].data<T>(), y[0].elements());
  }
  constexpr void cost(tally& t, results, operands x) const {
    if (const index_t bytes = x[0].bytes(); bytes > 0 && !is_silent(x[0]))
      t.collective(event_kind::reduce, 1u << a, bytes, bytes);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  constexpr void transpose(const auto& to) const { to.give(0, broadcast_op<T>{a, 0}, to.ybar); }
};

/// What one rank along axis a holds, to all of them: the one at x's place, or at coordinate `root`
/// where x is replicated by type. Elements T.
template <class T> struct broadcast_op {
  int a = 0, root = 0;
  static constexpr event_kind kind = event_kind::broadcast;
  static constexpr bool takes_complex = true;

  constexpr bool is_placed(const tensor_core& x) const {
    return x.layout().axis[a].what == use::placed;
  }
  constexpr index_t from(const tensor_core& x) const {
    return is_placed(x) ? place_on(x, a) : root;
  }
  void fill(results y, operands x) const { give(y, x, nullptr); }
  void start(results y, operands x, flight& f) const {
    f.axes = 1u << a;
    give(y, x, &f.under_way);
  }
  void before_messages(results y, operands x) const {
    if (x[0].grid->coords()[a] == from(x[0]))
      collective::copy(x[0].data<T>(), y[0].data<T>(), y[0].elements());
  }
  void give(results y, operands x, collective::requests* later) const {
    const auto& grid = *x[0].grid;
    T* const to = y[0].data<T>();
    const index_t n = y[0].elements();
    before_messages(y, x);
    collective::broadcast(grid.along(1u << a), to, n, static_cast<int>(from(x[0])),
                          collective::most_per_call<T>, later);
  }
  constexpr void cost(tally& t, results y, operands x) const {
    const index_t bytes = y[0].bytes();
    const bool gives = is_placed(x[0]) ? x[0].away == 0 : root == 0;
    if (x[0].sizes()[a] > 1 && bytes > 0)
      t.collective(event_kind::broadcast, 1u << a, gives ? bytes : 0, bytes);
  }
  static constexpr bool needs(int, unsigned) { return false; }
  /// Where x is what its type says, a broadcast of what is replicated changes nothing: nor does its
  /// transpose.
  constexpr void transpose(const auto& to) const {
    if (is_placed(to.x(0)))
      to.give(0, reduce_op<T>{a}, to.ybar);
    else
      to.pass(0, to.ybar);
  }
};

/// x at coordinate `to` of axis a.
constexpr outcome placed_outcome(const tensor_facts& x, int a, index_t to) {
  if (to < 0 || to >= max_places || (x.axis_sizes()[a] != dynamic && to >= x.axis_sizes()[a]))
    return blamed_axis(fault_code::place_not_on_axis, a);
  outcome o = allowed(x.layout);
  o.layout.set_placed(a, static_cast<int>(to));
  return o;
}
/// Along axis A it is of use `From` (of a place: at coordinate J, or anywhere if that is -1); then
/// at coordinate K.
template <class A, use From, index_t J, index_t K> struct to_place_rule : keeps_dims {
  using axes = list<A>;
  static constexpr outcome of(rule_operands x, dim_list) {
    const int a = x[0].axis_of(type_number<A>);
    if (a < 0) return blamed_place(fault_code::axis_not_in_mesh, 0);
    const axis_use u = x[0].layout.axis[a];
    if (u.what != From || (From == use::placed && J >= 0 && u.at != J))
      return blamed_axis(From == use::placed    ? fault_code::axis_not_placed
                         : From == use::partial ? fault_code::axis_not_partial
                                                : fault_code::axis_not_replicated,
                         a);
    if (From == use::partial && !element_is_summable(x[0].kind))
      return blamed_place(fault_code::element_not_summable, 0);
    return placed_outcome(x[0], a, K);
  }
  static constexpr bool element_is_summable(element_kind k) {
    return k != element_kind::other && k != element_kind::boolean;
  }
};

}  // namespace dimesh::detail
