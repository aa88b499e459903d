// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where are the tensors of a struct? Its leaves: their types (those of an array or vector once),
// how many there are, and their addresses in the order of declaration. Addresses lose their types
// here, so that a walk costs the compiler one function for each type of leaf, not one for each
// member of each struct.
//
//   leaves<network<L>>::type  -> list<basic_tensor<...>, ...>     leaf_count<network<L>>  -> 7
//   leaf_count<stack<L>>  -> -1: it has vectors, and only a stack can say: count_in(layers) -> 7
#pragma once

#include <algorithm>

#include "dimesh/reflect/members.hpp"

namespace dimesh::detail {

/// Members with nothing to walk: numbers, enumerators, dims and empty tags.
template <class X>
inline constexpr bool is_plain_member =
    std::is_arithmetic_v<X> || std::is_enum_v<X> || std::is_empty_v<X> || Dim<X> || Axis<X>;

/// What a walk of an S would pass by: a struct that leaves members out, or a part of another kind.
template <class S> struct walk_fault;
template <class... S> struct first_walk_fault : tag<no_fault> {};
template <class S, class... Rest> struct first_walk_fault<S, Rest...> {
  using here = walk_fault<S>;
  using type =
      typename std::conditional_t<ok<typename here::type>, first_walk_fault<Rest...>, here>::type;
};
template <class... S> constexpr auto find_walk_fault(list<S...>) {
  return tag<typename first_walk_fault<S...>::type>{};
}
template <class S> constexpr auto find_walk_fault() {
  if constexpr (Operand<S>) {
    return tag<no_fault>{};
  } else if constexpr (has_elements<S>) {
    return tag<typename walk_fault<typename S::value_type>::type>{};
  } else if constexpr (sequence_kind<S>::tuple) {
    return find_walk_fault(part_types<S>{});
  } else if constexpr (is_described<S>) {
    if constexpr (leaves_members_out<S>)
      return tag<member_not_described<S>>{};
    else
      return find_walk_fault(part_types<S>{});
  } else if constexpr (is_plain_member<S> || hana::Struct<S>::value) {
    return tag<no_fault>{};
  } else {
    return tag<member_not_walked<S>>{};
  }
}
template <class S> struct walk_fault : decltype(find_walk_fault<typename unmodified<S>::type>()) {};
template <class Fault> inline constexpr bool names_pointer = false;
template <class T> inline constexpr bool names_pointer<member_not_walked<T*>> = true;
template <class Fault>
using not_walked =
    std::conditional_t<names_pointer<Fault>, no_fault, only<Fault, member_not_walked>>;
/// Says so, once for each such struct or type.
template <class Fault> struct walk_says {
  static_assert(ok<only<Fault, member_not_described>>,
                "for_each_tensor: a struct has members that its BOOST_HANA_DEFINE_STRUCT leaves "
                "out; describe them all");
  static_assert(!names_pointer<Fault>,
                "for_each_tensor: a pointer is no tensor, and no struct of them; pass what it "
                "points to, and let members be values");
  static_assert(ok<not_walked<Fault>>,
                "for_each_tensor: a member is neither a tensor, a number, an array or tuple, nor a "
                "described struct; describe it by BOOST_HANA_DEFINE_STRUCT");
};

/// What stands in an X where a Form has tensors.
template <class Form, class X> struct leaves_at;
template <class S> struct leaves_counted;
/// Most parts are tensors, and nothing need be instantiated for these.
template <bool Tensor> struct leaves_of_part {
  template <class F, class X> using type = typename leaves_at<F, X>::type;
  template <class S> using count = leaves_counted<S>;
};
template <> struct leaves_of_part<true> {
  template <class, class X> using type = list<X>;
  template <class> using count = std::integral_constant<int, 1>;
};
template <class... F, class... X> constexpr auto leaves_of_parts(list<F...>, list<X...>) {
  return tag<typename concat_impl<list<>, typename leaves_of_part<(Tensor<F> && !is_poison<F>)>::
                                              template type<F, X>...>::type>{};
}
template <class Form, class X> constexpr auto find_leaves() {
  if constexpr (is_poison<Form>)
    return tag<list<>>{};
  else if constexpr (Tensor<Form>)
    return tag<list<X>>{};
  else if constexpr (has_elements<Form>)
    return tag<typename leaves_at<typename Form::value_type, typename X::value_type>::type>{};
  else if constexpr (has_parts<Form>)
    return leaves_of_parts(part_types<Form>{}, part_types<X>{});
  else
    return tag<list<>>{};
}
template <class Form, class X> struct leaves_at : decltype(find_leaves<Form, X>()) {};
/// The tensor types of a struct, in the order of declaration.
template <class S> struct leaves {
  using type = typename leaves_of_part<(Tensor<S> && !is_poison<S>)>::template type<S, S>;
};

template <class S> constexpr int count_leaves();
template <class... S> constexpr int count_leaves_of(list<S...>) {
  int sum = 0;
  for (const int n : {0, leaves_of_part<(Tensor<S> && !is_poison<S>)>::template count<S>::value...})
    sum = sum < 0 || n < 0 ? -1 : sum + n;
  return sum;
}
template <class S> constexpr int count_leaves() {
  if constexpr (is_poison<S>)
    return 0;
  else if constexpr (Tensor<S>)
    return 1;
  else if constexpr (sequence_kind<S>::vector)
    return count_leaves<typename S::value_type>() == 0 ? 0 : -1;
  else if constexpr (sequence_kind<S>::array)
    return std::max(
        -1, static_cast<int>(sequence_kind<S>::size) * count_leaves<typename S::value_type>());
  else if constexpr (has_parts<S>)
    return count_leaves_of(part_types<S>{});
  else
    return 0;
}
template <class S> struct leaves_counted : std::integral_constant<int, count_leaves<S>()> {};
/// How many tensors a struct has, those of arrays each; -1 where vectors say so at run time.
template <class S>
inline constexpr int leaf_count =
    leaves_of_part<(Tensor<S> && !is_poison<S>)>::template count<S>::value;
/// The number is known at run time only.
template <class S> inline constexpr bool has_vectors = leaf_count<S> < 0;

/// How many tensors x has.
template <class S> constexpr int count_in(const S& x) {
  if constexpr (!has_vectors<S>) {
    return leaf_count<S>;
  } else if constexpr (has_elements<S>) {
    int n = 0;
    for (const auto& e : x) n += count_in(e);
    return n;
  } else {
    return with_parts(x, [](const auto&... part) { return (0 + ... + count_in(part)); });
  }
}

/// A leaf's address, and the place of its type among the leaves'.
struct leaf {
  const tensor_core* core = nullptr;  // of a tensor: what constant expressions can go back from
  const void* other = nullptr;  // of a leaf that is no tensor; nothing for constant expressions
  int kind = 0;
};

template <class Form, class X> constexpr void note_leaves(const X& x, int kind, leaf*& to);
/// Of all parts, each under its form.
template <class Forms> struct note_parts;
template <class... F> struct note_parts<list<F...>> {
  int kind;
  leaf*& to;
  template <class... X> constexpr void operator()(const X&... x) const {
    [[maybe_unused]] int at = kind;
    ((note_leaves<F>(x, at, to), at += leaves<F>::type::size), ...);
  }
};
/// Those of one element: out of line, or loops over layers would be unrolled in all walks.
template <class Form, class X>
[[gnu::noinline]] constexpr void note_element(const X& x, int kind, leaf*& to) {
  note_leaves<Form>(x, kind, to);
}
/// Writes down the leaves of x, where Form has tensors.
template <class Form, class X> constexpr void note_leaves(const X& x, int kind, leaf*& to) {
  if constexpr (is_poison<Form>) {
    // its type has been complained of
  } else if constexpr (Tensor<Form>) {
    if constexpr (core_access::is<X>)
      *to++ = {&core_of(x), nullptr, kind};
    else
      *to++ = {nullptr, &x, kind};  // what stands beside a tensor need not be one
  } else if constexpr (has_elements<Form>) {
    for (const auto& e : x) note_element<typename Form::value_type>(e, kind, to);
  } else if constexpr (is_described<Form> && is_described<X>) {  // fewer functions per struct
    with_members(x, note_parts<part_types<Form>>{kind, to});
  } else if constexpr (has_parts<Form>) {
    with_parts(x, note_parts<part_types<Form>>{kind, to});
  }
}

/// The way back. X is const if the struct was.
template <class X> constexpr X& leaf_at(const leaf& l) {
  using plain = std::remove_const_t<X>;
  if constexpr (core_access::is<plain>)
    return const_cast<X&>(core_access::back<plain>(*l.core));
  else
    return const_cast<X&>(*static_cast<const plain*>(l.other));
}

}  // namespace dimesh::detail
