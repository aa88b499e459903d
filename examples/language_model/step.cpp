// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The training step and the loss, compiled for every layout.

#include "layouts.hpp"

template <class Plan>
typename training<Plan>::result training<Plan>::step(const parameters<Plan>& p,
                                                     const tokens<Plan>& ids,
                                                     const tokens<Plan>& next,
                                                     const nn::run_options& options) {
  return loss_and_gradient<Plan>{options}(p, ids, next);
}

template <class Plan>
double training<Plan>::loss_of(const parameters<Plan>& p, const tokens<Plan>& ids,
                               const tokens<Plan>& next) {
  return dm::value(dm::complete(loss<Plan>{}(p, ids, next)));
}

template struct training<one>;
template struct training<data>;
template struct training<by_model>;
template struct training<hybrid>;
template struct training<sequence>;
template struct training<zero>;
