// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do layers take? One object: under which compute layout they run, the model's dims and
// choices, and what a run brings along, its random key and its dropout.
//
//   const nn::model<hybrid, gpt> m({.dropout = 0.1, .key = key});
//   nn::block(m, p, x)                  // any layer of nn/ with a Transformer's dims
//   const nn::model<by_batch> mine;     // dims of one's own: layers that are given tensors alone
//   nn::dense(mine, nn::relu_activation{}, x, w, b)
#pragma once

#include "dimesh/nn/config.hpp"
#include "dimesh/reflect/paths.hpp"

namespace dimesh::nn {

/// What changes from run to run: dropout, off unless it is given a rate, and only in training.
struct run_options {
  double dropout = 0;
  random_key key{0};
  bool training = true;

  /// The part of the activations that is left out.
  constexpr double rate() const { return training ? dropout : 0; }
};

/// The name of a part of a model, as a number: the streams of its random numbers depend on the
/// names on the way to it, and parts of other names have others.
struct part_name {
  std::uint64_t bits;

  constexpr part_name(const char* name) : bits(hash(name)) {}

 private:
  static constexpr std::uint64_t hash(std::string_view name) {
    dimesh::detail::text_hash h;
    h.add(name);
    return h.bits;
  }
};

namespace detail {
template <class C, class M> constexpr bool assert_compute_layout() {
  static_assert(ok<std::conditional_t<Layout<C> || is_stand_in<M>, no_fault, not_a_layout<C>>>,
                "nn: a model begins with its compute layout: <layout<pod, split<batch, rows>>, "
                "form>");
  return true;
}
}  // namespace detail

/// Compute layout C (nn/project.hpp), dims and choices M (nn/config.hpp), and a run.
template <class C, class M = transformer> struct model {
  using compute = dimesh::detail::asserted<detail::assert_compute_layout<C, M>(), C>;
  using config = M;

  constexpr model(const run_options& r = {}) : run(r) {}

  run_options run;

  /// The model as its part of a name sees it, with random numbers of its own: layers with random
  /// routes have others each, with dropout or without.
  constexpr model part(part_name name) const { return with(run.key.fold(name.bits)); }
  /// The same of the i-th of several.
  constexpr model part(part_name name, std::size_t i) const {
    return with(run.key.fold(name.bits).fold(i));
  }
  /// The same with other dims or choices: encoders' length is another one.
  template <class Other> constexpr model<C, Other> as() const { return model<C, Other>(run); }

 private:
  constexpr model with(random_key key) const {
    return model(run_options{run.dropout, key, run.training});
  }
};

}  // namespace dimesh::nn
