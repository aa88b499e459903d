// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do parameters follow the gradient at their own pace? Adam divides the averaged gradient by
// its averaged size; with weight_decay it is AdamW.
//
//   adam optimizer{.rate = 1e-3};  auto state = optimizer.start(params);
//   optimizer(params, complete(gradients), state);
//   adam{.weight_decay = 0.1, .decays = decay_matrices}    // biases and norms do not decay
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/number_given.hpp"
#include "dimesh/local/math.hpp"
#include "dimesh/optim/state.hpp"
#include "dimesh/optim/step.hpp"

namespace dimesh {

/// The averages that Adam keeps, and how many steps it has taken.
template <class P> struct [[nodiscard]] adam_state {
  P first{}, second{};
  index_t steps = 0;

  template <class S, class F> static void for_each_part(S& s, const F& f) {
    f("first", s.first), f("second", s.second), f("steps", s.steps);
  }
};

namespace detail {

/// The square root of x >= 0 to two units in the last place, from a first guess by the exponent
/// and Newton steps; of what is less than the least normal number, 0 or nearly so. As a denominator
/// with an epsilon added no more is needed, and a pass over memory stays one.
template <class T> KOKKOS_FORCEINLINE_FUNCTION T root_for_denominator(T x) {
  if constexpr (elementary::Native<T>) {
    using word = std::make_unsigned_t<typename elementary::ieee<T>::bits>;
    constexpr word magic = static_cast<word>(sizeof(T) == 4 ? 0x5f3759df : 0x5fe6eb50c7b537a9);
    constexpr T most = std::numeric_limits<T>::max();
    x = elementary::choose(x <= most, x, most);  // a square that overflowed: a step of nearly 0
    T y = std::bit_cast<T>(magic - (std::bit_cast<word>(x) >> 1));  // 1 / sqrt(x) within 3.5 %
    const T half = T(0.5) * x;
    y = y * (T(1.5) - half * y * y);
    y = y * (T(1.5) - half * y * y);
    if constexpr (sizeof(T) == 8) y = y * (T(1.5) - half * y * y);
    const T root = x * y;
    return root + T(0.5) * y * (x - root * root);
  } else {
    return dimesh::sqrt(x);
  }
}

struct adam_rule {
  double step, decay, beta1, beta2, root_correction, epsilon;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(T& p, const T& g, T& m, T& v) const {
    m = static_cast<T>(beta1) * m + static_cast<T>(1 - beta1) * g;
    const auto factor = static_cast<T>(1 - beta2);
    if constexpr (is_complex<T>)
      v = static_cast<T>(beta2) * v + factor * T(squared_size(g));
    else
      v = static_cast<T>(beta2) * v + factor * g * g;
    using real = std::remove_cvref_t<decltype(real_part(v))>;
    p = p * static_cast<T>(1 - decay) -
        static_cast<T>(step) * m /
            (root_for_denominator(real_part(v)) * static_cast<real>(root_correction) +
             static_cast<real>(epsilon));
  }
};

/// The rule of each parameter. It knows no struct: one loop over tensors serves them all.
struct adam_rules {
  adam_rule rule;  // of those that decay
  bool (*decays)(const member_path& path, int rank);
  member_path (*path_in)(const void* parameters, int leaf);
  const void* parameters;

  adam_rule operator()(int leaf, int rank) const {
    adam_rule own = rule;
    if (!decays(path_in(parameters, leaf), rank)) own.decay = 0;
    return own;
  }
};
#if defined(DIMESH_COMPILED) && !defined(DIMESH_INSTANCES)
extern template void update_all<float>(const adam_rules&, int, tensor_core* const*,
                                       tensor_core* const*, tensor_core* const*,
                                       tensor_core* const*);
extern template void update_all<double>(const adam_rules&, int, tensor_core* const*,
                                        tensor_core* const*, tensor_core* const*,
                                        tensor_core* const*);
#elif defined(DIMESH_INSTANCES)
template void update_all<float>(const adam_rules&, int, tensor_core* const*, tensor_core* const*,
                                tensor_core* const*, tensor_core* const*);
template void update_all<double>(const adam_rules&, int, tensor_core* const*, tensor_core* const*,
                                 tensor_core* const*, tensor_core* const*);
#endif

}  // namespace detail

/// All parameters decay.
inline bool decay_all(const member_path&, int) { return true; }
/// Those with two dims or more decay: no biases, no scales of norms.
inline bool decay_matrices(const member_path& p, int rank) {
  const char* const name = p.name();
  return rank >= 2 && !(name != nullptr && std::string_view(name).ends_with("bias"));
}

/// Adam (Kingma and Ba 2015, algorithm 1) with bias correction; weight decay decoupled from the
/// gradient (Loshchilov and Hutter 2019, algorithm 2). In place, one pass over p, g and both
/// averages. The square of a complex gradient is |g|^2, so that turning a parameter turns its steps
/// likewise. A step throws dimesh::error where a number is negative or not finite, or a beta 1.
struct adam {
  double rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  /// Which parameters decay: all, decay_matrices, or a function of your own.
  bool (*decays)(const member_path& path, int rank) = decay_all;
  detail::no_more_numbers end{};

  /// Says that a step is a call of the optimizer itself.
  template <class... No, class... A> void step(const A&...) const { detail::refuse_step<No...>(); }

  template <class P> static adam_state<P> start(const P& parameters) {
    return {detail::zeros_in_form_of(parameters), detail::zeros_in_form_of(parameters), 0};
  }

  /// What it says where the state is missing, or not its own.
  template <class P, class G, class... S>
    requires(!detail::is_state<adam_state<std::remove_const_t<P>>, S...>)
  void operator()(P&, const G&, S&...) const {
    static_assert(
        ok<wrong_arguments<P, G, S...>>,
        "adam: the arguments are parameters, gradients and the state that start(parameters) "
        "gave; pass that state, one for these parameters");
  }
  template <class P, class G>
  void operator()(P& parameters, const G& gradients,
                  adam_state<std::remove_const_t<P>>& state) const {
    using fault = detail::training_fault<P, G>;
    static_assert(ok<only<fault, parameter_is_rounded>>,
                  "adam: small updates would be rounded away; keep parameters in float or double");
    static_assert(ok<only<fault, parameters_are_const>>,
                  "adam: the parameters are const, and change in place; pass them without const");
    static_assert(ok<only<fault, structs_differ>>,
                  "adam: parameters and gradients are structs of two forms; pass the gradients of "
                  "these parameters");
    static_assert(ok<only<fault, gradient_not_complete>>,
                  "adam: a gradient is a sum yet to be made; pass complete(gradients)");
    static_assert(
        ok<only<fault, layouts_differ>>,
        "adam: a parameter and its gradient have different layouts; relayout one of them");
    static_assert(ok<only<fault, lengths_differ>>,
                  "adam: parameters and gradients differ in the length of an array; pass the "
                  "gradients of these parameters");
    if constexpr (ok<fault> && !is_poison<G>) {
      detail::require_not_negative("adam", "rate", rate);
      detail::require_kept_part("adam", "beta1", beta1);
      detail::require_kept_part("adam", "beta2", beta2);
      detail::require_not_negative("adam", "epsilon", epsilon);
      detail::require_not_negative("adam", "weight decay", weight_decay);
      detail::check_lengths<P>("adam", parameters, gradients, state.first, state.second);
    }
    const auto t = static_cast<double>(state.steps + 1);
    const double step = rate / (1 - std::pow(beta1, t));
    const double root_correction = 1 / std::sqrt(1 - std::pow(beta2, t));
    if constexpr (ok<fault> && !is_poison<G>)
      detail::update_tensors_by(
          detail::adam_rules{
              {step, rate * weight_decay, beta1, beta2, root_correction, epsilon},
              decays,
              [](const void* of, int leaf) { return path_of(*static_cast<const P*>(of), leaf); },
              &parameters},
          parameters, gradients, state.first, state.second);
    ++state.steps;  // a step that is refused is none
  }
};

}  // namespace dimesh
