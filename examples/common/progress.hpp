// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far is the run? The library's line, among the words of examples.
#pragma once

#include <dimesh/train/progress.hpp>

namespace report {

using dimesh::on_terminal;
using dimesh::progress_line;

}  // namespace report
