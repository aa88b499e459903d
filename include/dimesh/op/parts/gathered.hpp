// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do the blocks of a tensor become a vector on one rank? Blocks that are runs of memory MPI
// reads where they lie, and where they are the whole one after another, it writes the vector
// itself; else they are packed, and go by way of a buffer.
//
//   gathered<float> whole(everyone, core, 0);   // sends, on all ranks
//   whole.values()                              // all elements on rank 0, none elsewhere
#pragma once

#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

#include "dimesh/collective/gather.hpp"
#include "dimesh/core/flight.hpp"
#include "dimesh/core/plans.hpp"
#include "dimesh/local/copy.hpp"
#include "dimesh/memory/slab.hpp"
#include "dimesh/op/parts/transition.hpp"

namespace dimesh::detail {

/// The box that this rank stores: its block within its halos.
inline box stored_box(const placement& where, const table& t) {
  box b = where.own(t);
  for (int d = 0; d < b.rank && !b.none; ++d) {
    b.begin[d] -= t.halo[d].before;
    b.length[d] += t.halo[d].both();
  }
  return b;
}

/// What every rank of the mesh contributes to the whole on `root`: its box, or nothing where a rank
/// with the root's own coordinates along axes of replication has a copy of it.
struct contributions : move_plan {
  box whole;
  std::vector<box> part;
  std::vector<index_t> count;
  bool from_others = false;  // the root needs something that it has not
  bool in_order = true;  // the parts one after another are the whole
  index_t before_root = 0;  // elements of the ranks before it
  index_t total = 0;
  bool fits = false;  // MPI can count them:
  std::vector<int> units, at;
  // Of this rank: its block, in what it stores.
  box own, stored;
  index_t first = 0;
  bool is_one_run = true;

  contributions(const tensor_core& x, const tensor_core&, const plan_hints& root)
      : contributions(placement_of(x), x.layout(), static_cast<int>(root[0])) {
    const collective::wire w{x.facts->kind, x.facts->element};
    fits = total <= w.most_per_call();
    index_t before = 0;
    for (std::size_t r = 0; fits && r < count.size(); before += count[r++]) {
      units.push_back(static_cast<int>(count[r] * w.units()));
      at.push_back(static_cast<int>(before * w.units()));
    }
  }
  contributions(const placement& where, const table& t, int root)
      : whole(where.whole()), own(where.own(t)), stored(stored_box(where, t)) {
    const unsigned all = (1u << t.axes) - 1;
    const peer home(root, all, where.sizes, nullptr);
    index_t before = 0;
    for (index_t r = 0; r < group_size(all, where.sizes); ++r) {
      const peer p(r, all, where.sizes, nullptr);
      bool copy = false;
      for (int a = 0; a < t.axes; ++a)
        copy = copy || (t.axis[a].what != use::split && t.axis[a].what != use::placed &&
                        p.coords[a] != home.coords[a]);
      if (r == root) before_root = before;
      part.push_back(where.peers(t, r, all));
      count.push_back(copy ? 0 : part.back().size());
      if (count.back() == 0) continue;
      from_others = from_others || r != root;
      in_order = in_order && is_run(whole, part.back()) && offset_in(whole, part.back()) == before;
      before += count.back();
    }
    total = before;
    if (own.none) return;
    first = offset_in(stored, own);
    is_one_run = is_run(stored, own);
  }
};

template <class T> storage room_for(index_t n) {
  return storage::acquire(static_cast<std::size_t>(n) * sizeof(T));
}
template <class T> std::vector<T> to_vector(const T* x, index_t n) {
  const auto count = static_cast<std::size_t>(n);
  Kokkos::fence();
  if constexpr (std::is_same_v<T, bool>) {  // whose vector has no array
    const std::unique_ptr<T[]> host(new T[count]);
    copy_to_host(host.get(), x, n);
    return std::vector<T>(host.get(), host.get() + count);
  } else {
    std::vector<T> host(count);
    copy_to_host(host.data(), x, n * static_cast<index_t>(sizeof(T)));
    return host;
  }
}
/// May code of the host, and kernels, go from where this thread's tensors lie to vectors?
inline bool vectors_are_near() {
  return facts_of_space(space_now).is_near && runs_on_host_threads(space_now);
}

/// Who contributes what of x, worked out once.
inline const contributions& contributions_to(int root, const tensor_core& x) {
  return plan_of<contributions>(x, x, {root});
}

/// The whole on the root of the blocks of x, in which nothing is partial.
template <class T> struct gathered {
  gathered() = default;
  /// Sends, or, with `later`, begins to; it keeps all that MPI reads and writes, but the vector.
  gathered(const communicator& everyone, const tensor_core& of, int root, flight* later = nullptr)
      : from(&contributions_to(root, of)), here(everyone.rank() == root), near(vectors_are_near()) {
    const T* x = of.data<const T>() + from->first;
    // Others may write the program's own memory meanwhile.
    if (!from->is_one_run || (later != nullptr && of.memory.lent_to_write())) x = packed(x);
    T* parts = here ? begin_vector(x) : nullptr;
    in_vector = parts != nullptr;
    if (in_vector) {
      x = parts + from->before_root;
    } else if (here) {
      received = room_for<T>(from->whole.size());
      parts = static_cast<T*>(received.data());
    }
    if (later != nullptr) keep_for(*later, everyone, of);
    if (from->from_others)
      send(everyone, x, parts, root, later != nullptr ? &later->under_way : nullptr);
    else if (here && !in_vector)
      collective::copy(x, parts, from->own.size());
  }
  /// On the root all elements in the order of the dims, once they are there; empty elsewhere.
  std::vector<T> values() {
    if (!here || in_vector) return std::move(whole);
    const T* const parts = static_cast<const T*>(received.data());
    if (near && from->in_order) {
      reserve();
      whole.assign(parts, parts + from->whole.size());
      return std::move(whole);
    }
    if constexpr (has_array)
      if (near) {
        reserve();
        whole.resize(static_cast<std::size_t>(from->whole.size()));
        put_in_order(parts, whole.data());
        return std::move(whole);
      }
    if (from->in_order) return to_vector(parts, from->whole.size());
    const storage ordered = room_for<T>(from->whole.size());
    put_in_order(parts, static_cast<T*>(ordered.data()));
    return to_vector(static_cast<const T*>(ordered.data()), from->whole.size());
  }

  /// Where MPI writes it, all of the vector so far: it stays where it is when it is moved.
  std::vector<T> whole;

 private:
  static constexpr bool has_array = !std::is_same_v<T, bool>;

  void send(const communicator& everyone, const T* x, T* parts, int root,
            collective::requests* later) const {
    if (!from->fits) return collective::gather_v(everyone, x, from->count.data(), parts, root);
    const index_t n = from->count[static_cast<std::size_t>(everyone.rank())];
    collective::gather_counted(everyone, collective::wire_of<T>, collective::bytes_of(x), n,
                               from->total, collective::bytes_of(parts),
                               {nullptr, nullptr, from->units.data(), from->at.data()}, root,
                               later);
  }
  void keep_for(flight& f, const communicator& everyone, const tensor_core& of) const {
    f.plan = from->shared_from_this();
    f.x = of;
    f.out = block;
    f.in = received;
    f.kind = event_kind::gather;
    f.axes = from->from_others ? everyone.axes() : 0;
  }
  const T* packed(const T* x) {
    const box& own = from->own;
    block = room_for<T>(own.size());
    T* const to = static_cast<T*>(block.data());
    if (!own.none) local::pack(own.rank, own.length, x, strides(from->stored).data(), to);
    return to;
  }
  /// Where nothing has to be ordered: a vector for MPI to write to, with x, the root's part, which
  /// is never a copy of another's, in its place. Else null.
  T* begin_vector(const T* x) {
    if constexpr (has_array)
      if (near && from->in_order) {
        reserve();
        whole.resize(static_cast<std::size_t>(from->before_root));
        whole.insert(whole.end(), x, x + from->own.size());
        whole.resize(static_cast<std::size_t>(from->whole.size()));
        return whole.data();
      }
    return nullptr;
  }
  /// A large vector is fresh memory each time, and small pages of it take longer to get than to
  /// fill.
  void reserve() {
    whole.reserve(static_cast<std::size_t>(from->whole.size()));
    if constexpr (has_array) wish_huge_pages(whole.data(), whole.capacity() * sizeof(T));
  }
  void put_in_order(const T* parts, T* to) const {
    const strides stride(from->whole);
    for (std::size_t r = 0; r < from->part.size(); parts += from->count[r++])
      if (from->count[r] > 0)
        local::unpack(from->whole.rank, from->part[r].length, parts,
                      to + offset_in(from->whole, from->part[r]), stride.data());
  }
  const contributions* from = nullptr;
  bool here = false, near = false;
  bool in_vector = false;  // all of it, or on its way there
  storage block, received;
};

}  // namespace dimesh::detail
