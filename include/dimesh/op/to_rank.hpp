// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program see a whole tensor on one rank, and get one from there? For files, prints and
// tests: these functions move whole tensors through one rank, so keep them out of training steps.
//
//   to_rank(x)                                 -> std::vector<T>, global row-major, on rank 0
//   from_rank<tensor<float, L, batch>>(g, values)  -> the tensor of which to_rank gives `values`
//   broadcast_element(x, {3, 4})               -> the element at batch 3, hidden 4, on every rank
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "dimesh/collective/broadcast.hpp"
#include "dimesh/fill.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/parts/gathered.hpp"
#include "dimesh/op/rank_values.hpp"

namespace dimesh {

namespace detail {

inline void require_root(const char* call, int root, int ranks) {
  if (root < 0 || root >= ranks)
    (words() << call << ": the grid has ranks 0.." << index_t{ranks - 1} << ", not "
             << index_t{root})
        .raise();
}

/// x without addends, ready to go to a rank that there is.
template <class X> auto whole_values(const X& x, int root) {
  require_grid("to_rank", core_of(x));
  require_root("to_rank", root, x.grid().ranks());
  const auto y = complete(untracked(x));
#ifdef DIMESH_CHECKED
  require_replicas("to_rank", "the tensor", core_of(y));
#endif
  return y;
}

/// Gives every rank its block under table t of `values`, which matter on the root.
template <class T>
void scatter_blocks(const communicator& everyone, const placement& where, const table& t,
                    const std::vector<T>& values, T* x, int root) {
  contributions to(where, t, root);
  index_t total = 0;
  for (std::size_t r = 0; r < to.part.size(); ++r) total += to.count[r] = to.part[r].size();
  const bool here = everyone.rank() == root;
  const box all = where.whole();
  const storage given = room_for<T>(here ? all.size() : 0), sent = room_for<T>(here ? total : 0);
  if (here) {
    const std::unique_ptr<T[]> host(new T[values.size()]);  // a vector<bool> has no array
    std::copy(values.begin(), values.end(), host.get());
    copy_from_host(given.data(), host.get(),
                   static_cast<index_t>(values.size()) * static_cast<index_t>(sizeof(T)));
    T* packed = static_cast<T*>(sent.data());
    for (std::size_t r = 0; r < to.part.size(); packed += to.count[r++])
      local::pack(all.rank, to.part[r].length,
                  static_cast<const T*>(given.data()) + offset_in(all, to.part[r]),
                  strides(all).data(), packed);
  }
  collective::scatter_v(everyone, static_cast<const T*>(sent.data()), to.count.data(), x, root);
}

/// Where an element lies: the coordinates of its first owner, and its place in that rank's block.
struct owner {
  index_t coords[max_axes]{};
  index_t offset = 0;

  owner(const tensor_core& x, const index_t* at) {
    const table& t = x.layout();
    const placement where = placement_of(x);
    for (int d = 0; d < x.rank(); ++d) {
      const unsigned axes = t.axes_of(d);
      block own{0, x.extent(d)};
      for (index_t r = 0; axes != 0 && r < group_size(axes, where.sizes); ++r) {
        const peer p(r, axes, where.sizes, nullptr);
        const block b = block_under(t, d, x.extent(d), where.sizes, p.coords, where.cuts);
        if (at[d] < b.offset || at[d] >= b.offset + b.length) continue;
        own = b;
        for (int a = 0; a < t.axes; ++a)
          if (axes >> a & 1u) coords[a] = p.coords[a];
        break;
      }
      offset = offset * (own.length + t.halo[d].both()) + at[d] - own.offset + t.halo[d].before;
    }
    for (int a = 0; a < t.axes; ++a)
      if (t.axis[a].what == use::placed) coords[a] = t.axis[a].at;
  }
};

template <class X, std::size_t N> auto element_at(const X& x, const std::array<index_t, N>& at) {
  using T = value_of<X>;
  const auto extents = x.shape().extents();
  for (std::size_t d = 0; d < N; ++d)
    if (at[d] < 0 || at[d] >= extents[d])
      throw error("broadcast_element: index " + std::to_string(at[d]) + " of dim '" +
                  std::string(names<typename spec_of<X>::dims>::at[d]) + "' is outside 0.." +
                  std::to_string(extents[d] - 1));
  const auto& grid = x.grid().state();
  const in_space here(core_of(x).facts->space);
  const owner who(core_of(x), at.data());
  // Of replicated blocks every rank asks the copy that has its own coordinates.
  const table& at_ranks = core_of(x).layout();
  const unsigned talk =
      talking(at_ranks.mask(use::split) | at_ranks.mask(use::placed), grid.sizes());
  index_t root = 0, me = 0;
  for (int a = 0; a < X::mesh_type::rank; ++a)
    if (talk >> a & 1u) {
      root = root * grid.sizes()[a] + who.coords[a];
      me = me * grid.sizes()[a] + grid.coords()[a];
    }
  const storage one = room_for<T>(1);
  T* value = static_cast<T*>(one.data());
  if (me == root) collective::copy(static_cast<const T*>(x.data()) + who.offset, value, 1);
  if (talk != 0) collective::broadcast(grid.along(talk), value, 1, static_cast<int>(root));
  return get_element(static_cast<const T*>(value));
}

}  // namespace detail

/// All of x on rank `root`, in the order of its dims, last fastest, as rank_values; empty on other
/// ranks. Addends are summed; a replicated block is taken once, and nothing is sent that the root
/// has. Collective over the grid. Throws dimesh::error if the grid has no such rank.
template <Operand X> auto to_rank(const X& x, int root = 0) {
  using shape = typename detail::shape_fault<X>::type;
  static_assert(ok<shape>,
                "to_rank: the tensor is a shape, as in a program whose cost is counted, and has no "
                "elements; let the cost not depend on them");
  if constexpr (!ok<shape> || is_poison<X>) {
    return poison{};
  } else {
    const auto y = detail::whole_values(x, root);
    const running now(detail::watcher, "to_rank");
    const detail::in_space here(detail::core_of(y).facts->space);
    detail::gathered<value_of<X>> whole(y.grid().everyone(), detail::core_of(y), root);
    return rank_values<value_of<X>>(whole.values(), y.grid().everyone().rank(), root);
  }
}

/// The tensor of type X whose elements rank `root` gives in global row-major order. Extents that
/// the type leaves open come from dims with a value. Throws dimesh::error on every rank, if the
/// root's `values` are not as many as the tensor has elements.
template <Tensor X, Extents... E>
X from_rank(const typename X::grid_type& g, const std::vector<value_of<X>>& values, int root,
            const E&... extents) {
  static_assert(ok<only<typename detail::fill_fault<X>::type, dim_has_halo>>,
                "from_rank: the blocks carry halos; take it without, then halo_exchange");
  X x(g, extents...);
  detail::require_root("from_rank", root, g.ranks());
  const index_t n = x.shape().size();
  auto given = static_cast<index_t>(values.size());  // of which others wait for their parts
  {
    const detail::of_host numbers;
    collective::broadcast(g.everyone(), &given, 1, root);
  }
  if (given != n)
    throw error("from_rank: " + std::to_string(given) + " values on rank " + std::to_string(root) +
                " for a tensor of " + std::to_string(n) + " elements");
  const detail::in_space here(detail::core_of(x).facts->space);
  detail::scatter_blocks(g.everyone(), detail::placement_of(x), detail::core_of(x).layout(), values,
                         x.data(), root);
  x.set_once(detail::core_of(x).layout().mask(use::partial));
  return x;
}
template <Tensor X, Extents... E>
X from_rank(const typename X::grid_type& g, const std::vector<value_of<X>>& values,
            const E&... extents) {
  return from_rank<X>(g, values, 0, extents...);
}

/// The element of x at these global indices (in the order of its dims), on every rank. Addends are
/// summed. Collective over the grid. Throws dimesh::error if an index is outside its dim.
template <Operand X, std::size_t N>
[[nodiscard]] auto broadcast_element(const X& x, const std::array<index_t, N>& at) {
  using shape = typename detail::shape_fault<X>::type;
  static_assert(ok<shape>,
                "broadcast_element: the tensor is a shape, as in a program whose cost is counted, "
                "and has no elements; let the cost not depend on them");
  if constexpr (!ok<shape> || is_poison<X>) {
    return poison{};
  } else {
    constexpr bool one_each = N == static_cast<std::size_t>(spec_of<X>::rank);
    static_assert(one_each,
                  "broadcast_element: an index is needed for every dim; give one each, in the "
                  "tensor's order");
    detail::require_grid("broadcast_element", detail::core_of(x));
    return detail::element_at(complete(detail::untracked(x)), at);
  }
}
template <Operand X, std::size_t N> auto broadcast_element(const X& x, const index_t (&at)[N]) {
  return broadcast_element(x, std::to_array(at));
}

}  // namespace dimesh
