// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a program hold in its hands? A tensor: element type, layout and dims in its type; its
// block on this rank in one contiguous buffer, row-major in the order of the dims. Copies share the
// buffer; operations make new tensors.
//
//   tensor<float, hybrid, batch, hidden>
//     -> basic_tensor<float, layout<pod, split<batch, rows>, split<hidden, cols>>, batch, hidden>
//   tensor<float, gradient<L>, D...>  -> the same with the cotangent's layout
//   tensor<float, shaped<L>, D...>    -> shapes without data;  tracked<L>  -> recorded for
//       gradients
#pragma once

#include <Kokkos_Core.hpp>

#ifdef DIMESH_CHECKED
#include "dimesh/detail/rule_uses.hpp"
#endif
#include "dimesh/core/construction.hpp"
#include "dimesh/core/conversion.hpp"
#include "dimesh/core/cuts_like.hpp"
#include "dimesh/core/element_place.hpp"
#include "dimesh/core/malformed_tensor.hpp"
#include "dimesh/core/typed.hpp"
#include "dimesh/layout/modified.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh {

namespace detail {
/// What tensors of spec S are made with where their layout is a value (plan/runtime_tensor.hpp).
template <class S> const tensor_facts& facts_now();
}  // namespace detail

/// A tensor of elements T with dims D... (storage order) under the canonical layout L. A copy, made
/// or assigned, shares its elements with the original: what the library then changes in place
/// (fill, rescale, optimizers) takes memory of its own first, but data() and view() write into
/// both; clone(x) (reflect/clone.hpp) has its own elements from the beginning.
template <class T, class L, Dim... D>
class [[nodiscard("tensors are values: nothing was changed in place")]] basic_tensor
    : public detail::typed_core<spec<T, L, D...>> {
  using base = detail::typed_core<spec<T, L, D...>>;
  using element_call = detail::element_call;
  friend struct detail::core_access;

 public:
  using typename base::mesh_type;
  using typename base::shape_type;
  using typename base::spec_type;
  using grid_type = dimesh::grid<mesh_type>;
  template <class E>
  using view_of_elements =
      Kokkos::View<E*, detail::memory_of<mesh_type>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using view_type = view_of_elements<T>;
  using const_view_type = view_of_elements<const T>;

  constexpr basic_tensor() = default;
  using base::base;
  /// No tensor of another type becomes this one, and no const one another: says what makes it fit.
  /// (Not constexpr: clang would compile it where a std::variant of tensors asks which it gets.)
  template <Tensor X>
    requires(!std::is_same_v<X, basic_tensor>)
  basic_tensor(const X&, detail::kind_said = detail::say_kind<basic_tensor, X>()) {  // NOLINT
    detail::assert_same<basic_tensor, X>();
  }
  template <detail::TensorOrNumber X>
    requires(!std::is_same_v<X, basic_tensor>)
  constexpr auto& operator=(const X&) {  // auto: what it asserts is said where it is called
    detail::assert_same<basic_tensor, X>();
    return *this;
  }
  template <detail::TensorOrNumber X> constexpr const basic_tensor& operator=(const X&) const {
    detail::assert_not_const<basic_tensor>();
    return *this;
  }

  /// Uninitialised elements on a grid; extents that the type leaves open, of the whole and equal on
  /// all ranks, come from `extents` (dims with a value, shapes), in any order. Local: ranks compare
  /// them by extents_all_reduce(x), in checked builds wherever they meet. Throws dimesh::error if
  /// blocks do not come out even.
  template <Extents... From> explicit basic_tensor(const grid_type& g, const From&... extents) {
    (detail::take_cuts(detail::core_of(*this), extents), ...);
    remake(g, make_shape(extents...), detail::storage{});
  }

  template <class First, class... A>
    requires detail::makes_no_tensor<mesh_type, First, A...>
  explicit(!detail::is_grid<First> || sizeof...(A) > 0) constexpr basic_tensor(const First&,
                                                                               const A&...) {
    detail::refuse_construction<mesh_type, First, A...>();
  }

  /// The same in memory given by the caller (null: from the pool), ragged dims cut as this says.
  basic_tensor(const grid_type& g, const shape_type& s, const detail::storage& memory,
               const detail::cut_list& where = {}) {
    detail::core_of(*this).cuts = where;
    remake(g, s, memory);
  }
  /// The same in place of what this tensor was.
  void remake(const grid_type& g, const shape_type& s, const detail::storage& memory) {
    const auto extents = s.extents();
    if constexpr (detail::is_at_run_time<L>)
      if (this->facts->is_open) this->facts = &detail::facts_now<spec_type>();
    detail::core_of(*this).make_on(&g, g.state(), extents.data(), memory);
  }

  [[nodiscard]] bool defined() const { return detail::core_of(*this).defined(); }
  /// Throws dimesh::error where there is none any more, or yet.
  [[nodiscard]] const grid_type& grid() const {
    detail::require_grid("tensor::grid", *this);
    return detail::grid_of<mesh_type>(*this);
  }
  /// This rank's block, contiguous, row-major as the dims are; of a const tensor to be read only. A
  /// view has one index, the place in there; view_of(x) (interop/view.hpp) one for each dim.
  [[nodiscard]] T* data() { return detail::hand_out<T>(detail::core_of(*this)); }
  [[nodiscard]] const T* data() const { return detail::hand_out<const T>(detail::core_of(*this)); }
  using base::view;  // as other lengths
  [[nodiscard]] view_type view() {
    return view_type(data(), static_cast<std::size_t>(base::local_size()));
  }
  [[nodiscard]] const_view_type view() const {
    return const_view_type(data(), static_cast<std::size_t>(base::local_size()));
  }

  /// Is the element at these global indices (dims with a value, in any order: holds(batch{3},
  /// hidden{4})) in this rank's block?
  template <class... I> [[nodiscard]] bool holds(const I&... index) const {
    if constexpr (detail::assert_indices<element_call::holds, spec_type, I...>())
      return place_of<element_call::holds>("tensor::holds", index...) >= 0;
    else
      return false;
  }
  /// That element, wherever tensors live. Throws dimesh::error where it is not on this rank.
  template <class... I> [[nodiscard]] T at(const I&... index) const {
    if constexpr (detail::assert_indices<element_call::at, spec_type, I...>()) {
      const index_t place = place_of<element_call::at>("tensor::at", index...);
      if (place < 0)
        detail::refuse_element(detail::core_of(*this), detail::element_index<spec_type>(index...));
      const detail::in_space here(detail::space_of<mesh_type>);
      return detail::get_element(data() + place);
    } else {
      return T{};
    }
  }
  /// Sets that element where this rank holds it: called on every rank alike, it keeps copies equal.
  template <class... I> void set(T value, const I&... index) {
    if constexpr (detail::assert_indices<element_call::set, spec_type, I...>()) {
      const index_t place = place_of<element_call::set>("tensor::set", index...);
      if (place < 0) return;
      detail::own_memory(*this, true);
      const detail::in_space here(detail::space_of<mesh_type>);
      detail::set_element(data() + place, value);
    }
  }

  template <Dim I> poison at(index_t) const { return detail::refuse_index<I, index_t>(); }
  template <Dim I, class... A> void set(const I&, const A&...) {
    (void)detail::refuse_index<I, A...>();
  }

  const detail::storage& memory() const { return detail::core_of(*this).memory; }
  detail::storage& memory() { return detail::core_of(*this).memory; }
  /// Gives up the elements and keeps the rest: for what needs a tensor's blocks alone.
  using base::forget_data;

 private:
  template <Extents... E> static shape_type make_shape(const E&... extents) {
    if constexpr (sizeof...(E) == 0)
      return shape_type{};
    else
      return shape_type(extents...);
  }
  template <auto What, class... I> index_t place_of(const char* call, const I&... index) const {
    const auto at = detail::element_index<spec_type>(index...);
    detail::require_grid(call, *this);
    if constexpr (detail::is_at_run_time<L>) detail::require_element(call, What, *this);
    detail::require_inside(call, *this, at);
    return detail::element_place(*this, at);
  }
};

namespace detail {

/// What cannot be an element: all that stands elsewhere in a tensor's type, references, functions.
template <class T>
inline constexpr bool is_element =
    !is_layout<T> && std::is_object_v<T> && !std::is_const_v<T> && !Dim<T> && !Axis<T> &&
    kernels_compute<T> && !Mesh<T> && std::is_trivially_destructible_v<T>;  // a block is bytes

/// The mesh of what may be no layout.
template <class L> struct mesh_of_layout {
  using type = mesh<>;
};
template <Mesh M, class... Rule> struct mesh_of_layout<layout<M, Rule...>> {
  using type = M;
};

template <class Fault, class T, class L, class... D> struct formed_tensor {
  using type = malformed_tensor<Fault, typename mesh_of_layout<L>::type>;
};
template <class T, class L, class... D> struct formed_tensor<no_fault, T, L, D...> {
#ifdef DIMESH_CHECKED
  using type =
      typename with_note<&noted<L, D...>::done, basic_tensor<T, canonical<L, D...>, D...>>::type;
#else
  using type = basic_tensor<T, canonical<L, D...>, D...>;
#endif
};
/// What stands in the wrong place, or how the layout does not fit the dims.
template <class T, class L, class... D> struct tensor_fault {
  using type = typename first_of<std::conditional_t<is_element<T>, no_fault, not_an_element<T>>,
                                 typename kind_fault<L>::type, dim_fault<D>...>::type;
};
template <class T, class L, class... D>
  requires(is_element<T> && (Dim<D> && ...))
struct tensor_fault<T, L, D...> {
  using type = layout_fault<L, D...>;
};
template <class T, class L, class... D>
struct tensor_type : formed_tensor<typename tensor_fault<T, L, D...>::type, T, L, D...> {};
template <class Fault, class T, class M, class... D> struct formed_probe {
  using type = malformed_tensor<Fault, M>;
};
template <class T, class M, class... D> struct formed_probe<no_fault, T, M, D...> {
  using type = shaped_tensor<T, layout<M, at_run_time>, D...>;
};
template <class T, class M, class... E, class... D>
struct tensor_type<T, layout<M, at_run_time_beside<E...>>, D...>
    : formed_probe<layout_fault<layout<M, at_run_time>, D...>, T, M, D...> {};

/// The modifiers leave malformed tensors as they are.
template <class X> struct tracked_type {
  using type = tracked_tensor<X>;
};
template <class Fault, class M> struct tracked_type<malformed_tensor<Fault, M>> {
  using type = malformed_tensor<Fault, M>;
};
template <class T, class L, class... D> struct tensor_type<T, tracked<L>, D...> {
  using type = typename tracked_type<typename tensor_type<T, L, D...>::type>::type;
};
template <class X> struct gradient_type {
  using type = X;
};
template <class T, class L, class... D> struct gradient_type<basic_tensor<T, L, D...>> {
  using type = basic_tensor<T, cotangent<L, D...>, D...>;
};
template <class T, class L, class... D> struct gradient_type<shaped_tensor<T, L, D...>> {
  using type = shaped_tensor<T, cotangent<L, D...>, D...>;
};
template <class T, class M, class... D>
struct gradient_type<basic_tensor<T, layout<M, at_run_time>, D...>> {
  using type = basic_tensor<T, layout<M, at_run_time>, D...>;
};
template <class T, class M, class... D>
struct gradient_type<shaped_tensor<T, layout<M, at_run_time>, D...>> {
  using type = shaped_tensor<T, layout<M, at_run_time>, D...>;
};
template <class V> struct gradient_type<tracked_tensor<V>> {
  using type = tracked_tensor<typename gradient_type<V>::type>;
};
template <class T, class L, class... D> struct tensor_type<T, gradient<L>, D...> {
  using type = typename gradient_type<typename tensor_type<T, L, D...>::type>::type;
};
template <class X> struct shaped_type {
  using type = X;
};
template <class T, class L, class... D> struct shaped_type<basic_tensor<T, L, D...>> {
  using type = shaped_tensor<T, L, D...>;
};
template <class T, class L, class... D> struct tensor_type<T, shaped<L>, D...> {
  using type = typename shaped_type<typename tensor_type<T, L, D...>::type>::type;
};

}  // namespace detail

/// A tensor of elements T with dims D... under layout L, or under a modified layout.
template <class T, class L, class... D>
using tensor = typename detail::tensor_type<T, L, D...>::type;

/// What operations take: a tensor, or the poison that a faulty call returned.
template <class X> concept Operand = Tensor<X> || stands_for_tensor<X>;

namespace detail {
template <class S> struct tensor_of_spec;
template <class T, class L, class... D> struct tensor_of_spec<spec<T, L, D...>> {
  using basic = basic_tensor<T, L, D...>;
  using shaped = shaped_tensor<T, L, D...>;
};
template <class X, class T, class... D> inline constexpr bool is_of_dims = stands_for_tensor<X>;
template <Tensor X, class T, class... D>
inline constexpr bool is_of_dims<X, T, D...> =
    std::is_same_v<value_of<X>, T> && std::is_same_v<typename spec_of<X>::dims, list<D...>>;
}  // namespace detail

/// A tensor of elements T with these dims in this order, under any layout, plain, recorded or a
/// shape: what a function of one's own says it takes, since no layout is deduced from tensor<T, L,
/// D...>: template <TensorOf<float, batch, hidden> X> auto f(const X& x).
template <class X, class T, class... D> concept TensorOf = detail::is_of_dims<X, T, D...>;

}  // namespace dimesh
