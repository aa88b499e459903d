// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a step of a training run do, and when? Some steps are recorded: all of them as a trace,
// for Chrome's viewer or Perfetto, the last one as a picture.
//
//   loop.step = ...;
//   trace_steps(loop, g, 10, 3, {.trace = "trace.json", .picture = "step.svg", .title = "A step"});
#pragma once

#include <string>
#include <utility>

#include "dimesh/io/agree.hpp"
#include "dimesh/show/timeline_svg.hpp"
#include "dimesh/show/trace.hpp"
#include "dimesh/train/loop.hpp"

namespace dimesh {

/// Files that the grid's first rank writes; those without a name are left out.
struct step_trace {
  std::string trace{}, picture{};
  std::string title{};  ///< of the picture
};

/// Records steps first .. first + count - 1 of a loop whose step is set, each as a span "step". A
/// run that begins behind the first of them records none, and one that ends before the last of them
/// writes none and leaves the timeline on. Collective over the grid, which outlives
/// the run, when the last of them is done.
template <Mesh M>
void trace_steps(training_loop& loop, const grid<M>& g, index_t first, index_t count,
                 step_trace to) {
  loop.step = [step = std::move(loop.step), first](index_t n) {
    if (n == first) timeline::instance().start();
    const trace_span here("step");
    return step(n);
  };
  loop.after_step.push_back([=, &g](index_t done, const metrics&) {
    if (done != first + count || !timeline::instance().on()) return;
    timeline::instance().stop();
    const auto spans = gather_timeline(g);
    detail::together(g.everyone().handle(), [&] {
      if (g.rank() != 0) return;
      if (!to.trace.empty()) write_trace(to.trace, spans);
      if (to.picture.empty()) return;
      timeline_plot plot{.title = to.title, .spans = spans};
      plot.show("step", static_cast<int>(count) - 1);
      plot.write(to.picture);
    });
  });
}

}  // namespace dimesh
