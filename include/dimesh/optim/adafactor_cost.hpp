// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a step of Adafactor cost? Per element: its square, which two sums take; its update,
// whose length is found; the parameter's length; the step itself. Sent are the sums over split dims
// and two numbers for each tensor, as adafactor.hpp sends them.
#pragma once

#include <vector>

#include "dimesh/grad/complete.hpp"
#include "dimesh/local/factored.hpp"
#include "dimesh/optim/clip.hpp"
#include "dimesh/optim/factored_state.hpp"

namespace dimesh::detail {

/// The block of x as (A, P, B, Q, C) about its two factored dims; a vector is one row.
template <class X> local::factored_extents factored_block(const X& x) {
  local::factored_extents n;
  if constexpr (X::rank < 2) {
    n.Q = x.local_size();
  } else {
    using at = factored_dims<X>;
    for (int d = 0; d < X::rank; ++d)
      (d < at::first     ? n.A
       : d == at::first  ? n.P
       : d < at::second  ? n.B
       : d == at::second ? n.Q
                         : n.C) *= x.local(d);
  }
  return n;
}

/// What the options of a step ask for.
struct adafactor_parts {
  bool clips, scales, has_momentum;
};
/// Of one tensor, on a rank that holds n elements.
struct factored_cost {
  index_t flops, moved;

  constexpr factored_cost(const local::factored_extents& block, index_t n, index_t element,
                          const adafactor_parts& with)
      : flops(4 * n + 5 * (block.rows() + block.columns()) + (with.clips ? 4 * n : 0) +
              (with.scales ? 2 * n : 0) + (with.has_momentum ? 7 : 4) * n),
        moved(element * n *
              (4 + int{with.clips} + int{with.scales} + (with.has_momentum ? 2 : 0))) {}
};

/// Sums that go in one message each, as reduce_pieces sends them.
class foreseen_sums {
 public:
  void add(const tensor_core& x, unsigned axes, element_kind kind, index_t size, index_t count) {
    const unsigned talk = talking(axes, x.sizes());
    if (talk == 0 || count == 0) return;
    const foreseen_group mine{x.facts->mesh, talk, kind, x.sizes(), size};
    std::size_t i = 0;
    while (i < groups_.size() && !groups_[i].is(mine)) ++i;
    if (i == groups_.size()) groups_.push_back(mine);
    groups_[i].add(count * size, gaps_are::left_out);
  }
  void enter(tally& t) {
    for (const foreseen_group& g : groups_) g.enter(t);
    groups_.clear();
  }

 private:
  std::vector<foreseen_group> groups_;
};

/// Enters what a step costs, where costs are being counted.
template <class P> void foresee_adafactor(const P& parameters, const adafactor_parts& with) {
  struct mesh_axes {
    std::uint64_t mesh;
    unsigned split;  // axes whose ranks hold different blocks of some tensor
  };
  std::vector<mesh_axes> meshes;
  tally* t = nullptr;
  const auto split_on = [&meshes](std::uint64_t mesh) -> unsigned& {
    for (mesh_axes& m : meshes)
      if (m.mesh == mesh) return m.split;
    return meshes.emplace_back(mesh_axes{mesh, 0}).split;
  };
  const core_list<P> all(parameters);
  for (int i = 0; i < all.size; ++i) {
    const tensor_core& x = *all.at[i];
    if (x.count != nullptr) t = x.count;
    split_on(x.facts->mesh) |= x.layout().mask(use::split);
  }
  if (t == nullptr) return;
  const running named(t->sink, "adafactor");
  foreseen_sums sums;
  for_each_tensor(
      [&](const auto&, const auto& p) {
        using X = std::remove_cvref_t<decltype(p)>;
        const tensor_core& x = core_of(p);
        if (x.away != 0) return;
        const auto n = factored_block(p);
        if constexpr (X::rank >= 2) {
          using at = factored_dims<X>;
          const unsigned over_p = x.layout().axes_of(at::first),
                         over_q = x.layout().axes_of(at::second);
          sums.add(x, over_q, x.facts->kind, x.facts->element, n.rows());
          sums.add(x, over_p, x.facts->kind, x.facts->element, n.columns());
          sums.add(x, over_p | over_q, x.facts->kind, x.facts->element, n.both());
        }
        const factored_cost cost(n, x.elements(), x.facts->element, with);
        t->mesh = x.facts->mesh;
        t->compute(cost.flops, cost.moved);
      },
      parameters);
  sums.enter(*t);
  if (!with.clips && !with.scales) return;
  for (int i = 0; i < all.size; ++i) {
    const tensor_core& x = *all.at[i];
    const unsigned axes = split_on(x.facts->mesh);
    if (x.away == 0 || (x.facts->placed & axes) != 0)
      sums.add(x, axes, element_traits<double>::kind, sizeof(double), 2);
  }
  sums.enter(*t);
}

}  // namespace dimesh::detail
