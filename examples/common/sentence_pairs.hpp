// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be translated? What the programs of this machine say, in English and in the languages
// that they were translated into: gettext's catalogs (dimesh/io/data/catalog.hpp).
//
//   const auto all = text::pairs("/usr/share/locale", "fr", 60);
//     -> {{"Old French", "ancien francais"}, ...}: each English text once, in an order that depends
//        on the texts alone
//   text::is_held_out(all[0])     -> true for one in 32: for tests, never for training
#pragma once

#include <dimesh/io/data/byte_pairs.hpp>
#include <dimesh/io/data/catalog.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace text {

namespace dm = dimesh;

struct pair {
  std::string english, other;
};

/// FNV-1a: what orders texts, the same on every machine.
inline std::uint64_t hash(std::string_view s) {
  std::uint64_t h = 14695981039346656037u;
  for (const char c : s) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return h ^ (h >> 29);
}
inline bool is_held_out(const pair& p) { return hash(p.english) % 32 == 0; }

/// A few pairs of English and French, for tests on machines without catalogs.
inline std::vector<pair> built_in() {
  return {{"one", "un"},
          {"two", "deux"},
          {"three", "trois"},
          {"a cat", "un chat"},
          {"a dog", "un chien"},
          {"the cat", "le chat"},
          {"the dog", "le chien"},
          {"two cats", "deux chats"},
          {"two dogs", "deux chiens"},
          {"a red cat", "un chat rouge"},
          {"a red dog", "un chien rouge"},
          {"three red cats", "trois chats rouges"},
          {"the red dog", "le chien rouge"}};
}

/// Short, and on one line.
inline bool is_sentence(std::string_view s, std::size_t longest) {
  return !s.empty() && s.size() <= longest && std::all_of(s.begin(), s.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20;
  });
}

/// The pairs of all catalogs FOLDER/LANGUAGE/LC_MESSAGES/*.mo in UTF-8 whose names begin with
/// `prefix`, at most `longest` bytes on either side.
inline std::vector<pair> find_pairs(const std::string& folder, const std::string& language,
                                    std::size_t longest, const std::string& prefix = "") {
  std::vector<std::string> files;
  std::error_code none;
  const auto within = std::filesystem::path(folder) / language / "LC_MESSAGES";
  for (const auto& entry : std::filesystem::directory_iterator(within, none))
    if (entry.path().extension() == ".mo" && entry.path().filename().string().starts_with(prefix))
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::map<std::string, std::string> by_english;
  for (const std::string& file : files) {
    const dm::input::catalog c(file);
    if (c.charset() != "UTF-8" && c.charset() != "utf-8") continue;
    for (dm::index_t i = 0; i < c.size(); ++i)
      if (const auto& [a, b] = c(i); a != b && is_sentence(a, longest) && is_sentence(b, longest))
        by_english.emplace(a, b);
  }
  std::vector<pair> all;
  for (const auto& [a, b] : by_english) all.push_back({a, b});
  std::sort(all.begin(), all.end(), [](const pair& a, const pair& b) {
    return std::pair(hash(a.english), a.english) < std::pair(hash(b.english), b.english);
  });
  return all;
}
[[noreturn]] inline void refuse_folder(const std::string& folder) {
  throw dm::error("no sentences in '" + folder +
                  "'; install Debian's iso-codes (names of languages and countries in a hundred "
                  "languages) or any translated programs, or name a folder of catalogs with "
                  "--catalogs");
}
/// The same of all catalogs; `built-in` is a folder, too. Throws dimesh::error where there are
/// none.
inline std::vector<pair> pairs(const std::string& folder, const std::string& language,
                               std::size_t longest) {
  auto all = folder == "built-in" ? built_in() : find_pairs(folder, language, longest);
  if (all.empty()) refuse_folder(folder + "/" + language + "/LC_MESSAGES");
  return all;
}

// Symbols of the vocabulary that no sentence has, being control characters.
constexpr std::int32_t filler = 0, begin = 1, end = 2;

/// What to write, filled up with -1 to n places, and what has been written before each of them.
/// Empty where it has no room.
struct target_rows {
  std::vector<std::int32_t> ids, next;
};
inline target_rows target_row(const dm::input::byte_pairs& v, std::string_view s, std::size_t n) {
  target_rows r{{begin}, v.encode(s)};
  r.next.push_back(end);
  if (r.next.size() > n) return {};
  r.ids.insert(r.ids.end(), r.next.begin(), r.next.end() - 1);
  r.ids.resize(n, filler);
  r.next.resize(n, -1);
  return r;
}
/// What symbols say; those that stand for no text are left out.
inline std::string decoded(const dm::input::byte_pairs& v, std::vector<std::int32_t> symbols) {
  std::erase_if(symbols, [&](std::int32_t k) { return k <= end || k >= v.size(); });
  return v.decode(symbols);
}

/// A sentence as it is read: its symbols and the end, filled up to n places. Empty where it has no
/// room.
inline std::vector<std::int32_t> source_row(const dm::input::byte_pairs& v, std::string_view s,
                                            std::size_t n) {
  auto row = v.encode(s);
  row.push_back(end);
  if (row.size() > n) return {};
  row.resize(n, filler);
  return row;
}

}  // namespace text
