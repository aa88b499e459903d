// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a step of a training run do, and when? Some steps are recorded: all of them as a trace,
// for Chrome's viewer or Perfetto, the last one as a picture.
//
//   loop.step = ...;
//   trace_steps(loop, g, 10, 3, {.trace = "trace.json", .picture = "step.svg", .title = "A step"});
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

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

namespace detail {
/// What is the same on all ranks: why the files could not be written, or "".
inline std::string fault_of_trace(const communicator& everyone, const std::vector<rank_span>& spans,
                                  const step_trace& to, index_t count) {
  try {
    together(everyone.handle(), [&] {
      if (everyone.rank() != 0) return;
      if (!to.trace.empty()) write_trace(to.trace, spans);
      if (to.picture.empty()) return;
      timeline_plot plot{.title = to.title, .spans = spans};
      plot.show("step", static_cast<int>(count) - 1);
      plot.write(to.picture);
    });
  } catch (const error& e) {
    return e.what();
  }
  return {};
}
}  // namespace detail

/// Records steps first .. first + count - 1 of a loop whose step is set, each as a span "step". A
/// run that begins behind the first of them records none, and one that ends before the last of them
/// writes none and leaves the timeline on. Collective over the grid, which outlives the run, in the
/// last of them. Where the files cannot be written the run ends after that step, as after a signal,
/// and throws dimesh::error on every rank when it is saved.
template <Mesh M>
void trace_steps(training_loop& loop, const grid<M>& g, index_t first, index_t count,
                 step_trace to) {
  const auto fault = std::make_shared<std::string>();
  loop.step = [=, &g, step = std::move(loop.step)](index_t n) {
    if (n == first) timeline::instance().start();
    trace_span here("step");
    metrics m = step(n);
    here.end();
    if (n + 1 == first + count && timeline::instance().on()) {
      timeline::instance().stop();
      *fault = detail::fault_of_trace(g.everyone(), gather_timeline(g), to, count);
    }
    return m;
  };
  loop.should_end = [fault, asked = std::move(loop.should_end)] {
    const bool wants = asked && asked();  // on every rank: it may be a collective
    return wants || !fault->empty();
  };
  loop.at_end.push_back([fault] {
    if (!fault->empty()) throw error(*fault);
  });
}

}  // namespace dimesh
