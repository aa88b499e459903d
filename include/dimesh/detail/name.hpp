// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a user's struct called? Run-time errors, printing and drawings name dims and axes as the
// source does, by the compiler's own spelling of the type.
//
//   name_of<::batch>()          -> "batch"
//   name_of<my::app::batch>()   -> "batch"
#pragma once

#include <cstdint>
#include <string_view>

namespace dimesh::detail {

template <class T> constexpr std::string_view spelled() { return __PRETTY_FUNCTION__; }

/// The unqualified name of T.
template <class T> constexpr std::string_view name_of() {
  std::string_view text = spelled<T>();
  const auto from = text.find("T = ") + 4;
  auto to = text.find(';', from);  // g++ goes on with "; std::string_view = ..."
  if (to == std::string_view::npos) to = text.rfind(']');
  text = text.substr(from, to - from);
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
    if (depth == 0 && text[i] == ':' && text[i + 1] == ':') start = i + 2;
  }
  return text.substr(start);
}

/// A number for the type T, by its spelling (FNV-1a): what constant expressions can compare under
/// every compiler option, which addresses are not.
template <class T> constexpr std::uint64_t number_of() {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : spelled<T>()) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3u;
  }
  return hash;
}

}  // namespace dimesh::detail
