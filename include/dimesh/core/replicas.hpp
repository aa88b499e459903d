// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do the ranks that a layout says hold the same block hold the same block? Checked builds compare:
// the operands of every operation that communicates, what leaves for one rank, and the parameters
// and gradients of an optimizer's step. Ranks exchange a hash of 8 bytes a tensor; where hashes
// differ, they find the first element that does.
//
//   require_replicas("complete", "operand 1", core)      // throws dimesh::error on all these ranks
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "dimesh/core/operation.hpp"
#include "dimesh/detail/agreement.hpp"
#include "dimesh/detail/writes_memory.hpp"

namespace dimesh::detail {

/// Axes of several ranks along which x is replicated.
inline unsigned replica_axes(const tensor_core& x) {
  unsigned axes = 0;
  for (int a = 0; a < x.layout().axes; ++a)
    if (x.layout().axis[a].what == use::replicated && x.sizes()[a] > 1) axes |= 1u << a;
  return axes;
}

/// Bytes of elements on the host.
inline std::vector<std::byte> bytes_on_host(const tensor_core& x) {
  std::vector<std::byte> out(static_cast<std::size_t>(x.bytes()));
  Kokkos::fence();
  const in_space here(x.facts->space);
  copy_to_host(out.data(), x.memory.data(), x.bytes());
  return out;
}

/// Of real numbers: the same bits, both NaN, or both zero. Which NaN a sum gives depends on the
/// order in which a rank adds.
template <class T> bool same_numbers(const std::byte* a, const std::byte* b, int count) {
  for (int i = 0; i < count; ++i) {
    T x, y;
    std::memcpy(&x, a + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    std::memcpy(&y, b + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    if (!(x == y || (std::isnan(x) && std::isnan(y)))) return false;
  }
  return true;
}
inline bool same_element(element_kind kind, const std::byte* a, const std::byte* b,
                         std::size_t size) {
  if (std::memcmp(a, b, size) == 0) return true;
  switch (kind) {
    case element_kind::float32:
      return same_numbers<float>(a, b, 1);
    case element_kind::float64:
      return same_numbers<double>(a, b, 1);
    case element_kind::complex64:
      return same_numbers<float>(a, b, 2);
    case element_kind::complex128:
      return same_numbers<double>(a, b, 2);
    case element_kind::long_double:
      return same_numbers<long double>(a, b, 1);  // of which some bytes mean nothing
    case element_kind::half:
    case element_kind::bfloat16: {
      std::uint16_t x, y;
      std::memcpy(&x, a, 2), std::memcpy(&y, b, 2);
      const unsigned inf = kind == element_kind::half ? 0x7c00u : 0x7f80u;
      const bool both_nan = (x & 0x7fffu) > inf && (y & 0x7fffu) > inf;
      return both_nan || ((x | y) & 0x7fffu) == 0;
    }
    default:
      return false;
  }
}

/// "length 3, depth 0": where in the whole tensor an element of this rank's block lies.
inline std::string place_words(const tensor_core& x, index_t element) {
  std::string text;
  for (int d = x.rank(); d-- > 0;) {
    const index_t at = element % x.local(d) + x.own(d).offset - x.layout().halo[d].before;
    element /= x.local(d);
    text = std::string(x.facts->dim[d]->name) + " " + std::to_string(at) +
           (text.empty() ? "" : ", ") + text;
  }
  return text.empty() ? "its one element" : text;
}

/// The axes along which two ranks of a group differ, of those in `axes`.
inline std::string axes_between(const grid_state& g, unsigned axes, int a, int b) {
  std::string text;
  for (int i = max_axes; i-- > 0;) {
    if (!(axes >> i & 1u)) continue;
    const int n = static_cast<int>(g.sizes()[i]);
    if (a % n != b % n) text = "'" + g.axis_name(i) + "'" + (text.empty() ? "" : ", ") + text;
    a /= n, b /= n;
  }
  return text;
}

/// A hash of many bytes, eight at a time.
inline std::uint64_t hash_of_block(const std::byte* data, std::size_t bytes) {
  std::uint64_t h = hash_of(&bytes, sizeof bytes);
  std::size_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, data + at, 8);
    h = (h ^ word) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
  }
  return hash_of(data + at, bytes - at, h);
}

/// (Processors of several kinds, or threads, may round differently: then one does without.)
inline bool compares_replicas() {
  static const bool off = [] {
    const char* const text = std::getenv("DIMESH_REPLICAS");
    return text != nullptr && std::strcmp(text, "off") == 0;
  }();
  return !off;
}

/// Collective over the ranks that hold replicas of x.
inline void require_replicas(std::string_view call, std::string_view what, const tensor_core& x) {
  const unsigned axes = compares_replicas() ? replica_axes(x) : 0;
  if (axes == 0 || x.is_shape || !x.memory) return;
  const communicator& c = x.grid->along(axes);
  const std::vector<std::byte> mine = bytes_on_host(x);
  const std::uint64_t hash = hash_of_block(mine.data(), mine.size());
  const auto ranks = static_cast<std::size_t>(c.size());
  c.agree("comparison of replicas", x.elements(),
          static_cast<unsigned>(x.facts->kind) << 16 | static_cast<unsigned>(x.facts->element));
  std::vector<std::uint64_t> all(ranks);
  check(PMPI_Allgather(&hash, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, c.handle()),
        "replicas");
  bool same = true;
  for (const std::uint64_t h : all) same = same && h == hash;
  if (same) return;
  std::vector<std::byte> first(mine);
  constexpr std::size_t piece = 1u << 30;
  for (std::size_t at = 0; at < first.size(); at += piece)
    PMPI_Bcast(first.data() + at,
               static_cast<int>(piece < first.size() - at ? piece : first.size() - at), MPI_BYTE, 0,
               c.handle());
  const auto size = static_cast<std::size_t>(x.facts->element);
  index_t at = 0;
  while (at < x.elements() &&
         same_element(x.facts->kind, mine.data() + static_cast<std::size_t>(at) * size,
                      first.data() + static_cast<std::size_t>(at) * size, size))
    ++at;
  std::vector<std::int64_t> differs(ranks);
  const auto own = static_cast<std::int64_t>(at);
  PMPI_Allgather(&own, 1, MPI_INT64_T, differs.data(), 1, MPI_INT64_T, c.handle());
  int world[2] = {world_rank(), 0};
  std::vector<int> worlds(ranks);
  PMPI_Allgather(world, 1, MPI_INT, worlds.data(), 1, MPI_INT, c.handle());
  for (std::size_t r = 0; r < ranks; ++r)
    if (differs[r] < x.elements())
      throw error(std::string(call) + ": replicas differ: " + std::string(what) +
                  " is the same along " + axes_between(*x.grid, axes, 0, static_cast<int>(r)) +
                  " by its layout, but rank " + std::to_string(worlds[r]) +
                  " holds other elements than rank " + std::to_string(worlds[0]) +
                  ", the first at " + place_words(x, differs[r]) +
                  "; make it from the same numbers on all ranks, or split it");
}

/// Notices whether anything is sent, and along which axes there are collectives.
class notices_messages final : public event_sink {
 public:
  void take(const event& e) override {
    if (!is_communication(e.kind)) return;
    any = true;
    if (e.kind != event_kind::message &&
        std::find(along.begin(), along.end(), e.axes) == along.end())
      along.push_back(e.axes);
  }
  bool any = false;
  std::vector<unsigned> along;
};
/// The coordinates of a rank where ragged dims of these tensors, on one grid, have their longest
/// blocks, the first one's first; and where they live.
struct fullest_rank {
  std::array<index_t, max_axes> coords{};
  unsigned chosen = 0;  // axes
  bool any_ragged = false;

  void choose(const tensor_core& x) {
    const table& t = x.layout();
    for (int a = 0; a < t.axes; ++a)
      if (t.axis[a].what == use::placed) set(a, t.axis[a].at);
    for (int d = 0; d < x.rank(); ++d) {
      if (!t.ragged[d] || (t.axes_of(d) & chosen) != 0) continue;
      any_ragged = true;
      const cut_record& cuts = *cuts_of_dim(x.cuts.first(), x.facts->dim[d]);
      const index_t parts = ranks_over(t, d, x.sizes()), most = cuts.longest(parts);
      index_t i = 0;
      while (cuts.at(i, parts).length < most) ++i;
      for (int level = t.split_count(d); level-- > 0;) {
        const int a = t.axis_at(d, level);
        set(a, i % x.sizes()[a]);
        i /= x.sizes()[a];
      }
    }
  }

 private:
  void set(int a, index_t at) {
    coords[static_cast<std::size_t>(a)] = at;
    chosen |= 1u << a;
  }
};
inline bool on_one_grid(results y, operands x) {
  bool one = true;
  for (int k = 1; k < x.count(); ++k) one = one && x[k].grid == x[0].grid;
  for (int k = 0; k < y.count(); ++k) one = one && (!y.has(k) || y[k].grid == x[0].grid);
  return one;
}
/// Does an operation send anything, and along which axes? Its cost says so: that of one rank with
/// long blocks, since one whose share is empty may have nothing to send, and all must give the same
/// answer.
inline notices_messages messages_of(const operation& op, results y, operands x) {
  const auto gone = [](const tensor_core& c) { return c.grid == nullptr || !c.grid->alive(); };
  for (int k = 0; k < y.count(); ++k)
    if (y.has(k) && gone(y[k])) return {};  // the operation itself says so
  for (int k = 0; k < x.count(); ++k)
    if (gone(x[k])) return {};
  notices_messages seen;
  fullest_rank rank;
  if (on_one_grid(y, x)) {
    for (int k = 0; k < x.count(); ++k) rank.choose(x[k]);
    for (int k = 0; k < y.count(); ++k)
      if (y.has(k)) rank.choose(y[k]);
  }
  tally t;
  t.sink = &seen;
  if (rank.any_ragged) t.block_coords = rank.coords.data();
  std::vector<tensor_core> shapes;
  shapes.reserve(static_cast<std::size_t>(y.count() + x.count()));
  const auto shape_of = [&](const tensor_core& of) {
    shapes.push_back(of);
    shapes.back().become_shape(&t);
    return &shapes.back();
  };
  std::vector<tensor_core*> to;
  std::vector<const tensor_core*> from;
  for (int k = 0; k < y.count(); ++k) to.push_back(y.has(k) ? shape_of(y[k]) : nullptr);
  for (int k = 0; k < x.count(); ++k) from.push_back(shape_of(x[k]));
  op.cost(t, {to.data(), y.count()}, {from.data(), x.count()});
  return seen;
}

/// Names, extents and layouts, the same on all ranks of a grid.
inline std::uint64_t hash_of_operands(operands x) {
  std::uint64_t h = hash_of("", 0);
  for (int k = 0; k < x.count(); ++k) {
    for (int d = 0; d < x[k].rank(); ++d) {
      const std::string_view name = x[k].facts->dim[d]->name;
      const index_t extent = x[k].extent(d);
      h = hash_of(name.data(), name.size(), hash_of(&extent, sizeof extent, h));
    }
    for (const cut_record* r = x[k].cuts.first(); r != nullptr; r = r->next)
      h = hash_of(r->begin.data(), r->begin.size() * sizeof(index_t), h);
    const table_code c = encoded(x[k].layout());
    const std::uint64_t parts[] = {c.uses, c.uneven, c.halo[0], c.halo[1], c.halo[2], c.halo[3]};
    h = hash_of(parts, sizeof parts, h);
  }
  return h;
}

/// Tests of what numbers outside stand for in plain builds turn this off.
inline bool checks_places = true;

/// Throws where one of the whole numbers is no place of a dim and not -1, which stands for none.
template <class I>
void require_places(std::string_view call, const tensor_core& numbers, const dim_facts& d,
                    index_t extent) {
  const I* at = numbers.data<const I>();
  if (!checks_places) return;
  const writes_memory kernel;
  std::unique_ptr<I[]> copied;
  if (!reached_now()) {
    copied.reset(new I[static_cast<std::size_t>(numbers.elements())]);
    copy_to_host(copied.get(), at, numbers.bytes());
    at = copied.get();
  }
  for (index_t i = 0; i < numbers.elements(); ++i) {
    const auto place = static_cast<index_t>(at[i]);
    if (place >= -1 && place < extent) continue;
    throw error(std::string(call) + ": the number at " + place_words(numbers, i) + " is " +
                std::to_string(place) + ", and dim '" + std::string(d.name) +
                "' has the places 0.." + std::to_string(extent - 1) +
                "; -1 stands for none of them");
  }
}

}  // namespace dimesh::detail
