// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a text stand in a picture, or in JSON, without being taken for a part of it?
//
//   svg::escape("a < b")          -> "a &lt; b"
//   json_text("say \"so\"")       -> "\"say \\\"so\\\"\""
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

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

namespace dimesh::detail {

/// A text as JSON has it, in quotation marks. Bytes that are no part of UTF-8 stand for themselves
/// as Latin-1.
DIMESH_OUTLINE inline std::string json_text(std::string_view s) {
  const auto follows = [&s](std::size_t i, std::size_t n) {
    for (std::size_t k = 1; k <= n; ++k)
      if (i + k >= s.size() || (static_cast<unsigned char>(s[i + k]) & 0xc0u) != 0x80u)
        return false;
    return true;
  };
  std::string out = "\"";
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto c = static_cast<unsigned char>(s[i]);
    const std::size_t more = c < 0xc2 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf5 ? 3 : 0;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += s[i];
    } else if (c < 0x20 || (c >= 0x80 && (more == 0 || !follows(i, more)))) {
      char text[8];
      std::snprintf(text, sizeof text, "\\u%04x", unsigned{c});
      out += text;
    } else {
      out.append(s.substr(i, more + 1));
      i += more;
    }
  }
  return out + "\"";
}
/// A number as JSON has it, to the last bit; what is not finite is a text: "nan", "inf", "-inf".
DIMESH_OUTLINE inline std::string json_number(double v) {
  if (!std::isfinite(v)) return std::isnan(v) ? "\"nan\"" : v < 0 ? "\"-inf\"" : "\"inf\"";
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

}  // namespace dimesh::detail
