// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is a number that a program gives one that the call can work with? Otherwise the call says so,
// instead of NaN some steps later. Asked once a call, and never of elements; all ranks give the
// same numbers, so that all throw.
//
//   require_not_negative("sgd", "rate", -1)
//     -> dimesh::error: sgd: the rate is -1; it must be at least 0, and finite
#pragma once

#include <cstdio>
#include <limits>

#include "dimesh/detail/words.hpp"

namespace dimesh::detail {

inline std::string short_number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", v);
  return text;
}
/// Throws dimesh::error: what of a call is v, and what it must be.
[[noreturn]] DIMESH_OUTLINE inline void refuse_number(std::string_view call, std::string_view what,
                                                      double v, std::string_view must_be) {
  (words() << call << ": the " << what << " is " << short_number(v) << "; it must be " << must_be)
      .raise();
}
/// The same of two that are in no order.
[[noreturn]] DIMESH_OUTLINE inline void refuse_ends(std::string_view call, std::string_view what,
                                                    double lo, double hi) {
  (words() << call << ": the " << what << " are " << short_number(lo) << " and " << short_number(hi)
           << "; the first must be a number that is not greater")
      .raise();
}

constexpr bool is_finite_number(double v) {
  constexpr double most = std::numeric_limits<double>::max();
  return v >= -most && v <= most;
}

// Each throws dimesh::error where v is not as its name says, or no number.

constexpr void require_finite(std::string_view call, std::string_view what, double v) {
  if (!is_finite_number(v)) refuse_number(call, what, v, "finite");
}
constexpr void require_not_negative(std::string_view call, std::string_view what, double v) {
  if (!(v >= 0 && is_finite_number(v))) refuse_number(call, what, v, "at least 0, and finite");
}
constexpr void require_positive(std::string_view call, std::string_view what, double v) {
  if (!(v > 0)) refuse_number(call, what, v, "above 0");
}
/// What bounds nothing may be infinite.
constexpr void require_limit(std::string_view call, std::string_view what, double v) {
  if (!(v >= 0)) refuse_number(call, what, v, "at least 0");
}
/// Throws dimesh::error unless lo <= hi.
constexpr void require_ordered(std::string_view call, std::string_view what, double lo, double hi) {
  if (!(lo <= hi)) refuse_ends(call, what, lo, hi);
}
/// A part of a whole.
constexpr void require_part(std::string_view call, std::string_view what, double v) {
  if (!(v >= 0 && v <= 1)) refuse_number(call, what, v, "from 0 to 1");
}
/// A part that a running average keeps: with all of it there would be none.
constexpr void require_kept_part(std::string_view call, std::string_view what, double v) {
  if (!(v >= 0 && v < 1)) refuse_number(call, what, v, "at least 0, and less than 1");
}

}  // namespace dimesh::detail
