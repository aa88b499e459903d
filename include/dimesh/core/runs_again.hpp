// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Has what runs now run before? A recomputed block, or a step that a plan repeats, computes what
// was there already: what counts batches (nn::keep_moments) asks here, and counts each once.
//
//   { const runs_again here;  f(x); }     // f, and all that it calls on this thread, runs again
//   runs_again::now()
#pragma once

#include <type_traits>

namespace dimesh::detail {

/// While it lives, if `yes`, what this thread runs is a repetition.
class runs_again {
 public:
  constexpr explicit runs_again(bool yes = true) : yes_(yes) { add(1); }
  runs_again(const runs_again&) = delete;
  runs_again& operator=(const runs_again&) = delete;
  constexpr ~runs_again() { add(-1); }
  /// Never while compiling, where nothing is counted.
  static constexpr bool now() { return !std::is_constant_evaluated() && depth > 0; }

 private:
  constexpr void add(int one) const {
    if (!std::is_constant_evaluated() && yes_) depth += one;
  }
  static inline constinit thread_local int depth = 0;
  bool yes_;
};

}  // namespace dimesh::detail
