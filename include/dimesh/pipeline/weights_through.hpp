// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What if two cells use one weight: an embedding, first and last? It lives at one of them, by type,
// and the other one gets it sent; its gradient is summed where it lives, by the ordinary rules.
//
//   const auto to_cells = [](const auto& w) {
//     return std::make_tuple(w.embedding, w.layers, send<stage, 2>(w.embedding));
//   };
//   auto step = value_and_grad_through(to_cells, weights, [&](const auto& cells) {
//     return net.value_and_grad(one_f_one_b{3, 8}, cells, inputs, loss);
//   });
//   step.gradient      as `weights`: to_cells has gone backwards, and the embedding's came home
#pragma once

#include "dimesh/pipeline/cell_run.hpp"
#include "dimesh/pipeline/typed_cell.hpp"

namespace dimesh {

/// The value of step(cells), where cells = to_cells(weights), and its gradient with respect to the
/// weights. step gives what value_and_grad of a pipeline gives: a value, and a gradient as its
/// argument. Every rank calls this; what to_cells sends goes once for each call, and once back,
/// whatever the number of micro-batches.
template <class F, class W, class Step>
auto value_and_grad_through(const F& to_cells, const W& weights, const Step& step) {
  using namespace detail;
  using recorded = typename pipeline::recorded_if<W, true>::type;
  recorded_run run;
  auto variables = in_place_of<recorded>(weights);
  const core_list<W> from(weights), to(variables);
  for (int i = 0; i < to.size; ++i) {
    const tensor_core* const one[] = {from.at[i]};
    const tensor_facts* const facts = to.at[i]->facts;
    if (one[0]->facts->has_gradient)
      run.open(one, to.at + i, 1, gradients_lie::anywhere);
    else
      *to.at[i] = *one[0];
    to.at[i]->facts = facts;
  }
  const auto cells = to_cells(std::as_const(variables));
  auto r = step(unrecorded(cells));
  using cells_type = std::remove_const_t<decltype(cells)>;
  const core_list<cells_type> given(cells), bars(r.gradient);
  for (int i = 0; i < given.size; ++i) {
    if (given.at[i]->record == nullptr) continue;
    tensor_core bar = std::move(*bars.at[i]);
    bar.facts = given.at[i]->facts->dual;
    settle(bar, bar.once);  // where it comes to, ranks know nothing of what was held whole
    given.at[i]->record->add(std::move(bar));
  }
  run.backward();
  auto gradient = in_form_of<rebind_layout<W, dimesh::gradient>>(weights);
  const core_list<W> sums(gradient);
  for (int i = 0; i < sums.size; ++i)
    if (to.at[i]->record != nullptr) collect_gradient(*sums.at[i], *to.at[i]);
  return value_and_gradient<decltype(r.value), decltype(gradient)>{std::move(r.value),
                                                                   std::move(gradient)};
}

}  // namespace dimesh
