// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a user's struct called? Run-time errors, printing and drawings name dims and axes as the
// source does, by the compiler's own spelling of the type.
//
//   name_of<::batch>()          -> "batch"
//   name_of<my::app::batch>()   -> "batch"
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dimesh::detail {

template <class T> constexpr std::string_view spelled() { return __PRETTY_FUNCTION__; }

// The name stands between what is the same for all types: "... [T = name]", or of g++
// "... [with T = name; std::string_view = ...]".
inline constexpr std::size_t name_begins = spelled<int>().find("T = ") + 4;
inline constexpr std::size_t after_name = spelled<int>().size() - name_begins - 3;  // "int"

/// Less what it stands in. By pointers: compilers take a step for each call, and operations have
/// names of hundreds of characters.
constexpr std::string_view unqualified(const char* from, const char* end) {
  const char* start = from;
  for (int depth = 0; from != end; ++from) {
    if (*from == '<') ++depth;
    if (*from == '>') --depth;
    if (*from == ':' && depth == 0 && from[1] == ':') start = from + 2;
  }
  return std::string_view(start, static_cast<std::size_t>(end - start));
}
/// The unqualified name of T.
template <class T> constexpr std::string_view name_of() {
  constexpr std::string_view text = spelled<T>();
  return unqualified(text.data() + name_begins, text.data() + text.size() - after_name);
}
/// The same up to its template arguments, of a T that does not stand in a template.
template <class T> constexpr std::string_view name_before_arguments() {
  constexpr std::string_view text = spelled<T>();
  const char* const from = text.data() + name_begins;
  const char* const end = text.data() + text.size() - after_name;
  const char* to = from;
  while (to != end && *to != '<') ++to;
  return unqualified(from, to);
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
