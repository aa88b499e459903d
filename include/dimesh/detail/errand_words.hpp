// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is said what ranks are about to do, wherein they differ, and where one is that does not come?
//
//   said(errand)   -> "'all_reduce' along rows of pod with 4 elements of double (its call 7)"
#pragma once

#include "dimesh/detail/board.hpp"
#include "dimesh/detail/doing.hpp"
#include "dimesh/element/element_traits.hpp"

namespace dimesh::detail {

/// The words for elements of a kind and size.
inline std::string element_words(std::uint32_t element) {
  static constexpr const char* names[] = {
      "",      "bool",   "int8",        "int16",          "int32",          "int64",
      "uint8", "uint16", "uint32",      "uint64",         "half",           "bfloat16",
      "float", "double", "long double", "complex<float>", "complex<double>"};
  const std::uint32_t kind = element >> 16;
  if (kind > 0 && kind < sizeof names / sizeof *names) return names[kind];
  return std::to_string(element & 0xffffu) + "-byte";
}

/// "'all_reduce' along rows of pod with 4 elements of double, in 'sum' (its call 7)"
inline std::string said(const errand& e) {
  std::string s = "'" + std::string(e.call) + "'";
  if (e.along[0] != 0) s += " along " + std::string(e.along);
  if (e.element != 0) {
    s += e.count > 0 ? " with " + std::to_string(e.count) + " elements of " : " with elements of ";
    s += element_words(e.element);
  }
  if (e.within[0] != 0 && std::strcmp(e.call, e.within) != 0)
    s += ", in '" + std::string(e.within) + "'";
  if (e.phase[0] != 0) s += ", in span '" + std::string(e.phase) + "'";
  return s + " (its call " + std::to_string(e.place) + ")";
}
inline bool same_errand(const errand& a, const errand& b) {
  return a.count == b.count && a.operands == b.operands && a.element == b.element &&
         a.tag == b.tag && std::strcmp(a.call, b.call) == 0 &&
         std::strcmp(a.within, b.within) == 0 && std::strcmp(a.along, b.along) == 0;
}
inline errand errand_of(const char* call) {
  errand e;
  put_text(e.call, call);
  if (phase_here != nullptr) put_text(e.phase, phase_here);
  return e;
}
/// What differs where the two texts of said() are alike.
inline std::string hidden_difference(const errand& mine, const errand& theirs) {
  if (const std::string words = two_extents(mine.extents, theirs.extents); !words.empty())
    return "; " + words;
  if (mine.operands != theirs.operands && mine.count == theirs.count &&
      std::strcmp(mine.along, theirs.along) == 0)
    return "; the operands have other layouts or extents";
  if (mine.tag != theirs.tag) return "; one of them has sent more messages before";
  return "";
}

/// s: how long those are waited for who are about to come, or to answer.
inline constexpr double late_by = 0.5;
inline constexpr const char* advice = "; all ranks along an axis must run one program";
inline std::string since_words(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, " for %.1f s", seconds);
  return text;
}
/// What a rank that does not come was last heard of.
inline std::string whereabouts(const board& b, int rank) {
  if (b.has_left(rank)) return b.farewell(rank);
  if (std::string said = b.answer(rank); !said.empty()) return said;
  return "is in no call that ranks make together";
}

}  // namespace dimesh::detail
