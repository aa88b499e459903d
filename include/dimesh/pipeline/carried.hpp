// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does what a layer gives get past those behind it, to one that needs it? Beside what goes on,
// under a name: from layer to layer, and so from cell to cell and from rank to rank.
//
//   std::tuple<on_the_way, X, std::pair<skip, T>>      an X, and the T that is called skip
//   run_layer(f, w, x, i)    f of what goes on; the rest is handed on, put down or taken up
#pragma once

#include "dimesh/pipeline/cell.hpp"

namespace dimesh::detail::pipeline {

/// std::tuple<on_the_way, X, std::pair<Name, T>...>: an X, and what later layers will recall.
struct on_the_way {};
template <class X> inline constexpr bool is_carrying = false;
template <class X, class... P>
inline constexpr bool is_carrying<std::tuple<on_the_way, X, P...>> = true;

template <class F, class Name> struct function_remembering;
template <class F, class Name> struct function_recalling;
template <class... F> struct functions_in_turn;
template <class F> inline constexpr bool is_naming = false;
template <class F, class N> inline constexpr bool is_naming<function_remembering<F, N>> = true;
template <class F, class N> inline constexpr bool is_naming<function_recalling<F, N>> = true;

/// The first part of what goes on that nobody but who has it can make: no tensor, or a vector of
/// them. Other ranks, and what is run again, make it by its type.
template <class X> struct unmade_fault;
template <class... X> constexpr auto find_unmade_in(list<X...>) {
  return tag<typename first_of<typename unmade_fault<X>::type...>::type>{};
}
template <class X> constexpr auto find_unmade() {
  if constexpr (Operand<X> || std::is_empty_v<X>)
    return tag<no_fault>{};
  else if constexpr (sequence_kind<X>::array)
    return tag<typename unmade_fault<typename X::value_type>::type>{};
  else if constexpr (has_parts<X>)
    return find_unmade_in(part_types<X>{});
  else
    return tag<not_a_tensor<X>>{};
}
template <class X> struct unmade_fault : decltype(find_unmade<X>()) {};
template <class X, class... Name, class... T>
struct unmade_fault<std::tuple<on_the_way, X, std::pair<Name, T>...>>
    : decltype(find_unmade_in(list<X, T...>{})){};

/// Which of these is carried under a name; -1: none.
template <class Name, class... P> constexpr int carried_at(list<P...>) {
  int at = -1, i = 0;
  ((std::is_same_v<typename P::first_type, Name> ? at = i++ : i++), ...);
  return at;
}
template <class X> struct carried_parts {
  using main = X;
  using names = list<>;
};
template <class X, class... P> struct carried_parts<std::tuple<on_the_way, X, P...>> {
  using main = X;
  using names = list<P...>;
};
/// y and what is carried beside it.
template <class Y, class... P> constexpr auto beside(const Y& y, const std::tuple<P...>& carried) {
  if constexpr (sizeof...(P) == 0 || is_poison<Y>)
    return y;
  else
    return std::tuple_cat(std::make_tuple(on_the_way{}, y), carried);
}
template <class X> constexpr const auto& main_of(const X& x) {
  if constexpr (is_carrying<X>)
    return std::get<1>(x);
  else
    return x;
}
/// All that is carried but number Without.
template <int Without, class X> constexpr auto carried_beside(const X& x) {
  if constexpr (!is_carrying<X>) {
    return std::tuple<>{};
  } else {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple_cat([&] {
        if constexpr (static_cast<int>(I) == Without)
          return std::tuple<>{};
        else
          return std::make_tuple(std::get<I + 2>(x));
      }()...);
    }(std::make_index_sequence<std::tuple_size_v<X> - 2>());
  }
}
/// A layer, of what goes on alone; the rest is handed on.
template <class F> struct layer_runner {
  template <class W, class X> static constexpr auto run(const F& f, const W& w, const X& x, int i) {
    return beside(call_cell(f, w, main_of(x), i), carried_beside<-1>(x));
  }
};
template <class... F> struct layer_runner<functions_in_turn<F...>> {
  template <class W, class X>
  static constexpr auto run(const functions_in_turn<F...>& f, const W& w, const X& x, int i) {
    return f(w, x, i);
  }
};
template <class F, class Name> struct layer_runner<function_remembering<F, Name>> {
  template <class W, class X>
  static constexpr auto run(const function_remembering<F, Name>& f, const W& w, const X& x, int i) {
    const auto y = call_cell(f.f, w, main_of(x), i);
    const std::pair<Name, std::remove_const_t<decltype(y)>> named{Name{}, y};
    return beside(y, std::tuple_cat(carried_beside<-1>(x), std::make_tuple(named)));
  }
};
template <class F, class Name> struct layer_runner<function_recalling<F, Name>> {
  template <class W, class X>
  static constexpr auto run(const function_recalling<F, Name>& f, const W& w, const X& x, int i) {
    constexpr int at = carried_at<Name>(typename carried_parts<X>::names{});
    const auto& kept = std::get<static_cast<std::size_t>(at) + 2>(x).second;
    return beside(call(f.f, w, main_of(x), kept, i), carried_beside<at>(x));
  }

 private:
  template <class W, class X, class P>
  static constexpr auto call(const F& f, const W& w, const X& x, const P& kept, int i) {
    if constexpr (wants_number<F, W, X, P>())
      return f(w, x, kept, i);
    else
      return f(w, x, kept);
  }
};
template <class F, class W, class X>
constexpr auto run_layer(const F& f, const W& w, const X& x, int i) {
  return layer_runner<F>::run(f, w, x, i);
}
template <class F, class Name> struct function_remembering {
  F f;
  template <class W, class X> constexpr auto operator()(const W& w, const X& x, int i = 0) const {
    return run_layer(*this, w, x, i);
  }
};
template <class F, class Name> struct function_recalling {
  F f;
  template <class W, class X> constexpr auto operator()(const W& w, const X& x, int i = 0) const {
    return run_layer(*this, w, x, i);
  }
};

}  // namespace dimesh::detail::pipeline
