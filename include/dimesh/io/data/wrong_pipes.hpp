// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does one read whose pipeline is put together in another order, or of what is no part of one?
// One sentence: stages come before the batch, prefetch(...) behind it, and all of them are called.
//
//   batch<S>(g, batch{8}) | shuffle(7)   -> wrong_arguments<S>: input: records are put in order ...
//   lines | prefetch                     -> function_not_an_object<...>
#pragma once

#include "dimesh/io/data/stage.hpp"
#include "dimesh/layout/fault.hpp"

namespace dimesh::input {

namespace detail {

/// What a faulty part makes of a pipeline: whatever follows is accepted in silence, up to the
/// batches of S.
struct no_records {};
template <class S> struct no_batches {
  using value_type = S;
  S next() const { return {}; }
  input::position position() const { return {}; }
  void seek(input::position) const {}
  index_t records() const { return 0; }
  index_t batches_per_epoch() const { return 0; }
};
template <class S>
using batches_of_nothing = no_batches<
    std::conditional_t<std::is_class_v<S> && std::is_default_constructible_v<S>, S, poison>>;
template <class S> constexpr auto nothing_batched() {
  return adaptor{[](const auto&) { return batches_of_nothing<S>{}; }};
}
/// Of what follows `from`.
template <class From> constexpr auto nothing_made_of(const From&) {
  if constexpr (requires { typename From::value_type; })
    return batches_of_nothing<typename From::value_type>{};
  else
    return no_records{};
}

/// What F is given of a stage, and whether it takes it.
template <class S, class F, class... Key> constexpr auto record_fault_of() {
  using given = decltype(std::declval<const pass_of<S>&>()(index_t{}));
  if constexpr (std::is_invocable_v<const F&, given, Key...>)
    return std::type_identity<no_fault>{};
  else
    return std::type_identity<function_not_callable_with<record_of<S>, Key...>>{};
}
template <class S, class F, class... Key>
using record_fault = typename decltype(record_fault_of<S, F, Key...>())::type;

}  // namespace detail

template <class F> auto operator|(detail::no_records none, const adaptor<F>& to) {
  if constexpr (detail::OfRecords<F>)
    return none;
  else
    return to.make(none);
}
template <class S, class F>
detail::no_batches<S> operator|(detail::no_batches<S> none, const adaptor<F>&) {
  return none;
}

/// The name of a part, without parentheses.
template <class From, class R, class... A>
  requires(Stage<From> || requires { typename From::value_type; })
auto operator|(const From& from, R (&)(A...)) {
  static_assert(ok<function_not_an_object<R(A...)>>,
                "input: a part of a pipeline is called where it stands: files | shuffle(7) | "
                "batch<S>(g, batch{64}) | prefetch(2)");
  return detail::nothing_made_of(from);
}

}  // namespace dimesh::input
