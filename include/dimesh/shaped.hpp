// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is left of a tensor without its data? Its type, its extents, and a ledger on which every
// operation enters its cost. A program runs on such tensors as on real ones, also while compiling.
//
//   shaped_tensor<float, L, batch, hidden> x;          // all extents static: nothing to give
//   shaped_tensor<float, L, batch, length> y(mesh_sizes<pod>{}, length{37});
#pragma once

#include "dimesh/core/cuts_like.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh {

// A layout is shaped, and not a tensor; what operations take for poison.
template <Tensor X> struct shaped<X> : poison {
  using mesh = dimesh::mesh<>;
  static_assert(ok<not_a_layout<X>>,
                "shaped: it stands around the layout, inside of the tensor: tensor<float, "
                "shaped<L>, batch>");
};
template <Tensor X> inline constexpr bool is_poison<shaped<X>> = true;

/// A tensor without data; stands for the rank at the origin of the mesh, whose blocks are largest
/// (of ragged dims: the first, of any length). Of what lives at one place of an axis, for a rank
/// there.
template <class T, class L, Dim... D>
class [[nodiscard("tensors are values: nothing was changed in place")]] shaped_tensor
    : public detail::typed_core<spec<T, L, D...>> {
  using base = detail::typed_core<spec<T, L, D...>>;
  friend struct detail::core_access;

 public:
  using base::base;
  using typename base::mesh_type;
  using typename base::shape_type;

  /// All extents static, axes without a static size of size 1. With an open extent: no shape yet.
  constexpr shaped_tensor() {
    if constexpr ((is_static_dim<D> && ...))
      set_up(mesh_sizes<mesh_type>{}, shape_type{}, nullptr);
    else
      detail::core_of(*this).is_shape = true;
  }

  /// No tensor of another type becomes this one: says what differs, and what makes it fit.
  template <Tensor X>
    requires(!std::is_same_v<X, shaped_tensor>)
  constexpr shaped_tensor(const X&) {  // NOLINT: where a type is declared, too
    detail::assert_same<shaped_tensor, X>();
  }
  template <detail::TensorOrNumber X>
    requires(!std::is_same_v<X, shaped_tensor>)
  constexpr shaped_tensor& operator=(const X&) {
    detail::assert_same<shaped_tensor, X>();
    return *this;
  }
  template <detail::TensorOrNumber X> constexpr const shaped_tensor& operator=(const X&) const {
    detail::assert_not_const<shaped_tensor>();
    return *this;
  }

  /// Axis sizes, and dims or shapes that give the extents the type leaves open.
  template <Extents... From>
  constexpr explicit shaped_tensor(const mesh_sizes<mesh_type>& sizes, const From&... extents) {
    (detail::take_cuts(detail::core_of(*this), extents), ...);
    set_up(sizes, make_shape(extents...), nullptr);
  }

  /// On the sizes of a grid.
  template <Extents... From>
  explicit shaped_tensor(const grid<mesh_type>& g, const From&... extents)
      : shaped_tensor(sizes_of(g), extents...) {}

  /// A result: its bytes count as live on the tally.
  constexpr shaped_tensor(const mesh_sizes<mesh_type>& sizes, const shape_type& s, detail::tally* t,
                          const detail::cut_list& where = {}) {
    this->cuts = where;
    set_up(sizes, s, t);
  }

  /// Of a layout that only the run knows: these facts say which.
  constexpr shaped_tensor(const mesh_sizes<mesh_type>& sizes, const shape_type& s, detail::tally* t,
                          const detail::tensor_facts* known, const detail::cut_list& where = {})
    requires detail::is_at_run_time<L>
  {
    detail::core_of(*this).facts = known;
    this->cuts = where;
    set_up(sizes, s, t);
  }

  constexpr mesh_sizes<mesh_type> sizes() const {
    mesh_sizes<mesh_type> s;
    for (std::size_t a = 0; a < s.size.size(); ++a) s.size[a] = this->shape_sizes[a];
    return s;
  }
  constexpr detail::tally* tally() const { return this->count; }
  constexpr const detail::live_bytes& live() const { return detail::core_of(*this).live; }
  /// Its bytes are no longer alive: as of a tensor that has given up its elements.
  using base::forget_data;
  /// Its bytes count as live to the end. g++ 12 copies arrays bit by bit in constant expressions:
  /// no handle to bytes may stand in an array there.
  constexpr shaped_tensor& pin() {
    detail::core_of(*this).live.pin();
    return *this;
  }
  /// The same as an operand of a computation that is being counted.
  constexpr shaped_tensor counted_by(detail::tally* t) const {
    if constexpr (detail::is_at_run_time<L>)
      return shaped_tensor(sizes(), base::shape(), t, this->facts, this->cuts);
    else
      return shaped_tensor(sizes(), base::shape(), t, this->cuts);
  }
  /// For results that share their operand's memory.
  constexpr void share(detail::tally* t, const detail::live_bytes& live) {
    this->count = t;
    detail::core_of(*this).live = live;
  }

 private:
  static mesh_sizes<mesh_type> sizes_of(const grid<mesh_type>& g) {
    mesh_sizes<mesh_type> s;
    for (std::size_t a = 0; a < s.size.size(); ++a) s.size[a] = g.state().sizes()[a];
    return s;
  }
  constexpr void set_up(const mesh_sizes<mesh_type>& sizes, const shape_type& s, detail::tally* t) {
    const auto extents = s.extents();
    detail::core_of(*this).make_shape(sizes.size.data(), extents.data(), t);
  }
  template <Extents... E> static constexpr shape_type make_shape(const E&... extents) {
    if constexpr (sizeof...(E) == 0)
      return shape_type{};
    else
      return shape_type(extents...);
  }
};

}  // namespace dimesh
