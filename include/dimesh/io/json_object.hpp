// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is JSON read that anybody may have written? As one object of few levels (whoever prints or
// compares values goes down them by recursion), in which every name stands once: of two, readers
// would take different ones.
//
//   json_object(text, "the header", fail)        fail(what) throws, and names the file
//
// Needs nlohmann's JSON, which only headers that include this one do.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dimesh::detail {

/// `where` the text stands in its file.
template <class Fail>
nlohmann::json json_object(const std::string& text, const std::string& where, const Fail& fail) {
  using nlohmann::json;
  std::vector<std::set<std::string>> keys;
  std::optional<std::string> twice;
  const auto watch = [&](int depth, json::parse_event_t event, json& at) {
    if (depth > 8) fail("expected few levels in " + where + ", found brackets within brackets");
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(at.get<std::string>()).second)
      twice = at.get<std::string>();
    return true;
  };
  json all;
  try {
    all = json::parse(text, watch);
  } catch (const json::exception& e) {
    fail("expected JSON in " + where + ", found what is none (" + e.what() + ")");
  }
  if (twice) fail("expected each name once, found '" + *twice + "' twice");
  if (!all.is_object()) fail("expected an object in " + where + ", found another JSON value");
  return all;
}

}  // namespace dimesh::detail
