// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order does an attention take the turns of its outer loops, and which threads take them?
// Those that share keys and values come one after the other, on one thread.
//
//   in_turns<Space>(x, scratch, size, [&](index_t first, index_t last, float* room) {
//     for_each_turn(x, first, last, [&](const attention_problem::loop& offsets) { ... });
//   });
#pragma once

#include <algorithm>
#include <type_traits>

#include "dimesh/local/attention_tile.hpp"
#include "dimesh/local/pieces.hpp"

namespace dimesh::local::detail {
inline namespace DIMESH_REGISTERS {

/// Calls f(loop offsets) for the turns [first, last) of the outer loops; offsets as a loop of
/// extent 1.
template <class F>
void for_each_turn(const attention_problem& x, index_t first, index_t last, const F& f) {
  if (first >= last) return;
  attention_problem::loop o;
  const auto move = [&o](const attention_problem::loop& l, index_t turns) {
    o.q += turns * l.q, o.k += turns * l.k, o.v += turns * l.v, o.log += turns * l.log;
    o.draw += turns * l.draw, o.length += turns * l.length;
    o.query_id += turns * l.query_id, o.key_id += turns * l.key_id;
  };
  index_t at[max_dims] = {}, rest = first;
  o.draw = x.first_draw;
  for (int i = x.outer - 1; i >= 0; rest /= x.loops[i--].extent) {
    at[i] = rest % x.loops[i].extent;
    move(x.loops[i], at[i]);
  }
  for (index_t turn = first;;) {
    f(o);
    if (++turn == last) return;
    for (int i = x.outer - 1; i >= 0; --i) {
      const bool wraps = ++at[i] == x.loops[i].extent;
      move(x.loops[i], wraps ? 1 - x.loops[i].extent : 1);
      if (!wraps) break;
      at[i] = 0;
    }
  }
}

/// x with the loops that keys and values lack inside, so that what is prepared for a head of keys
/// serves all that share it.
constexpr attention_problem shared_keys_last(const attention_problem& x) {
  attention_problem y = x;
  int n = 0;
  for (const bool shared : {false, true})
    for (int i = 0; i < x.outer; ++i)
      if ((x.loops[i].k == 0 && x.loops[i].v == 0) == shared) y.loops[n++] = x.loops[i];
  return y;
}
/// Runs of turns of x, ordered so: those that share keys or values are one.
constexpr index_t turns_apart(const attention_problem& x) {
  index_t apart = 1;
  for (int i = 0; i < x.outer && x.loops[i].k != 0 && x.loops[i].v != 0; ++i)
    apart *= x.loops[i].extent;
  return apart;
}

/// In how many pieces threads of a host take the turns of x, ordered so.
template <class Space> constexpr index_t pieces_of_turns(const attention_problem& x) {
  using host = host_of<Space>;
  if constexpr (runs_as_call<host>) {
    return 1;
  } else {
    if (std::is_constant_evaluated()) return 1;  // a layout's cost, where no thread is known yet
    return std::clamp<index_t>(turns_apart(x), 1, pieces<host>::at_once());
  }
}
/// Elements of the scratch of one piece that needs n, which ends with a line of cache.
template <class T> constexpr index_t scratch_of_piece(index_t n) {
  return rounded_up(n, index_t(64 / sizeof(T)));
}
/// Elements of the scratch of all of them, where one needs n.
template <class T, class Space>
constexpr index_t scratch_of_turns(const attention_problem& x, index_t n) {
  return pieces_of_turns<Space>(shared_keys_last(x)) * scratch_of_piece<T>(n);
}

/// work(first, last, room) for all turns of x, whose loops shared_keys_last has ordered, on the
/// threads of a host: turns that share keys or values stay together. Each piece has a room of n
/// elements in scratch of scratch_of_turns(x, n): threads that fetched their own could not throw.
template <class Space, class T, class Work>
void in_turns(const attention_problem& x, T* scratch, index_t n, const Work& work) {
  if (x.turns() == 0) return;
  const index_t count = pieces_of_turns<Space>(x);
  if constexpr (runs_as_call<host_of<Space>>) {
    work(index_t(0), x.turns(), scratch);
  } else {
    const index_t apart = turns_apart(x), together = x.turns() / apart;
    launch<host_of<Space>>(count, [&](index_t p) {
      work(apart * p / count * together, apart * (p + 1) / count * together,
           scratch + p * scratch_of_piece<T>(n));
    });
  }
}

/// One turn of the loops of an attention: with its own number of keys and its own ids.
class attention_turn {
 public:
  explicit attention_turn(const attention_problem& x) : all_(x), now_(x) {
    for (int i = 0; i < x.outer; ++i)
      shares_keys_ |= x.loops[i].k == 0 && x.loops[i].v == 0 && x.loops[i].length != 0;
  }
  const attention_problem& at(const attention_problem::loop& o) {
    if (all_.lengths) now_.sees.keys = std::clamp(all_.lengths[o.length], index_t(0), all_.keys);
    if (all_.ids.any())
      now_.ids = {all_.ids.queries + o.query_id, all_.ids.step, all_.ids.keys + o.key_id};
    return now_;
  }
  /// What to prepare keys for: this turn's, where all turns that share the keys see as many.
  const attention_problem& of_keys() const { return shares_keys_ ? all_ : now_; }

 private:
  const attention_problem& all_;
  attention_problem now_;
  bool shares_keys_ = false;
};

}  // namespace DIMESH_REGISTERS
}  // namespace dimesh::local::detail
