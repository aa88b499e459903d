// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long is the gradient as one vector? Each element of each tensor counts once, however it is
// split, replicated or placed; the ranks sum one number. Gradients longer than a limit are cut to
// it.
//
//   auto step = complete(value_and_grad(f, params)(x));
//   const double length = clip_by_global_norm(step.gradient, 1.0);   // all-reduces one double
#pragma once

#include <cmath>

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/detail/number_given.hpp"
#include "dimesh/grad/complete.hpp"
#include "dimesh/layout/box.hpp"
#include "dimesh/local/map.hpp"
#include "dimesh/local/reduce_over.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh {

namespace detail {

struct square_in_double {
  template <class T> KOKKOS_FORCEINLINE_FUNCTION double operator()(T x) const {
    if constexpr (is_complex<T>)
      return squared_size(Kokkos::complex<double>(x.real(), x.imag()));
    else
      return static_cast<double>(x) * static_cast<double>(x);
  }
};

/// The sum of x[0..n) squared, in double.
template <class T> [[gnu::noinline]] double sum_of_squares(const T* x, index_t n) {
  const watched here(2 * n, n * static_cast<index_t>(sizeof(T)));
  const storage sum = storage::acquire(sizeof(double));
  auto* const at = static_cast<double*>(sum.data());
  local::map_reduce_over(local::plus{}, local::loops<2>{1, {n}, {{0}, {1}}}, square_in_double{}, at,
                         x);
  if constexpr (!hosts_only) Kokkos::fence();
  return get_element(at);
}

/// Whose numbers are summed: of all ranks that hold blocks of the tensors; or only of those that
/// hold blocks of one tensor, where each has numbers of its own.
enum class sum_over { all_tensors, each_tensor };

/// The grids on which the tensors of a struct live, in the order in which they first appear, and
/// for each the axes of several ranks that split any of them, or (over all tensors) on which any
/// lives at one place.
class split_grids {
 public:
  template <class S>
  split_grids(const S& s, std::string_view call, sum_over over = sum_over::all_tensors) {
    for_each_tensor(
        [&](const auto&, const auto& x) {
          if (over == sum_over::each_tensor && core_of(x).grid == nullptr) return;
          require_grid(call, core_of(x));
          const grid_state& g = x.grid().state();
          const unsigned split = core_of(x).layout().mask(use::split);
          axes_[at(g)] |=
              talking(over == sum_over::all_tensors ? apart(core_of(x)) : split, g.sizes());
        },
        s);
    for (int i = 1; over == sum_over::all_tensors && i < count_; ++i) require_ranks(call, i);
  }
  int count() const { return count_; }
  const grid_state& grid(int i) const { return *grid_[i]; }
  unsigned axes(int i) const { return axes_[i]; }

  /// The grid of x, by its place.
  int at(const grid_state& g) {
    for (int i = 0; i < count_; ++i)
      if (grid_[i] == &g) return i;
    if (count_ == most) refuse();
    grid_[count_] = &g;
    return count_++;
  }
  /// Is this rank the first of those that hold copies of x, among those whose numbers are summed?
  template <class X> bool counts_here(const X& x) {
    if (core_of(x).away != 0) return false;
    const grid_state& g = x.grid().state();
    return g.is_first(axes_[at(g)] & ~apart(core_of(x)));
  }

  [[noreturn]] static void refuse() {
    (words() << "gradients: the tensors of one struct live on more than " << most
             << " grids; keep those of one grid in one struct")
        .raise();
  }

  static constexpr int most = 16;

 private:
  /// Axes whose ranks hold different things of x: blocks, or all and nothing.
  static unsigned apart(const tensor_core& x) {
    return x.layout().mask(use::split) | x.facts->placed;
  }

  /// All ranks of the first grid must have grid i: the others would know nothing of its part.
  void require_ranks(std::string_view call, int i) const {
    int alike = MPI_IDENT;
    check(MPI_Comm_compare(grid_[0]->everyone().handle(), grid_[i]->everyone().handle(), &alike),
          "global_norm");
    if (alike == MPI_UNEQUAL)
      (words() << call
               << ": the tensors of one struct live on grids of different ranks, which "
                  "would find different lengths; take those of one set of ranks at a time")
          .raise();
  }

  int count_ = 0;
  const grid_state* grid_[most]{};
  unsigned axes_[most]{};
};

/// The tensors stand for themselves while costs are being counted.
template <class S> bool counts_costs(const S& s) {
  bool shapes = false;
  for_each_tensor([&shapes](const auto&, const auto& x) { shapes = shapes || core_of(x).is_shape; },
                  s);
  return shapes;
}
/// Of a layout that only the run knows, as haloed_fault of a type. Throws dimesh::error.
inline void require_no_halo(std::string_view call, const tensor_core& x, std::string_view instead) {
  const int d = x.layout().first_haloed();
  if (d >= 0)
    (words() << call << ": dim_has_halo: blocks of dim '" << x.facts->dim[d]->name
             << "' carry a halo, which would count twice; " << instead)
        .raise();
}
/// Of a layout that only the run knows. Throws dimesh::error where the type would be refused.
inline void require_norm(const tensor_core& x) {
  if (x.layout().any_partial())
    (words() << "global_norm: gradient_not_complete: a gradient is a sum yet to be made; pass "
                "complete(gradients)")
        .raise();
  require_no_halo("global_norm", x, "take the tensor without it");
}
/// Costs are being counted: enters that of a norm, on grids that are told apart by their meshes.
template <class S> double foresee_norm(const S& gradients) {
  struct {
    std::uint64_t mesh = 0;
    unsigned axes = 0;
    const index_t* sizes = nullptr;
  } on[split_grids::most];
  int used = 0;
  tally* t = nullptr;
  const auto each = [&](const auto& f) {
    for_each_tensor([&f](const auto&, const auto& x) { f(core_of(x)); }, gradients);
  };
  each([&](const tensor_core& x) {
    require_norm(x);
    int i = 0;
    while (i < used && on[i].mesh != x.facts->mesh) ++i;
    if (i == used && used++ == split_grids::most) split_grids::refuse();
    on[i].mesh = x.facts->mesh, on[i].sizes = x.sizes();
    on[i].axes |= talking(x.layout().mask(use::split) | x.facts->placed, x.sizes());
    if (x.count != nullptr) t = x.count;
  });
  if (t == nullptr) return 0;
  const running named(t->sink, "global_norm");
  each([&](const tensor_core& x) {
    t->mesh = x.facts->mesh;
    if (x.away == 0) t->compute(2 * x.elements(), x.bytes());
  });
  for (int i = 0; i < used; ++i) {
    if (on[i].axes == 0) continue;
    constexpr index_t bytes = sizeof(double);
    t->mesh = on[i].mesh;
    t->collective(event_kind::all_reduce, on[i].axes, bytes,
                  ring_bytes(event_kind::all_reduce, bytes, group_size(on[i].axes, on[i].sizes)));
  }
  return 0;
}

struct scale_rule {
  double factor;
  template <class T> KOKKOS_FORCEINLINE_FUNCTION void operator()(T& x) const {
    store(x, static_cast<computed<T>>(x) * static_cast<computed<T>>(factor));
  }
};

}  // namespace detail

/// Multiplies all elements of a tensor or a struct of tensors, in place; copies that share their
/// memory keep their values. Local.
template <class S> void rescale(S& gradients, double factor) {
  for_each_tensor(
      [factor](const auto&, auto& x) {
        detail::tensor_core& core = detail::core_of(x);
        const index_t n = core.elements(), bytes = 2 * core.bytes();
        const running named(detail::sink_of(core), "rescale");
        if (!core.is_shape && !core.defined()) return;  // another grid's, or moved from
        if (core.is_shape) {
          if (core.count == nullptr || core.away != 0) return;
          core.count->mesh = core.facts->mesh;
          core.count->compute(n, bytes);
        } else if constexpr (!detail::is_shaped<std::remove_cvref_t<decltype(x)>>) {
          const detail::watched here(n, bytes);
          const detail::in_space there(core.facts->space);
          detail::own_memory(x, true);
          local::for_each(x.local_size(), detail::scale_rule{factor}, x.data());
        }
      },
      gradients);
}

/// The square root of the sum of the squares of all elements of a struct of tensors, in double, the
/// same bits on every rank; of complex ones |z|^2; inf or NaN if an element is. Communicates:
/// all-reduces one double over the axes that split any of the tensors, or along which one has its
/// place, for each grid on which there are tensors. Tensors whose blocks carry halos are refused.
template <class S> [[nodiscard]] double global_norm(const S& gradients) {
  using all = typename detail::leaves<S>::type;
  using fault = typename detail::first_of<typename detail::incomplete_fault<all>::type,
                                          typename detail::haloed_fault<all>::type>::type;
  static_assert(ok<only<fault, gradient_not_complete>>,
                "global_norm: a gradient is a sum yet to be made; pass complete(gradients)");
  static_assert(ok<only<fault, dim_has_halo>>,
                "global_norm: blocks of this dim carry a halo, which would count twice; take the "
                "tensor without it");
  if constexpr (!ok<fault>) {
    return 0;
  } else if constexpr (detail::holds_shapes<S> || detail::is_shaped<S>) {
    return detail::foresee_norm(gradients);
  } else {
    if (detail::counts_costs(gradients)) return detail::foresee_norm(gradients);
    const running named(detail::watcher, "global_norm");
    detail::split_grids on(gradients, "global_norm");
    const detail::core_list<S> cores(gradients);
    for (int i = 0; i < cores.size; ++i) detail::require_norm(*cores.at[i]);
    double sum[detail::split_grids::most]{}, total = 0;
    for_each_tensor(
        [&](const auto&, const auto& x) {
          const detail::in_space here(detail::core_of(x).facts->space);
          if (on.counts_here(x))
            sum[on.at(x.grid().state())] += detail::sum_of_squares(x.data(), x.local_size());
        },
        gradients);
    const detail::of_host numbers;
    for (int i = 0; i < on.count(); ++i) {
      if (on.axes(i) != 0)
        collective::all_reduce(on.grid(i).along(on.axes(i)), sum + i, sum + i, 1);
      total += sum[i];
    }
    return std::sqrt(total);
  }
}

/// Scales the gradients to a global norm of `limit`, in place, if theirs is greater and finite;
/// returns the norm that they had (Pascanu et al. 2013, "On the difficulty of training recurrent
/// neural networks", algorithm 1). While costs are counted nobody knows it: the scaling counts.
/// Communicates as global_norm does. Throws dimesh::error where `limit` is negative or NaN.
template <class S> double clip_by_global_norm(S& gradients, double limit) {
  static_assert(ok<std::conditional_t<std::is_const_v<S>, parameters_are_const<S>, no_fault>>,
                "clip_by_global_norm: gradients change in place, and these are const; let the step "
                "be auto step = complete(value_and_grad(f, p)(x))");
  detail::require_limit("clip_by_global_norm", "limit", limit);
  const double norm = global_norm(gradients);
  if constexpr (!std::is_const_v<S>) {
    if (detail::counts_costs(gradients))
      rescale(gradients, 1);
    else if (norm > limit && std::isfinite(norm))
      rescale(gradients, limit / norm);
  }
  return norm;
}
template <class... No>
  requires(sizeof...(No) == 0)
void rescale(detail::any_argument, detail::any_argument) {
  static_assert(ok<wrong_arguments<detail::nothing<No...>>>,
                "rescale: the gradients come first, and change in place; then the factor: "
                "rescale(step.gradient, 0.5)");
}
/// All that value_and_grad gives, and arguments in another order.
template <class V, class G> double clip_by_global_norm(value_and_gradient<V, G>&, double) {
  static_assert(ok<wrong_arguments<value_and_gradient<V, G>>>,
                "clip_by_global_norm: this is a value with its gradient; clip the second: "
                "clip_by_global_norm(step.gradient, 1.0)");
  return 0;
}
template <class N, class S>
  requires std::is_arithmetic_v<N>
double clip_by_global_norm(const N&, const S&) {
  static_assert(ok<wrong_arguments<N, S>>,
                "clip_by_global_norm: the gradients come first, then the largest norm that they "
                "keep: clip_by_global_norm(step.gradient, 1.0)");
  return 0;
}

}  // namespace dimesh
