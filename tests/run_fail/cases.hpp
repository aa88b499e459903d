// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one program hold many mistakes? Each is a case of its table; the first argument names
// the one that runs. Comments above a case say on how many ranks and what its output must match
// (tests/CMakeLists.txt, tests/support/must_fail.py):
//
//   // case no_extent: 1 2
//   //   rank 0: tensor: dim 'length' has no extent
//   {"no_extent", [] { ... }},
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "dimesh/runtime.hpp"

namespace run_fail {

inline int rank() { return dimesh::detail::world_rank(); }

/// Runs a program with a watchdog that ends it after a second without a new call.
inline void watched(void (*program)()) {
  setenv("DIMESH_WATCHDOG", "1", 1);
  setenv("DIMESH_WATCHDOG_ENDS", "1", 1);
  int argc = 0;
  dimesh::run(argc, nullptr, program);
}

struct one {
  std::string_view name;
  void (*program)();
  bool alone = false;  ///< it starts what it needs itself: no runtime around it
};

class table {
 public:
  table(std::initializer_list<one> cases) : cases_(cases) {}

  /// 0 if the case comes to its end, 2 if there is none of this name.
  int run(int argc, char** argv) const {
    const std::string_view name = argc > 1 ? argv[1] : "";
    for (const one& c : cases_)
      if (c.name == name) {
        if (!c.alone) return dimesh::run(argc, argv, c.program);
        try {
          c.program();
          return 0;
        } catch (const std::exception& e) {
          dimesh::runtime::end_job(e.what());
        }
      }
    std::fprintf(stderr, "no case '%s'; there are:\n", argc > 1 ? argv[1] : "");
    for (const one& c : cases_) std::fprintf(stderr, "  %s\n", std::string(c.name).c_str());
    return 2;
  }

 private:
  std::vector<one> cases_;
};

}  // namespace run_fail
