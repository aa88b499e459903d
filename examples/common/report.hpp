// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do the results of an example reach people and programs? As a table, JSON and pictures.
// report.cpp, compiled once for all examples, is the one place that includes JSON's headers.
//
//   present(all, "demo-out");       // report.json, losses.svg, loss_differences.svg
//   return verdict(agree, "All layouts agree.", "demo-out");
#pragma once

#include "result.hpp"

namespace report {

/// Makes the folder if need be. Bytes that are no UTF-8 become replacement characters. Throws
/// dimesh::error where a file cannot be written.
void write_report(const std::vector<run_result>& all, const std::string& folder);

/// Compares the runs with the first one, prints their table and writes the report.
inline void present(std::vector<run_result>& all, const std::string& folder) {
  compare(all);
  std::cout << "\n" << table(all) << "\n";
  write_report(all, folder);
}
/// Says so where all agree. What the program is to return.
inline int verdict(bool agree, const std::string& words, const std::string& folder) {
  if (agree) std::cout << words << "\n";
  std::cout << "Report and pictures: " << folder << "\n";
  return agree ? 0 : 1;
}

}  // namespace report
