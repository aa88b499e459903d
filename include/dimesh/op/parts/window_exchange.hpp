// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the windows of a rank's results see of an array that is split where they move? A box: the
// run from the first to the last element along each dim. Whatever of it lies on other ranks comes
// in one exchange, corners of several dims too; each rank gets halos of its own widths, none where
// its windows see none. Back, what has been added up for others' elements goes to them.
//
//   windows of 3 taps, stride 2, over blocks [0, 8) and [8, 16), `same`:
//     results [0, 4) see [0, 9): one element comes from behind; results [4, 8) see [8, 16): none
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "dimesh/collective/neighbors.hpp"
#include "dimesh/core/plans.hpp"
#include "dimesh/local/convolution.hpp"
#include "dimesh/local/copy.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

/// A window below the types: its dims, by local::window_role, and how it moves.
struct window_dims {
  const dim_facts* dim[3];

  constexpr const dim_facts* of(local::window_role r) const { return dim[static_cast<int>(r)]; }
};

/// Windows, by dims and moves over whole dims.
struct window_set {
  static constexpr int most = local::convolution::max_windows;
  int count = 0;
  window_dims dims[most]{};
  local::window_loop moves[most]{};  // without strides of arrays

  constexpr void add(const window_dims& d, const local::window_loop& m) {
    dims[count] = d;
    moves[count++] = m;
  }
  constexpr index_t extent_of(const dim_facts* d, local::window_role r) const {
    for (int i = 0; i < count; ++i)
      if (same_dim(d, dims[i].of(r))) return moves[i].extent[static_cast<int>(r)];
    return dynamic;
  }
};

/// The elements in the role `of` that meet a block of those in the other one (array, result): from
/// the first to the last of them.
constexpr block met_by(const local::window_loop& m, local::window_role of, const block& b) {
  const auto clamped = [](index_t k, index_t n) { return k < 0 ? 0 : k < n ? k : n; };
  const index_t last = b.offset + b.length - 1;
  index_t begin = 0, end = 0;
  if (of == local::window_role::array) {
    begin = clamped(m.place(b.offset, 0), m.array());
    end = clamped(m.place(last, m.taps() - 1) + 1, m.array());
  } else {
    const index_t low = b.offset + m.before - m.dilation * (m.taps() - 1), high = last + m.before;
    begin = clamped(low <= 0 ? 0 : (low + m.stride - 1) / m.stride, m.results());
    end = clamped(high < 0 ? 0 : high / m.stride + 1, m.results());
  }
  return {begin, b.length > 0 && end > begin ? end - begin : 0};
}

/// Parts of a rank's box that go to others, or come from them, one after another in a buffer.
struct window_side {
  std::vector<collective::message> messages;
  std::vector<box> part;
  index_t elements = 0;

  void add(index_t r, const box& b) {
    if (b.size() == 0) return;
    messages.push_back({static_cast<int>(r), {elements, b.size()}});
    part.push_back(b);
    elements += b.size();
  }
};
/// Of each window: where its dims stand, extents, stride, dilation and elements before.
using window_numbers = std::array<index_t, 8 * window_set::most>;
/// A part of a rank's block of results, say, and what its windows see, in global indices.
struct window_part {
  box of, seen;
};

/// What a rank gives others of its block, and takes of theirs, for the sake of windows. The parts
/// of its block of results that see none of theirs, and some, are worked out when they are wanted.
struct window_plan {
  window_numbers windows{};
  window_side given, taken;
  mutable bool has_parts = false;
  mutable window_part inside;
  mutable std::vector<window_part> slabs;
};
/// The plans between two tensors: one for each way in which windows have gone over them lately.
struct window_plans : move_plan {
  static constexpr std::size_t most = 32;
  mutable std::vector<std::unique_ptr<const window_plan>> all;
};

/// What windows see of x, in the role `of`, from the blocks of y in the other one. Where no dim of
/// windows is split that is x's own block.
class windowed_view {
  // Defined before its callers, so that Clang has it where they are constant expressions.
  /// f(rank, elements that it sees of this rank's block, elements of its block that are seen here)
  template <class F> constexpr void for_each_other(const F& f) const {
    if (talk_ == 0) return;
    const box mine = own(me_);
    for (index_t r = 0; r < group_size(talk_, at_.sizes); ++r)
      if (r != me_) f(r, intersection(mine, seen(r)).size(), intersection(own(r), seen_).size());
  }

 public:
  constexpr windowed_view(const window_set& w, local::window_role of, const tensor_core& x,
                          const tensor_core& y)
      : w_(w), of_(of), x_(x), y_(y), at_(placement_of(x)), from_(placement_of(y)) {
    for (int i = 0; i < w.count; ++i)
      talk_ |= x.layout().axes_of(x.facts->place_of(w.dims[i].of(of_)));
    talk_ = talking(talk_, at_.sizes);
    for (int a = 0; a < x.layout().axes; ++a)
      if (talk_ >> a & 1u) me_ = me_ * at_.sizes[a] + (at_.coords != nullptr ? at_.coords[a] : 0);
    seen_ = seen(me_);
  }

  /// Are there others to talk to?
  constexpr bool travels() const { return talk_ != 0; }
  constexpr const box& here() const { return seen_; }
  /// This rank's block of y, and what its windows see.
  constexpr window_part whole() const { return {from_.peers(y_.layout(), me_, talk_), seen_}; }
  /// A part of this rank's block of y.
  constexpr window_part part(const box& of) const { return {of, seen_from(own(me_), of)}; }
  /// This rank's block of x.
  constexpr box own() const { return own(me_); }
  /// Where windows' dims stand in x and in y.
  constexpr int seen_dim(int i) const { return x_.facts->place_of(w_.dims[i].of(of_)); }
  constexpr int dim_from(int i) const {
    return y_.facts->place_of(w_.dims[i].dim[2 - static_cast<int>(of_)]);
  }
  constexpr int count() const { return w_.count; }
  /// What window i of a block of y sees.
  constexpr block seen_along(int i, const block& b) const { return met_by(w_.moves[i], of_, b); }
  const communicator& others() const { return x_.grid->along(talk_); }
  /// A window's moves over a part.
  constexpr local::window_loop local_moves(int i, const window_part& part) const {
    local::window_loop m = w_.moves[i];
    const int seen = static_cast<int>(of_), other = 2 - seen;
    const int dx = seen_dim(i), dy = dim_from(i);
    index_t first[3] = {};
    first[seen] = part.seen.begin[dx], first[other] = part.of.begin[dy];
    m.extent[seen] = part.seen.length[dx], m.extent[other] = part.of.length[dy];
    m.before += first[0] - m.stride * first[2];
    return m;
  }
  constexpr local::window_loop local_moves(int i) const { return local_moves(i, whole()); }
  /// The messages that the rank at the origin sends; back: those that answer them. (Asked of data,
  /// too, where checked builds want to hear the same on all ranks: does anything travel?)
  constexpr void cost(tally& t, bool back = false) const {
    windowed_view origin = *this;
    origin.at_.coords = origin.from_.coords = nullptr;
    origin.me_ = 0;
    origin.seen_ = origin.seen(0);
    origin.for_each_other([&](index_t, index_t given, index_t taken) {
      const index_t bytes = (back ? taken : given) * x_.facts->element;
      if (bytes > 0) t.collective(event_kind::message, talk_, bytes, bytes);
    });
  }
  /// Bytes that are copied beside.
  constexpr index_t copied() const { return travels() ? 2 * seen_.size() * x_.facts->element : 0; }

  /// What is seen of elements that lie as x does, row-major: these themselves, or in `room`.
  template <class T> const T* fetch(const T* x, const char* call, storage& room) const {
    if (!travels()) return x;
    room = storage::acquire(static_cast<std::size_t>(seen_.size()) * sizeof(T));
    T* const to = static_cast<T*>(room.data());
    const box mine = own(me_), kept = intersection(mine, seen_);
    move<false>(kept, mine, x, seen_, to);
    send<false>(mine, x, seen_, to, call);
    return to;
  }
  /// Room for sums over what is seen: the elements of x themselves, or in `room`.
  template <class T> T* sums(T* x, storage& room) const {
    if (!travels()) return x;
    room = storage::acquire(static_cast<std::size_t>(seen_.size()) * sizeof(T));
    return static_cast<T*>(room.data());
  }
  /// x is what all ranks' sums hold of its elements, added up.
  template <class T> void fold(const T* sums, T* x, const char* call) const {
    if (!travels()) return;
    const box mine = own(me_), kept = intersection(mine, seen_);
    zero_bytes(x, mine.size() * static_cast<index_t>(sizeof(T)));
    move<true>(kept, seen_, sums, mine, x);
    send<true>(seen_, sums, mine, x, call);
  }

  /// A part of box `from` to its place in box `to`.
  template <bool Add, class T>
  static void move(const box& part, const box& from, const T* x, const box& to, T* y) {
    if (part.size() == 0) return;
    const strides x_stride(from), y_stride(to);
    x += offset_in(from, part), y += offset_in(to, part);
    if constexpr (Add)
      local::add_box(part.rank, part.length, x, x_stride.data(), y, y_stride.data());
    else
      local::copy_box(part.rank, part.length, x, x_stride.data(), y, y_stride.data());
  }
  /// What goes to others, of elements that lie as box `from`, one after another.
  template <class T>
  static void pack(const window_side& sent, const box& from, const T* x, T* packed) {
    for (std::size_t i = 0; i < sent.part.size(); ++i) {
      const box& part = sent.part[i];
      local::pack(part.rank, part.length, x + offset_in(from, part), strides(from).data(),
                  packed + sent.messages[i].part.at);
    }
  }
  /// Worked out at the first use of these windows over these layouts and extents.
  const window_plan& plan() const {
    const plan_key key(&kind_of_plan<window_plans>, x_, y_, {static_cast<index_t>(of_)});
    std::shared_ptr<const move_plan>& at = place_of_plan(key, x_, y_);
    if (!at) at = std::make_shared<const window_plans>();
    auto& all = static_cast<const window_plans&>(*at).all;
    const window_numbers n = numbers();
    for (const auto& p : all)
      if (p->windows == n) return *p;
    auto made = std::make_unique<window_plan>();
    made->windows = n;
    const box mine = own(me_);
    for (index_t r = 0; r < group_size(talk_, at_.sizes); ++r)
      if (r != me_) {
        made->given.add(r, intersection(mine, seen(r)));
        made->taken.add(r, intersection(own(r), seen_));
      }
    plans_worked_out.fetch_add(1, std::memory_order_relaxed);
    if (all.size() == window_plans::most) all.erase(all.begin());
    return *all.emplace_back(std::move(made));
  }

 private:
  constexpr box own(index_t r) const { return at_.peers(x_.layout(), r, talk_); }
  constexpr box seen(index_t r) const {
    return talk_ == 0 ? own(r) : seen_from(own(r), from_.peers(y_.layout(), r, talk_));
  }
  /// What the windows of a part of y see, of which the rank has block b.
  constexpr box seen_from(box b, const box& results) const {
    for (int i = 0; i < w_.count; ++i) {
      const int dx = seen_dim(i), dy = dim_from(i);
      const block m = seen_along(i, {results.begin[dy], results.length[dy]});
      b.begin[dx] = m.offset, b.length[dx] = m.length;
    }
    return b;
  }
  /// Parts of this rank's box `from` to those who hold (Back) or see them; theirs come into `to`.
  template <bool Back, class T>
  void send(const box& from, const T* x, const box& to, T* y, const char* call) const {
    const window_plan& p = plan();
    const window_side &sent = Back ? p.taken : p.given, &taken = Back ? p.given : p.taken;
    const storage out = storage::acquire(static_cast<std::size_t>(sent.elements) * sizeof(T)),
                  in = storage::acquire(static_cast<std::size_t>(taken.elements) * sizeof(T));
    T *const packed = static_cast<T*>(out.data()), *const got = static_cast<T*>(in.data());
    pack(sent, from, x, packed);
    collective::exchange_some(others(), packed, sent.messages, got, taken.messages, call,
                              {&out, &in});
    for (std::size_t i = 0; i < taken.part.size(); ++i) {
      const box& part = taken.part[i];
      move<Back>(part, part, got + taken.messages[i].part.at, to, y);
    }
  }
  window_numbers numbers() const {
    window_numbers n{};
    auto at = n.begin();
    for (int i = 0; i < w_.count; ++i) {
      const local::window_loop& m = w_.moves[i];
      for (const index_t v : {index_t{seen_dim(i)}, index_t{dim_from(i)}, m.extent[0], m.extent[1],
                              m.extent[2], m.stride, m.dilation, m.before})
        *at++ = v;
    }
    return n;
  }
  const window_set& w_;
  local::window_role of_;
  const tensor_core &x_, &y_;
  placement at_, from_;
  unsigned talk_ = 0;
  index_t me_ = 0;
  box seen_;
};

}  // namespace dimesh::detail
