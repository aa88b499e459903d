// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do small gradients survive a narrow format? The loss is multiplied by a factor, the gradients
// are divided by it afterwards; steps whose gradients overflowed are left out, on all ranks alike.
//
//   dynamic_loss_scale scale;
//   auto step = complete(value_and_grad(scale.scaled(f), params)(x));
//   const double loss = value(step.value) / scale.factor;
//   const double norm = global_norm(step.gradient);     // one number, the same on every rank
//   const bool taken = scale.accepts(norm);
//   if (taken) optimizer(params, scale.unscaled(step.gradient), state);
//   scale.update(norm);
//   return {{"loss", loss}, {"left out", taken ? 0.0 : 1.0}};      // of a training_loop's step
#pragma once

#include <cmath>
#include <type_traits>

#include "dimesh/detail/number_given.hpp"
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/optim/clip.hpp"

namespace dimesh {

namespace detail {
template <class F> struct scaled_function {
  F f;
  double factor;
  template <class... X>
    requires std::is_invocable_v<const F&, const X&...>  // who asks is told what f takes
  constexpr auto operator()(const X&... x) const {
    auto loss = f(x...);
    if constexpr (is_poison<decltype(loss)>)
      return loss;
    else {  // what only stores holds few such numbers
      using T = computed<value_of<decltype(loss)>>;
      return cast<T>(loss) * static_cast<T>(factor);
    }
  }
};
}  // namespace detail

/// A factor that stays. Powers of two cost no accuracy. What uses one that is not above 0, or not
/// finite, throws dimesh::error.
struct loss_scale {
  double factor = 1;

  /// f, its value multiplied by the factor.
  template <class F> constexpr auto scaled(const F& f) const {
    require_factor();
    return detail::scaled_function<F>{f, factor};
  }
  /// May the step be taken? `norm` is the global norm of its gradients.
  bool accepts(double norm) const { return std::isfinite(norm); }
  /// Divides by the factor, in place; returns its argument. Local.
  template <class S> S& unscaled(S& gradients) const {
    require_factor();
    if (factor != 1) rescale(gradients, 1 / factor);
    return gradients;
  }
  void update(double) {}

 private:
  constexpr void require_factor() const {
    detail::require_positive("loss_scale", "factor", factor);
    detail::require_finite("loss_scale", "factor", factor);
  }
};

/// A factor that falls when gradients overflow, and grows after many steps in which none did
/// (Micikevicius et al. 2018, "Mixed precision training", section 3.2).
struct dynamic_loss_scale : loss_scale {
  double growth = 2, backoff = 0.5;
  index_t interval = 2000;  ///< good steps before the factor grows
  double least = 1, most = 16777216;
  index_t good = 0;  ///< steps since the factor last changed

  dynamic_loss_scale() : loss_scale{65536} {}
  explicit dynamic_loss_scale(double first) : loss_scale{first} {}

  /// After each step, taken or not.
  void update(double norm) {
    if (!accepts(norm)) {
      factor = std::fmax(factor * backoff, least);
      good = 0;
    } else if (++good >= interval) {
      factor = std::fmin(factor * growth, most);
      good = 0;
    }
  }
};

}  // namespace dimesh
