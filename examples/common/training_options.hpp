// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be said of every training run: how long, how fast, kept where?
//
//   struct settings : report::training_settings { ... };
//   report::add_training_options(options, settings);
#pragma once

#include "options.hpp"

namespace report {

struct training_settings {
  int steps = 1, save_every = 100, evaluate_every = 0, patience = 0;
  double rate = 1e-3;
  std::string save = {}, resume = {};  ///< folders of checkpoints, or none
  unsigned seed = 1;
};

/// Returns --save, which others may need. `evaluates`: on the way, too.
inline option add_training_options(options& o, training_settings& s, int least_steps = 1,
                                   bool evaluates = true) {
  o.add("--steps", s.steps, "training steps").between(least_steps, 1 << 30);
  o.add("--rate", s.rate, "learning rate");
  o.add("--save-every", s.save_every, "steps between them");
  if (evaluates) {
    o.add("--evaluate-every", s.evaluate_every, "steps between them; 0: after the last step only");
    o.add("--patience", s.patience, "evaluations without a better one that end it; 0: any number");
  }
  o.add("--resume", s.resume, "folder of checkpoints to go on from, under any layout");
  o.add("--seed", s.seed, "of parameters, of the order of the data and of dropout");
  return o.add("--save", s.save, "folder for checkpoints, which a signal asks for, too");
}

}  // namespace report
