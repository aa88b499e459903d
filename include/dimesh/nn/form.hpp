// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does a model's form name all that it must? If not, one error says what, and a stand-in takes the
// form's place, so that nothing further goes wrong.
//
//   form_of<M>          -> M, or an empty model that stands in for it
//   source_form_of<M>   -> the same of a form that must name a source, too
//   expert_form_of<M>   -> M, which must name an expert, whatever else it names
#pragma once

#include "dimesh/nn/config.hpp"

namespace dimesh::nn {

namespace detail {

template <class M>
inline constexpr bool names_batch = requires { requires Dim<typename M::batch>; };
template <class M>
inline constexpr bool names_length = requires { requires Dim<typename M::length>; };
template <class M>
inline constexpr bool names_model = requires { requires Dim<typename M::model>; };
template <class M> inline constexpr bool names_heads = requires { M::heads::rank; };
template <class M> inline constexpr bool names_head = requires { requires Dim<typename M::head>; };
template <class M>
inline constexpr bool names_hidden = requires { requires Dim<typename M::hidden>; };
template <class M>
inline constexpr bool names_vocab = requires { requires Dim<typename M::vocab>; };
template <class M>
inline constexpr bool names_layers = requires { typename std::bool_constant<(M::layers >= 0)>; };
template <class M>
inline constexpr bool has_elements =
    requires { requires std::is_floating_point_v<typename M::element>; };
template <class M> inline constexpr bool is_form = std::is_base_of_v<transformer, M>;
template <class M>
concept Complete =
    is_form<M> && names_batch<M> && names_length<M> && names_model<M> && names_heads<M> &&
    names_head<M> && names_hidden<M> && names_vocab<M> && names_layers<M> && has_elements<M>;

/// Takes the place of an incomplete form; models of it have no parameters.
struct stand_in_form : transformer {
  template <int> struct stand_in : dim<1> {};
  using batch = stand_in<0>;
  using length = stand_in<1>;
  using model = stand_in<2>;
  using heads = shape<stand_in<3>>;
  using head = stand_in<4>;
  using hidden = stand_in<5>;
  using vocab = stand_in<6>;
  using source = stand_in<7>;
  static constexpr int layers = 1;
};
template <class M>
  requires std::is_base_of_v<stand_in_form, M>
inline constexpr bool is_stand_in<M> = true;
template <class M, class How, class L, class... D>
  requires is_stand_in<M>
struct parameter_for<M, How, L, D...> {
  using type = absent;
};

/// Is M complete? Says what it lacks: in a function, since clang makes nothing of a class whose
/// assertion failed.
template <class M> constexpr bool assert_form() {
  static_assert(
      is_form<M>,
      "nn: this is no form; write a struct that derives from nn::transformer, and name it "
      "behind the layout: <layout, form>");
  if constexpr (is_form<M>) {
    static_assert(names_batch<M>, "nn: the form names no batch; add using batch = a dim");
    static_assert(names_length<M>, "nn: the form names no length; add using length = a dim");
    static_assert(names_model<M>, "nn: the form names no model; add using model = a dim");
    static_assert(names_heads<M>,
                  "nn: the form names no heads; add using heads = shape<a dim, ...>");
    static_assert(names_head<M>, "nn: the form names no head; add using head = a dim");
    static_assert(names_hidden<M>, "nn: the form names no hidden; add using hidden = a dim");
    static_assert(names_vocab<M>, "nn: the form names no vocab; add using vocab = a dim");
    static_assert(names_layers<M>,
                  "nn: the form has no layers; add static constexpr int layers = a number");
    static_assert(has_elements<M>,
                  "nn: elements of parameters are float or double; for activations in half "
                  "precision say using activations = bfloat16");
  }
  return Complete<M>;
}

}  // namespace detail

/// M, or what stands in for it where it lacks something.
template <class M>
using form_of = std::conditional_t<detail::assert_form<M>(), M, detail::stand_in_form>;

namespace detail {
template <class M>
inline constexpr bool names_source = requires { requires Dim<typename M::source>; };
template <class M> concept CompletePair = Complete<M> && names_source<M>;
/// Takes the place of a form that is complete but for its source.
template <class M> struct without_source : M {
  struct source : dim<1> {};
};
template <class M> constexpr bool assert_source() {
  static_assert(names_source<M>, "nn: the form names no source; add using source = a dim");
  return names_source<M>;
}
}  // namespace detail

/// form_of<M>, whose layers look at positions along a source.
template <class M>
using source_form_of = std::conditional_t<detail::assert_source<form_of<M>>(), form_of<M>,
                                          detail::without_source<form_of<M>>>;

namespace detail {
template <class M>
inline constexpr bool names_expert = requires { requires Dim<typename M::expert>; };
template <class M>
inline constexpr bool names_choice = requires { requires Dim<typename M::choice>; };
template <class M, bool Needed>
inline constexpr bool names_slot = !Needed || requires { requires Dim<typename M::slot>; };
/// Takes the place of a form without one.
template <class M> struct without_expert : M {
  struct expert : dim<1> {};
};
template <class M> constexpr bool assert_expert() {
  static_assert(names_expert<M>, "nn: the form names no expert; add using expert = a dim");
  return names_expert<M>;
}
}  // namespace detail

/// M, whose feed-forward layers are mixtures of experts.
template <class M>
using expert_form_of = std::conditional_t<detail::assert_expert<M>(), M, detail::without_expert<M>>;

}  // namespace dimesh::nn
