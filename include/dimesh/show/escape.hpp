// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a text stand in a picture without being taken for a part of it?
//
//   svg::escape("a < b")   -> "a &lt; b"
#pragma once

#include <string>

#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail::svg {

/// A string that may stand between tags or in an attribute.
DIMESH_OUTLINE inline std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

}  // namespace dimesh::detail::svg
