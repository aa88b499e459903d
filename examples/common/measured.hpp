// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a training run under a layout measured? What its types say is noted before the first step,
// what came of it after the last. What sets of mesh axes carry, the counts of a ledger or of the
// census, goes by mask; here it has the names of the axes.
//
//   auto r = report::begun<layout_result>("data", g, params, cost.counts);
//   report::finish<pod>(r, run, sent);              // a dimesh::training_run, a census::counts
#pragma once

#include <census.hpp>
#include <dimesh/reflect/describe.hpp>
#include <dimesh/reflect/walk.hpp>
#include <dimesh/train/memory_use.hpp>
#include <dimesh/train/run.hpp>

#include "result.hpp"
#include "training_options.hpp"

namespace report {

/// What the settings of all training runs say.
inline dimesh::loop_options loop_options(const training_settings& s) {
  return {.steps = s.steps,
          .evaluate_every = s.evaluate_every,
          .save_every = s.save_every,
          .patience = s.patience};
}
inline dimesh::run_options run_options(const training_settings& s, const std::string& name) {
  return {.name = name, .save = s.save, .resume = s.resume};
}

/// bytes(mask) of every set of axes that carries something:
/// by_axes<pod>(...) -> {{"rows", 4096}, {"rows+cols", 68}}
template <dimesh::Mesh M, class F> bytes_by_axis by_axes(const F& bytes) {
  bytes_by_axis all;
  for (unsigned mask = 1; mask < (1u << M::rank); ++mask)
    if (const dimesh::index_t n = bytes(mask); n > 0)
      all.emplace_back(dimesh::describe_axes<M>(mask), n);
  return all;
}

/// Of a run of these parameters, whose step sends what `cost` says. From here on memory counts.
template <class Result, dimesh::Mesh M, class P, class Counts>
Result begun(const std::string& layout, const dimesh::grid<M>& g, const P& parameters,
             const Counts& cost) {
  Result r;
  r.layout = layout, r.mesh = dimesh::describe_mesh(g), r.ranks = g.ranks();
  dimesh::for_each_tensor(
      [&](const auto&, const auto& t) { r.parameters_per_rank += t.local_size(); }, parameters);
  r.bytes_predicted = by_axes<M>([&](unsigned mask) { return cost.over[mask].bytes; });
  dimesh::restart_peak_memory();
  return r;
}
/// Of a run that has ended, whose last step sent what the census saw.
template <dimesh::Mesh M>
void finish(run_result& r, const dimesh::training_run& run, const census::counts& sent) {
  r.losses = run.losses();
  r.seconds = run.seconds();
  r.steps_per_second = static_cast<double>(run.steps_done()) / run.seconds();
  r.peak_bytes_per_rank = dimesh::memory_in_use().peak;
  r.bytes_counted = by_axes<M>([&](unsigned mask) { return sent.bytes_on(mask); });
  if (run.steps_done() == 0) r.bytes_predicted.clear();  // none was sent
}
/// What a line of progress tells: so many things a step, and what goes over the axes.
inline std::vector<dimesh::step_rate> rates(const std::string& things, std::int64_t per_step,
                                            const bytes_by_axis& sent) {
  std::vector<dimesh::step_rate> all{{things, per_step}};
  for (const auto& [axis, bytes] : sent) all.push_back({axis, bytes, true});
  return all;
}

}  // namespace report
