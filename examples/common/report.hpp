// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do the results of an example reach people and programs? As JSON and pictures. An example says
// what its result has beside a run_result; report.cpp, compiled once for all examples, is the one
// place that includes JSON's headers.
//
//   std::vector<figure> figures(const layout_result& r);   // {{"test_accuracy", r.test_accuracy}}
//
//   write_report(all, "demo-out");              // report.json, losses.svg, loss_differences.svg
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "result.hpp"

namespace report {

/// A value that JSON has under a name. Numbers that it could not hold become null.
struct figure {
  std::string name;
  std::variant<double, std::int64_t, std::string> value;
};
/// What is written of a run.
struct reported {
  const run_result* run;
  std::vector<figure> more;
};

/// Makes the folder if need be. Bytes that are no UTF-8 become replacement characters. Throws
/// dimesh::error where a file cannot be written.
void write_report(const std::vector<reported>& all, const std::string& folder);

template <class R> void write_report(const std::vector<R>& all, const std::string& folder) {
  std::vector<reported> list;
  for (const R& r : all) list.push_back({&r, figures(r)});
  write_report(list, folder);
}

}  // namespace report
