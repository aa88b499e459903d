// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a training step costs, compiled for every layout: the same step, on shapes.

#include <dimesh/grad/cost.hpp>

#include "layouts.hpp"

template <class Plan>
dm::ledger<typename Plan::mesh> prediction<Plan>::cost(const parameters<Plan>& p,
                                                       const tokens<Plan>& ids) {
  const auto shape = dm::shapes_of(ids);
  return dm::count(loss_and_gradient<Plan>{}, dm::shapes_of(p), shape, shape);
}

template struct prediction<one>;
template struct prediction<data>;
template struct prediction<by_model>;
template struct prediction<hybrid>;
template struct prediction<sequence>;
template struct prediction<zero>;
