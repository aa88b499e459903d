// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long are the vectors of a struct? As long as those of a struct beside it: results are made in
// its form, and what is walked with it must agree. Of arrays the types say it.
//
//   in_form_of<network<gradient<L>>>(params)   -> empty tensors, vectors as long as in params
//   in_place_of<network<tracked<L>>>(params)   -> the same, and what is no tensor is that of params
//   check_lengths<network<L>>("adam", params, gradients)   -> dimesh::error if they differ
#pragma once

#include <string_view>

#include "dimesh/detail/words.hpp"
#include "dimesh/reflect/leaves.hpp"

namespace dimesh::detail {

template <class Form, class X, class Y, class F>
constexpr void each_vector(const X& x, Y& y, const char* name, const F& f);

template <class S> constexpr const char* part_name([[maybe_unused]] std::size_t i) {
  if constexpr (sequence_kind<S>::tuple)
    return "";
  else
    return member_names<S>[i];
}
template <class Form, class F, class... Part> struct each_part {
  const F& f;
  template <class X, class Y> constexpr void operator()(list<Part...>, const X& x, Y& y) const {
    with_parts(x, [&](const auto&... a) {
      with_parts(y, [&](auto&... b) {
        std::size_t i = 0;
        (each_vector<Part>(a, b, part_name<Form>(i++), f), ...);
      });
    });
  }
};
template <class Form, class F, class... Part>
constexpr auto each_part_of(const F& f, list<Part...>) {
  return each_part<Form, F, Part...>{f};
}

/// f(name, v, w) for the vectors v of x and w of y with tensors in them, from outside to inside.
template <class Form, class X, class Y, class F>
constexpr void each_vector(const X& x, Y& y, const char* name, const F& f) {
  if constexpr (has_vectors<Form>) {
    if constexpr (sequence_kind<Form>::vector) f(name, x, y);
    if constexpr (has_elements<Form>)
      for (std::size_t i = 0; i < y.size() && i < x.size(); ++i)
        each_vector<typename Form::value_type>(x[i], y[i], name, f);
    else
      each_part_of<Form>(f, part_types<Form>{})(part_types<Form>{}, x, y);
  }
}

/// A To, not yet filled, whose vectors are as long as those of x, which has the form Form.
template <class To, class Form> constexpr To in_form_of(const Form& x) {
  if constexpr (!has_vectors<Form>) {
    return To{};
  } else {
    To to{};
    each_vector<Form>(x, to, "",
                      [](const char*, const auto& from, auto& v) { v.resize(from.size()); });
    return to;
  }
}

template <class S> constexpr bool find_others();
template <class... Part> constexpr bool find_others_of(list<Part...>) {
  return (false || ... || find_others<Part>());
}
template <class S> constexpr bool find_others() {
  if constexpr (Operand<S> || std::is_empty_v<S>)
    return false;
  else if constexpr (has_elements<S>)
    return leaf_count<S> == 0 || find_others<typename S::value_type>();
  else if constexpr (has_parts<S>)
    return find_others_of(part_types<S>{});
  else
    return true;
}
/// It has parts that are no tensors, and not empty: numbers, and vectors of them.
template <class S> inline constexpr bool has_others = find_others<S>();

/// Makes those of y, whose vectors of tensors are as long as those of x, the ones of x.
template <class X, class Y> constexpr void copy_others(const X& x, Y& y) {
  if constexpr (!has_others<X>) {
    // there are none
  } else if constexpr (leaf_count<X> == 0 && std::is_same_v<X, Y>) {
    y = x;
  } else if constexpr (has_elements<X>) {
    if constexpr (sequence_kind<X>::vector && leaf_count<X> == 0) y.resize(x.size());
    for (std::size_t i = 0; i < y.size() && i < x.size(); ++i) copy_others(x[i], y[i]);
  } else if constexpr (has_parts<X>) {
    with_parts(
        x, [&](const auto&... a) { with_parts(y, [&](auto&... b) { (copy_others(a, b), ...); }); });
  }
}

/// A To that is to be used in place of x, which has the form Form: in_form_of, with what is no
/// tensor as it is in x.
template <class To, class Form> constexpr To in_place_of(const Form& x) {
  To to = in_form_of<To>(x);
  copy_others(x, to);
  return to;
}

[[noreturn]] inline void refuse_lengths(std::string_view call, const char* name, std::size_t first,
                                        std::size_t second) {
  (words() << call << ": the vectors '" << name << "' of two structs side by side have "
           << static_cast<index_t>(first) << " and " << static_cast<index_t>(second)
           << " elements; make one in the form of the other (empty_like, zeros_like, start)")
      .raise();
}
/// Throws dimesh::error, which names the call, unless vectors are as long as those of the first.
template <class Form, class First, class... More>
constexpr void check_lengths([[maybe_unused]] std::string_view call,
                             [[maybe_unused]] const First& first, const More&... more) {
  if constexpr (has_vectors<Form> && sizeof...(More) > 0) {
    const auto compare = [call](const char* name, const auto& a, const auto& b) {
      if (a.size() != b.size()) refuse_lengths(call, name, a.size(), b.size());
    };
    (each_vector<Form>(first, more, "", compare), ...);
  }
}

// ---- arrays: by their types ---------------------------------------------------------------------

/// What keeps an X from being walked beside a Form: an array of another length.
template <class Form, class X> struct lengths_fault;
template <class... Fault> struct first_lengths_fault : tag<no_fault> {};
template <class Fault, class... Rest>
struct first_lengths_fault<Fault, Rest...>
    : std::conditional_t<ok<typename Fault::type>, first_lengths_fault<Rest...>, Fault> {};
template <class... F, class... X> constexpr auto find_in_pairs(list<F...>, list<X...>) {
  if constexpr (sizeof...(F) == sizeof...(X))
    return tag<typename first_lengths_fault<lengths_fault<F, X>...>::type>{};
  else
    return tag<no_fault>{};
}
template <class Form, class X> constexpr auto find_lengths_fault() {
  if constexpr (std::is_same_v<typename unmodified<Form>::type, typename unmodified<X>::type> ||
                Operand<Form>)
    return tag<no_fault>{};
  else if constexpr (sequence_kind<Form>::array && sequence_kind<X>::array &&
                     sequence_kind<Form>::size != sequence_kind<X>::size)
    return tag<lengths_differ<Form, X>>{};
  else if constexpr (has_elements<Form> && has_elements<X>)
    return tag<typename lengths_fault<typename Form::value_type, typename X::value_type>::type>{};
  else if constexpr (has_parts<Form> && has_parts<X>)
    return find_in_pairs(part_types<Form>{}, part_types<X>{});
  else
    return tag<no_fault>{};
}
template <class Form, class X> struct lengths_fault : decltype(find_lengths_fault<Form, X>()) {};

}  // namespace dimesh::detail
