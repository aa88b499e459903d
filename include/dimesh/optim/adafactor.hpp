// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do parameters follow the gradient at their own pace without an average for each of them?
// Adafactor keeps averages over rows and over columns, and takes their product.
//
//   adafactor optimizer;  auto state = optimizer.start(params);
//   optimizer(params, complete(gradients), state);
//
// Statistics over split dims are sums over ranks: one all-reduce for each set of axes that split
// factored dims, and one of two numbers a tensor for each grid. Where nothing is split it is
// silent, whatever stages tensors live on.
#pragma once

#include <cmath>
#include <vector>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/optim/adafactor_cost.hpp"
#include "dimesh/optim/state.hpp"
#include "dimesh/optim/step.hpp"

namespace dimesh {

namespace detail {

/// What a step works with for one tensor.
struct factored_work {
  local::factored_extents block;
  storage scratch;  // factors by row, by column; then sums over both
  unsigned axes = 0;  // along which its sums must be made
};

template <class P, class G>
using factoring_fault =
    typename first_of<typename complex_parameter_fault<typename leaves<P>::type>::type,
                      typename haloed_fault<typename leaves<P>::type>::type,
                      training_fault<P, G>>::type;

}  // namespace detail

/// The averages that Adafactor keeps, momentum where it is asked for, and how many steps it took.
template <class P> struct [[nodiscard]] adafactor_state {
  factored_state<P> second{};
  P momentum{};
  index_t steps = 0;
  std::vector<detail::factored_work> work{};  // between the passes of a step
  std::vector<detail::piece> sums{};
  std::vector<double> squares{};

  /// Momentum only where there is one.
  template <class S, class F> static void for_each_part(S& s, const F& f) {
    f("second", s.second);
    if (detail::any_is_made(s.momentum)) f("momentum", s.momentum);
    f("steps", s.steps);
  }
};

/// Adafactor (Shazeer and Stern 2018, arXiv:1804.04235, algorithms 4 and 5; with beta1, section 6).
/// Which dims are factored: factored_dims. In place; three passes over the gradients. Communicates
/// as the head of this file says. A step throws dimesh::error where a number is negative or not
/// finite (clip may be infinite), or beta1 not below 1.
struct adafactor {
  double rate = 0;  ///< 0: relative, min(1e-2, 1/sqrt(t))
  double decay_power = 0.8;  ///< averages keep 1 - t^-decay_power
  double clip = 1;  ///< of the root mean square of an update (d); 0 or infinite: none
  double beta1 = 0;  ///< momentum, a tensor for each parameter; 0: none
  double epsilon1 = 1e-30;  ///< added to squared gradients
  double epsilon2 = 1e-3;  ///< least scale of a parameter
  bool scale_parameter = true;  ///< rates are times the root mean square of the parameter

  template <class P> adafactor_state<P> start(const P& parameters) const {
    adafactor_state<P> state{.second = detail::in_form_of<factored_state<P>>(parameters),
                             .momentum = detail::in_form_of<P>(parameters)};
    // (Costs do not ask for averages.)
    if constexpr (!detail::holds_shapes<P>)
      if (!detail::counts_costs(parameters))
        for_each_tensor(
            [](const auto&, const auto& p, auto& factors) { detail::make_factors(p, factors); },
            parameters, state.second);
    if (beta1 > 0) state.momentum = detail::zeros_in_form_of(parameters);
    return state;
  }

  /// What it says where the state is missing, or not its own.
  template <class P, class G, class... S>
    requires(!detail::is_state<adafactor_state<std::remove_const_t<P>>, S...>)
  void operator()(P&, const G&, S&...) const {
    static_assert(
        ok<wrong_arguments<P, G, S...>>,
        "adafactor: the arguments are parameters, gradients and the state that start(parameters) "
        "gave; pass that state, one for these parameters");
  }
  template <class P, class G>
  void operator()(P& parameters, const G& gradients,
                  adafactor_state<std::remove_const_t<P>>& state) const {
    using fault = detail::factoring_fault<P, G>;
    static_assert(
        ok<only<fault, parameter_is_complex>>,
        "adafactor: it averages squares of real numbers; keep real and imaginary parts as "
        "parameters, or take adam");
    static_assert(ok<only<fault, dim_has_halo>>,
                  "adafactor: blocks of this dim carry a halo, which would count twice; let "
                  "parameters have none, and exchange in the function");
    static_assert(
        ok<only<fault, parameter_is_rounded>>,
        "adafactor: small updates would be rounded away; keep parameters in float or double");
    static_assert(
        ok<only<fault, parameters_are_const>>,
        "adafactor: the parameters are const, and change in place; pass them without const");
    static_assert(
        ok<only<fault, structs_differ>>,
        "adafactor: parameters and gradients are structs of two forms; pass the gradients of "
        "these parameters");
    static_assert(ok<only<fault, gradient_not_complete>>,
                  "adafactor: a gradient is a sum yet to be made; pass complete(gradients)");
    static_assert(
        ok<only<fault, layouts_differ>>,
        "adafactor: a parameter and its gradient have different layouts; relayout one of them");
    static_assert(ok<only<fault, lengths_differ>>,
                  "adafactor: parameters and gradients differ in the length of an array; pass the "
                  "gradients of these parameters");
    if constexpr (detail::assert_updated<fault, P, G>()) {
      detail::assert_described<P>();
      detail::require_numbers(*this);
      detail::check_lengths<P>("adafactor", parameters, gradients, state.second, state.momentum);
      const bool counts = detail::holds_shapes<P> || detail::counts_costs(parameters);
      const detail::core_list<P> to(parameters), from(gradients);
      for (int i = 0; i < to.size; ++i) {
        if (detail::is_absent(*to.at[i]) && detail::is_absent(*from.at[i])) continue;
        detail::require_place_of("adafactor", *to.at[i], *from.at[i]);
        detail::require_no_halo("adafactor", *to.at[i],
                                "let parameters have none, and exchange in the function");
      }
      if (!counts)
        detail::require_factors(parameters, state.second, beta1 > 0 ? &state.momentum : nullptr);
#ifdef DIMESH_CHECKED
      detail::require_replicas_in("adafactor", "gradient", gradients);
      detail::require_replicas_in("adafactor", "parameter", parameters);
#endif
      ++state.steps;
      if (counts) return detail::foresee_adafactor(parameters, parts());
      if constexpr (!detail::holds_shapes<P>) {
        const running named(detail::watcher, "adafactor");
        sum_squares(gradients, state);
        average(parameters, gradients, state);
        apply(parameters, gradients, state);
      }
    }
  }

 private:
  detail::adafactor_parts parts() const { return {clip > 0, scale_parameter, beta1 > 0}; }

  /// Pass 1: sums over rows and columns of squared gradients, whole on every rank.
  template <class P, class G> void sum_squares(const G& gradients, adafactor_state<P>& s) const {
    s.work.clear();
    s.sums.clear();
    for_each_tensor(
        [&](const auto&, const auto& g) {
          using X = std::remove_cvref_t<decltype(g)>;
          using T = value_of<X>;
          using at = factored_dims<X>;
          const auto& core = detail::core_of(g);
          if (core.away != 0 || detail::is_absent(core)) {  // it lives on other ranks
            s.work.emplace_back();
            return;
          }
          const detail::in_space there(core.facts->space);
          detail::factored_work w{detail::factored_block(g), {}, 0};
          const auto& n = w.block;
          const index_t rows = n.rows(), columns = n.columns();
          w.scratch = detail::storage::acquire(static_cast<std::size_t>(rows + columns + n.both()) *
                                               sizeof(T));
          T* const row = static_cast<T*>(w.scratch.data());
          if constexpr (X::rank >= 2) {
            local::factored_sums(n, g.data(), epsilon1, row, row + rows);
            local::factored_total(n, row, row + rows + columns);
            constexpr unsigned over_p = spec_of<X>::table.axes_of(at::first),
                               over_q = spec_of<X>::table.axes_of(at::second);
            const auto add = [&](T* x, index_t count, unsigned axes) {
              auto* const bytes = collective::bytes_of(x);
              const unsigned talk = detail::talking(axes, detail::sizes_of(g));
              s.sums.push_back({bytes, bytes, count * static_cast<index_t>(sizeof(T)),
                                detail::sum_group_of(g, talk)});
            };
            add(row, rows, over_q);
            add(row + rows, columns, over_p);
            add(row + rows + columns, n.both(), over_p | over_q);
          } else {
            local::for_each_index<local::default_space>(
                columns, local::detail::squared_element<T>{g.data(), static_cast<T>(epsilon1), row,
                                                           row + rows});
          }
          s.work.push_back(std::move(w));
        },
        gradients);
    detail::reduce_pieces(s.sums.data(), static_cast<int>(s.sums.size()));
  }

  /// Pass 2: averages, the factors that they give, and the lengths of updates and parameters.
  template <class P, class G>
  void average(const P& parameters, const G& gradients, adafactor_state<P>& s) const {
    const double keep = 1 - std::pow(static_cast<double>(s.steps), -decay_power);
    detail::split_grids on(parameters, "adafactor", detail::sum_over::each_tensor);
    s.squares.assign(2 * s.work.size(), 0);
    s.sums.clear();
    std::size_t k = 0;
    for_each_tensor(
        [&](const auto&, const auto& p, const auto& g, auto& factors) {
          using X = std::remove_cvref_t<decltype(p)>;
          using T = value_of<X>;
          const detail::tensor_core& core = detail::core_of(p);
          if (detail::is_absent(core)) {
            ++k;
            return;
          }
          const auto& n = s.work[k].block;
          const unsigned talk = on.axes(on.at(p.grid().state()));
          auto* const pair = collective::bytes_of(s.squares.data() + 2 * k);
          if (core.away == 0 || (core.facts->placed & talk) != 0)
            s.sums.push_back(
                {pair,
                 pair,
                 2 * sizeof(double),
                 {&p.grid().state(), talk, collective::wire_of<double>, &detail::host_memory}});
          if (core.away != 0) {
            ++k;
            return;
          }
          const detail::in_space there(core.facts->space);
          const index_t rows = n.rows(), columns = n.columns();
          T* const row = static_cast<T*>(s.work[k].scratch.data());
          const auto own = [](auto& factor) { detail::own_memory(factor, true); };
          std::apply([&own](auto&... factor) { (own(factor), ...); }, factors);
          if constexpr (X::rank >= 2) {
            using at = factored_dims<X>;
            const auto extents = p.shape().extents();
            const auto over_p = static_cast<double>(extents[at::first]);
            const auto over_q = static_cast<double>(extents[at::second]);
            local::blend(std::get<0>(factors).data(), row, rows, keep, over_q);
            local::blend(std::get<1>(factors).data(), row + rows, columns, keep, over_p);
            local::blend(std::get<2>(factors).data(), row + rows + columns, n.both(), keep,
                         over_p * over_q);
            local::factored_divide(n, row + rows + columns, row);
            local::invert_roots(row, rows);
          } else {
            local::blend(std::get<0>(factors).data(), row + rows, columns, keep, 1);
          }
          local::invert_roots(row + rows, columns);
          if (on.counts_here(p)) {
            if (clip > 0) s.squares[2 * k] = local::factored_square(n, g.data(), row, row + rows);
            if (scale_parameter)
              s.squares[2 * k + 1] = detail::sum_of_squares(p.data(), p.local_size());
          }
          ++k;
        },
        parameters, gradients, s.second);
    if (clip > 0 || scale_parameter)
      detail::reduce_pieces(s.sums.data(), static_cast<int>(s.sums.size()));
  }

  /// Pass 3: the update.
  template <class P, class G>
  void apply(P& parameters, const G& gradients, adafactor_state<P>& s) const {
    const double relative =
        rate > 0 ? rate : std::fmin(1e-2, 1 / std::sqrt(static_cast<double>(s.steps)));
    std::size_t k = 0;
    for_each_tensor(
        [&](const auto&, auto& p, const auto& g, auto& m) {
          using T = value_of<std::remove_cvref_t<decltype(p)>>;
          if (detail::core_of(p).away != 0 || detail::is_absent(detail::core_of(p))) {
            ++k;
            return;
          }
          const detail::in_space there(detail::core_of(p).facts->space);
          const auto size = static_cast<double>(p.shape().size());
          const double update = std::sqrt(s.squares[2 * k] / size),
                       scale = std::sqrt(s.squares[2 * k + 1] / size);
          double factor = relative * (scale_parameter ? std::fmax(epsilon2, scale) : 1);
          if (clip > 0) factor /= std::fmax(1.0, update / clip);
          const auto& n = s.work[k].block;
          const detail::factored_cost cost(n, p.local_size(), sizeof(T), parts());
          const detail::watched here(cost.flops, cost.moved);
          const T* row = static_cast<const T*>(s.work[k].scratch.data());
          const T* col = row + n.rows();
          detail::own_memory(p, true);
          if (beta1 > 0) detail::own_memory(m, true);
          if (beta1 > 0)
            local::factored_step(n, g.data(), row, col, static_cast<T>((1 - beta1) * factor),
                                 p.data(), m.data(), static_cast<T>(beta1));
          else
            local::factored_step(n, g.data(), row, col, static_cast<T>(factor), p.data());
          s.work[k++].scratch = {};
        },
        parameters, gradients, s.momentum);
  }
};

}  // namespace dimesh
