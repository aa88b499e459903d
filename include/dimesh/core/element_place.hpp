// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where in this rank's block is the element at some global indices, which are given by the names of
// their dims, in any order?
//
//   element_index<spec>(hidden{4}, batch{3})     -> {3, 4}, in the order of the tensor's dims
//   element_place(core_of(x), {3, 4})            -> its number in the block; -1: not on this rank
#pragma once

#include <array>

#ifdef DIMESH_CHECKED
#include "dimesh/detail/written.hpp"
#endif
#include "dimesh/core/tensor_core.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/name.hpp"

namespace dimesh::detail {

/// The elements of a block, for the program. In checked builds there must be some, and those that
/// it may write are noted (detail/written.hpp).
template <class T> T* hand_out(const tensor_core& x) {
#ifdef DIMESH_CHECKED
  if (!x.defined()) require_grid("tensor::data", x);
  if (!std::is_const_v<T>) written_blocks::here().add(x.memory.data());
#endif
  return x.template data<T>();
}

/// What is done with an element. One that is read or set must be whole; where one is set, no other
/// rank may hold a copy.
enum class element_call { holds, at, set };

/// What is wrong with indices I... for a tensor of spec S.
template <element_call What, class S, class... I> struct index_fault {
  template <class D> static constexpr int count = (0 + ... + int(std::is_same_v<D, I>));
  template <class D>
  using of = std::conditional_t<
      !Dim<D>, not_a_dim<D>,
      std::conditional_t<(index_of<D, typename S::dims> < 0), dim_not_in_tensor<D>,
                         std::conditional_t<(count<D> > 1), dim_repeated<D>, no_fault>>>;
  template <class... D> static constexpr auto missing(list<D...>) {
    return tag<typename first_of<
        std::conditional_t<count<D> == 0, dim_without_index<D>, no_fault>...>::type>{};
  }
  static constexpr auto layout() {
    if constexpr (What == element_call::holds || is_at_run_time<typename S::layout>) {
      return tag<no_fault>{};  // of layouts that are values the run asks (require_element)
    } else {
      constexpr int a = S::table.first_partial(), d = S::table.first_haloed();
      if constexpr (a >= 0)
        return tag<partial_operand<type_at<a, typename S::mesh::axes>>>{};
      else if constexpr (What == element_call::set && d >= 0)
        return tag<dim_has_halo<type_at<d, typename S::dims>>>{};
      else
        return tag<no_fault>{};
    }
  }
  using type = typename first_of<typename first_of<of<I>...>::type,
                                 typename decltype(missing(typename S::dims{}))::type,
                                 typename decltype(layout())::type>::type;
};

template <element_call What, class S, class... I> constexpr bool assert_indices() {
  using fault = typename index_fault<What, S, I...>::type;
  static_assert(ok<only<fault, not_a_dim>>,
                "tensor: elements are named by dims with a value; write x.at(batch{3}, hidden{4})");
  static_assert(ok<only<fault, dim_not_in_tensor>>,
                "tensor: an index is given for a dim that the tensor lacks; leave it out");
  static_assert(ok<only<fault, dim_repeated>>,
                "tensor: two indices are given for one dim; leave one out");
  static_assert(ok<only<fault, dim_without_index>>,
                "tensor: an element has an index for every dim; give the missing one");
  static_assert(ok<only<fault, partial_operand>>,
                "tensor: ranks hold addends along this axis, and no element; complete it first");
  static_assert(ok<only<fault, dim_has_halo>>,
                "tensor: blocks of this dim carry a halo, and other ranks a copy of the element; "
                "set it before halo_exchange");
  return ok<fault>;
}

/// An index without its dim, or before the value.
template <class D, class... A> constexpr poison refuse_index() {
  static_assert(ok<wrong_arguments<D, A...>>,
                "tensor: indices are dims with a value, in the parentheses, and what is set stands "
                "before them: x.at(batch{3}, hidden{4}), x.set(7, batch{3}, hidden{4})");
  return {};
}

/// The indices in the order of the dims of S.
template <class S, class... I>
constexpr std::array<index_t, max_dims> element_index(const I&... index) {
  std::array<index_t, max_dims> at{};
  ((at[static_cast<std::size_t>(index_of<I, typename S::dims>)] = number_in(index)), ...);
  return at;
}

/// The number of an element in this rank's block (which its halos widen), -1 if it is elsewhere.
/// Halos are not looked at: they are other ranks' elements.
index_t element_place(const tensor_core& x, const std::array<index_t, max_dims>& at);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline index_t element_place(const tensor_core& x,
                                            const std::array<index_t, max_dims>& at) {
  if (x.away != 0) return -1;
  index_t place = 0;
  for (int d = 0; d < x.rank(); ++d) {
    const index_t i = at[static_cast<std::size_t>(d)] - x.own(d).offset;
    if (i < 0 || i >= x.own(d).length) return -1;
    place = place * x.local(d) + i + x.layout().halo[d].before;
  }
  return place;
}
#endif

/// Throws dimesh::error where an index is outside its dim.
void require_inside(const char* call, const tensor_core& x,
                    const std::array<index_t, max_dims>& at);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void require_inside(const char* call, const tensor_core& x,
                                          const std::array<index_t, max_dims>& at) {
  for (int d = 0; d < x.rank(); ++d) {
    const index_t i = at[static_cast<std::size_t>(d)];
    if (i >= 0 && i < x.extent(d)) continue;
    words w;
    w << call << ": index ";
    if (i == dynamic)
      w << "(none)";
    else
      w << i;
    w << " of dim '" << x.facts->dim[d]->name << "' is outside 0.." << x.extent(d) - 1;
    w.raise();
  }
}
#endif

/// Of a layout that only the run knows. Throws dimesh::error where `what` is refused of its type.
void require_element(const char* call, element_call what, const tensor_core& x);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void require_element(const char* call, element_call what,
                                           const tensor_core& x) {
  if (what == element_call::holds) return;
  if (x.layout().any_partial())
    (words() << call
             << ": partial_operand: ranks hold addends, and no element; complete the tensor first")
        .raise();
  const int d = x.layout().first_haloed();
  if (what == element_call::set && d >= 0)
    (words() << call << ": dim_has_halo: blocks of dim '" << x.facts->dim[d]->name
             << "' carry a halo, and other ranks a copy of the element; set it before "
                "halo_exchange")
        .raise();
}
#endif

/// Throws dimesh::error: the element is not on this rank.
[[noreturn]] void refuse_element(const tensor_core& x, const std::array<index_t, max_dims>& at);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void refuse_element(const tensor_core& x,
                                          const std::array<index_t, max_dims>& at) {
  words w;
  w << "tensor::at: the element (";
  for (int d = 0; d < x.rank(); ++d)
    w << (d > 0 ? ", " : "") << x.facts->dim[d]->name << " " << at[static_cast<std::size_t>(d)];
  w << ") is not on this rank, which holds";
  for (int d = 0; d < x.rank(); ++d) {
    w << (d > 0 ? ", " : " ") << x.facts->dim[d]->name << " ";
    if (x.own(d).length == 0)
      w << "(none)";
    else
      w << x.own(d).offset << ".." << x.own(d).offset + x.own(d).length - 1;
  }
  w << "; ask holds(...) first, or broadcast_element for every rank";
  w.raise();
}
#endif

}  // namespace dimesh::detail
