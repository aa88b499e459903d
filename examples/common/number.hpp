// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which number is an argument of a program that has no options?
//
//   number("unet", "10", 1, 100)    -> 10
//   number("unet", "10x", 1, 100)   throws: unet: '10x' is no number from 1 to 100
#pragma once

#include <charconv>
#include <dimesh/error.hpp>
#include <sstream>
#include <string>

namespace report {

/// The number that all of the text is. Throws dimesh::error, which begins with the program's name,
/// where it is none, or not from least to most.
template <class T> T number(const std::string& program, const std::string& text, T least, T most) {
  T n = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, n);
  if (read.ec != std::errc{} || read.ptr != end || !(n >= least && n <= most)) {
    std::ostringstream says;
    says << program << ": '" << text << "' is no number from " << least << " to " << most;
    throw dimesh::error(says.str());
  }
  return n;
}

}  // namespace report
