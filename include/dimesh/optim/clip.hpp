// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long is the gradient as one vector? Each element of each tensor counts once, however it is
// split or replicated; the ranks sum one number. Gradients longer than a limit are cut to it.
//
//   auto step = complete(value_and_grad(f, params)(x));
//   const double length = clip_by_global_norm(step.gradient, 1.0);   // all-reduces one double
#pragma once

#include <cmath>

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/detail/box.hpp"
#include "dimesh/local/reduce.hpp"
#include "dimesh/walk.hpp"

namespace dimesh {

namespace detail {

/// The first axis along which a tensor of the struct is a sum yet to be made.
template <class Leaves> struct addends_fault {
  using type = no_fault;
};
template <class X, class... Rest>
struct addends_fault<list<X, Rest...>> : addends_fault<list<Rest...>> {};
template <class X, class... Rest>
  requires(spec_of<X>::table.any_partial())
struct addends_fault<list<X, Rest...>> {
  static constexpr int axis = [] {
    for (int a = 0; a < spec_of<X>::table.axes; ++a)
      if (spec_of<X>::table.axis[a].what != use::replicated &&
          spec_of<X>::table.axis[a].what != use::split)
        return a;
    return 0;
  }();
  using type = gradient_not_complete<type_at<axis, typename X::mesh_type::axes>>;
};

struct square_in_double {
  template <class T> KOKKOS_FORCEINLINE_FUNCTION double operator()(T x) const {
    return static_cast<double>(x) * static_cast<double>(x);
  }
};

/// The sum of x[0..n) squared, in double.
template <class T> [[gnu::noinline]] double sum_of_squares(const T* x, index_t n) {
  const storage sum = storage::acquire(sizeof(double));
  auto* const at = static_cast<double*>(sum.data());
  local::map_reduce(local::plus{}, local::nest<1>{{n}}, square_in_double{},
                    local::operand<double, local::step::zero>{at, {0}},
                    local::operand<const T, local::step::unit>{x, {1}});
  Kokkos::fence();
  return get_element(at);
}

/// Is this rank the first of those that hold copies of x, among those along `axes`?
template <class X> bool counts_here(const X& x, unsigned axes) {
  for (int a = 0; a < max_axes; ++a)
    if ((axes & ~spec_of<X>::table.mask(use::split)) >> a & 1u)
      if (x.grid().state().coords()[a] != 0) return false;
  return true;
}

/// The axes that split any tensor of the struct and have several ranks.
template <class S> unsigned splitting_axes(const S& s) {
  unsigned axes = 0;
  for_each_tensor(
      [&axes](const auto&, const auto& x) {
        using X = std::remove_cvref_t<decltype(x)>;
        axes |= talking(spec_of<X>::table.mask(use::split), x.grid().state().sizes());
      },
      s);
  return axes;
}

struct scale_rule {
  double factor;
  template <class T> KOKKOS_FORCEINLINE_FUNCTION void operator()(T& x) const {
    x *= static_cast<T>(factor);
  }
};

}  // namespace detail

/// Multiplies all elements of a tensor or a struct of tensors, in place. Local.
template <class S> void rescale(S& gradients, double factor) {
  for_each_tensor(
      [factor](const auto&, auto& x) {
        using T = value_of<std::remove_cvref_t<decltype(x)>>;
        local::for_each(local::nest<1>{{x.local_size()}}, detail::scale_rule{factor},
                        local::operand<T, local::step::unit>{x.data(), {1}});
      },
      gradients);
}

/// The square root of the sum of the squares of all elements of a struct of tensors, in double, the
/// same bits on every rank; inf or NaN if an element is. Communicates: all-reduces one double over
/// the axes that split any of the tensors.
template <class S> double global_norm(const S& gradients) {
  using fault = typename detail::addends_fault<typename detail::leaves<S>::type>::type;
  static_assert(ok<fault>,
                "global_norm: a gradient is a sum yet to be made; pass complete(gradients)");
  if constexpr (!ok<fault>) {
    return 0;
  } else {
    const unsigned axes = detail::splitting_axes(gradients);
    double sum = 0;
    const detail::grid_state* grid = nullptr;
    for_each_tensor(
        [&](const auto&, const auto& x) {
          grid = &x.grid().state();
          if (detail::counts_here(x, axes)) sum += detail::sum_of_squares(x.data(), x.local_size());
        },
        gradients);
    if (axes != 0) collective::all_reduce(grid->along(axes), &sum, &sum, 1);
    return std::sqrt(sum);
  }
}

/// Scales the gradients to a global norm of `limit`, in place, if theirs is greater and finite;
/// returns the norm that they had (Pascanu et al. 2013, "On the difficulty of training recurrent
/// neural networks", algorithm 1). Communicates as global_norm does.
template <class S> double clip_by_global_norm(S& gradients, double limit) {
  const double norm = global_norm(gradients);
  if (norm > limit && std::isfinite(norm)) rescale(gradients, limit / norm);
  return norm;
}

}  // namespace dimesh
