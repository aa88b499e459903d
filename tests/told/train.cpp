// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A job that is told to end, and started again by the same command (support/told_to_end.py): sixty
// steps of some 20 ms, a line for each, and at the end all losses.
//
//   train FOLDER
#include <chrono>
#include <cstdio>
#include <thread>

#include "dimesh/create.hpp"
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/reduce.hpp"
#include "dimesh/op/value.hpp"
#include "dimesh/runtime.hpp"
#include "dimesh/train/run.hpp"

namespace dm = dimesh;

struct row : dm::dim<8> {};
struct rank : dm::axis<> {};
struct line : dm::mesh<rank> {};
using weights = dm::tensor<double, dm::layout<line, dm::split<dm::uneven<row>, rank>>, row>;

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    const dm::grid<line> g;
    auto w = dm::constant<weights>(g, 1.0);
    dm::training_run run(g, {.steps = 200}, {.save = argv[1]});
    run.keep("w", w);
    run.loop.step = [&](dm::index_t n) -> dm::metrics {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      w = w * 0.9 + static_cast<double>(n);
      if (g.rank() == 0) std::printf("step %d\n", static_cast<int>(n)), std::fflush(stdout);
      return {{"loss", dm::value(dm::complete(dm::sum(w)))}};
    };
    const bool told = run.go() == dm::loop_end::signal;
    if (g.rank() != 0) return;
    std::printf("%s, %d steps of this run:", told ? "told" : "done",
                static_cast<int>(run.steps_done()));
    for (const double loss : run.losses()) std::printf(" %.17g", loss);
    std::printf("\n");
  });
}
