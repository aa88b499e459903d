// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do typed cells go along a schedule? Their types end in the executor; what it made is given
// back as the value and the gradients, as updates, or as what the last cell gave.
//
//   cells_runner<stage>::train(schedule, inputs, how, cells...)     -> value_and_gradient
#pragma once

#include "dimesh/pipeline/executor.hpp"
#include "dimesh/pipeline/rank_operations.hpp"
#include "dimesh/pipeline/typed_cell.hpp"

namespace dimesh {

/// How a pipeline runs.
struct pipeline_settings {
  bool blocking = false;  ///< messages are waited for; of schedules that are safe_blocking
  pipeline_report* report = nullptr;  ///< where to note what this rank did
};

namespace detail::pipeline {

using micro_batches = std::function<cores(int)>;

/// Cells along axis A.
template <class A> struct cells_runner {
  /// The micro-batch at the first cell's place, which it need not have by type.
  static micro_batches input_of(const micro_batches& inputs, const cell_base& c) {
    return [inputs, &c](int micro) {
      cores all = inputs(micro);
      for (std::size_t i = 0; i < all.size(); ++i) all[i].facts = c.takes[i].facts;
      return all;
    };
  }
  /// This rank's operations.
  static rank_operations list_of(const listed_schedule& s, std::span<cell_base* const> all,
                                 const standing& on, bool blocking, bool goes_back) {
    return operations_of(s, all, on.grid->sizes()[on.axis], on.coord(), blocking, goes_back);
  }
  template <bool Recorded, class... C, class Then>
  static auto run(const listed_schedule& s, const micro_batches& inputs,
                  const pipeline_settings& how, stage_listener* listener, const Then& then,
                  C&... cell) {
    cell_base* const all[] = {&cell...};
    const auto on = standing_of<A>(all);
    const auto mine = list_of(s, all, on, how.blocking, Recorded);
    messenger m(on.object, *on.grid, on.axis, how.blocking);
    executor e(all, m, on.coord(), Recorded, input_of(inputs, *all[0]), s.slices);
    e.listener = listener;
    e.run(mine.all, mine.window);
    if (how.report != nullptr) *how.report = e.report;
    return then(e, on);
  }
  template <class... C>
  static auto train(const listed_schedule& s, const micro_batches& inputs,
                    const pipeline_settings& how, C&... cell) {
    return run<true>(
        s, inputs, how, nullptr,
        [&](executor& e, const standing& on) {
          auto loss = loss_of<C...>(e, on);
          using gradients = std::tuple<decltype(cell.gradient())...>;
          return value_and_gradient<decltype(loss), gradients>{std::move(loss),
                                                               gradients{cell.gradient()...}};
        },
        cell...);
  }
  template <class... C> static auto loss_of(executor& e, const standing& on) {
    typename std::tuple_element_t<sizeof...(C) - 1, std::tuple<C...>>::plain_given loss{};
    if constexpr (!is_poison<decltype(loss)>)
      e.take_loss(detail::core_of(loss), on.object, *on.grid);
    return loss;
  }
  template <class S, class W, class Update, class... C>
  static auto train_along(const S& s, const micro_batches& inputs, const pipeline_settings& how,
                          W& weights, const Update& update, C&... cell) {
    cell_base* const all[] = {&cell...};
    stage_updates<S> updates(s, all, [&](int stage) {
      update_cell(std::index_sequence_for<C...>{}, stage, weights, update, cell...);
    });
    return run<true>(
        listed_schedule(s), inputs, how, &updates,
        [&](executor& e, const standing& on) {
          const auto rank = on.grid->coords()[on.axis];
          const int times = updates_of(s);
          for (int k = 0; k < s.stages(); ++k)
            for (int i = 0; i < times && all[k]->place != rank; ++i)
              update_cell(std::index_sequence_for<C...>{}, k, weights, update, cell...);
          auto loss = loss_of<C...>(e, on);
          if (times > 1) loss = loss * (1.0 / times);
          return loss;
        },
        cell...);
  }
  template <std::size_t... I, class W, class Update, class... C>
  static void update_cell(std::index_sequence<I...>, int stage, W& weights, const Update& update,
                          C&... cell) {
    const auto one = [&](auto k, auto& c) {
      auto g = c.gradient();
      c.weights.clear();  // where nobody else has them, they are changed in place
      update(k, std::get<k>(weights), g);
      c.renew();
    };
    ((static_cast<int>(I) == stage ? one(std::integral_constant<std::size_t, I>{}, cell) : void()),
     ...);
  }
  /// The way forward of a schedule.
  template <class... C>
  static auto serve(const listed_schedule& s, const micro_batches& inputs,
                    const pipeline_settings& how, C&... cell) {
    using last = std::tuple_element_t<sizeof...(C) - 1, std::tuple<C...>>;
    using Y = typename last::plain_given;
    return run<false>(
        s.forward_part(), inputs, how, nullptr,
        [&](executor& e, const standing&) {
          std::vector<Y> all;
          for (auto& [micro, y] : e.given) {
            Y one{};
            const detail::core_list<Y> to(one);
            for (int i = 0; i < to.size; ++i) *to.at[i] = std::move(y[static_cast<std::size_t>(i)]);
            all.push_back(std::move(one));
          }
          return all;
        },
        cell...);
  }
};

}  // namespace detail::pipeline
}  // namespace dimesh
