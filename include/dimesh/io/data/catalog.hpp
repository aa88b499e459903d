// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do a program's translations become pairs of sentences? From gettext's compiled catalogs, the
// .mo files (GNU gettext manual, "The Format of GNU MO Files"), of either byte order.
//
//   input::catalog c("/usr/share/locale/fr/LC_MESSAGES/git.mo");
//   c(7).first, c(7).second          -> a message, and what it is in French
//
// Of messages with a plural, the singular of both; contexts are left out, and so is the header,
// which is the translation of "". Strings show the file's bytes: good as long as a copy lives.
#pragma once

#include <cstdint>
#include <utility>

#include "dimesh/io/data/contents.hpp"
#include "dimesh/io/data/stage.hpp"

namespace dimesh::input {

/// A message, and what it is in another language.
using sentence_pair = std::pair<std::string_view, std::string_view>;

class catalog : public detail::source<catalog> {
 public:
  explicit catalog(const std::string& path) : catalog(contents(path)) {}
  /// Throws dimesh::error where anything about the file is wrong, naming the entry.
  explicit catalog(contents file) : file_(std::move(file)) {
    const std::string_view bytes = file_.bytes();
    if (bytes.size() < header_bytes)
      refuse("truncated: expected a header of 28 bytes, found " + std::to_string(bytes.size()));
    swapped_ = false;
    if (word(0) != magic) swapped_ = true;
    if (word(0) != magic) refuse("no catalog of gettext: it does not begin with 950412de");
    const std::uint32_t major = word(4) >> 16;
    if (major > 1)
      refuse("revision " + std::to_string(major) + " of the format; 0 and 1 are known");
    const std::uint64_t count = word(8), from = word(12), to = word(16);
    require_table("originals", from, count);
    require_table("translations", to, count);
    auto pairs = std::make_shared<std::vector<sentence_pair>>();
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string_view original = text("original", from, i);
      const std::string_view translation = text("translation", to, i);
      if (original.empty())
        header_ = translation;
      else
        pairs->emplace_back(singular(without_context(original)), singular(translation));
    }
    file_.require_unchanged();
    pairs_ = std::move(pairs);
  }
  index_t size() const { return static_cast<index_t>(pairs_->size()); }
  const sentence_pair& operator()(index_t i) const {
    if (i < 0 || i >= size()) detail::refuse_place("catalog", i, size());
    return (*pairs_)[static_cast<std::size_t>(i)];
  }
  void require_unchanged() const { file_.require_unchanged(); }
  std::string where(index_t i) const {
    return "message " + std::to_string(i) + " of '" + file_.path() + "'";
  }
  /// The lines that catalogs begin with; empty where there are none.
  std::string_view header() const { return header_; }
  /// What the header says of the encoding ("UTF-8"); empty where it says nothing.
  std::string_view charset() const {
    const std::size_t at = header_.find("charset=");
    if (at == std::string_view::npos) return {};
    const std::string_view rest = header_.substr(at + 8);
    return rest.substr(0, rest.find_first_of(" ;\n\r"));
  }

 private:
  static constexpr std::uint32_t magic = 0x950412de;
  static constexpr std::size_t header_bytes = 28;

  [[noreturn]] void refuse(const std::string& what) const {
    detail::refuse_file(file_.path(), what);
  }
  /// The number of four bytes at `at`, which lies in the file.
  std::uint32_t word(std::uint64_t at) const {
    std::uint32_t w = 0;
    for (std::uint64_t k = 0; k < 4; ++k) {
      const auto byte = static_cast<unsigned char>(file_.bytes()[at + (swapped_ ? 3 - k : k)]);
      w |= std::uint32_t{byte} << (8 * k);
    }
    return w;
  }
  void require_table(const char* name, std::uint64_t at, std::uint64_t count) const {
    const std::uint64_t size = file_.bytes().size();
    if (at > size || count * 8 > size - at)
      refuse(std::string("the table of ") + name + " (" + std::to_string(count) +
             " entries from byte " + std::to_string(at) + " on) leaves the file of " +
             std::to_string(size) + " bytes");
  }
  std::string_view text(const char* name, std::uint64_t table, std::uint64_t i) const {
    const std::uint64_t length = word(table + 8 * i), at = word(table + 8 * i + 4);
    const std::uint64_t size = file_.bytes().size();
    const auto entry = [&] { return std::string(name) + " " + std::to_string(i) + " "; };
    if (at >= size || length >= size - at)
      refuse(entry() + "(" + std::to_string(length) + " bytes from byte " + std::to_string(at) +
             " on) leaves the file of " + std::to_string(size) + " bytes");
    if (file_.bytes()[at + length] != '\0') refuse(entry() + "does not end with a zero byte");
    return file_.bytes().substr(at, length);
  }
  static std::string_view singular(std::string_view s) { return s.substr(0, s.find('\0')); }
  static std::string_view without_context(std::string_view s) {
    const std::size_t at = s.find('\4');
    return at == std::string_view::npos ? s : s.substr(at + 1);
  }

  contents file_;
  bool swapped_ = false;
  std::string_view header_;
  std::shared_ptr<const std::vector<sentence_pair>> pairs_;
};

}  // namespace dimesh::input
