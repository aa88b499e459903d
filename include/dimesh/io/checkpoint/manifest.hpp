// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a checkpoint say what it is? By its manifest: the record, with sizes and checksums of
// all files, under a checksum of its own.
//
//   manifest_text({r, {{"model.safetensors", {4096, 0x1c291ca3}}}})   -> JSON
#pragma once

#include <zlib.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "dimesh/detail/config.hpp"
#include "dimesh/error.hpp"
#include "dimesh/io/checkpoint/record.hpp"
#include "dimesh/io/json_object.hpp"

namespace dimesh::detail::checkpoint {

struct file_mark {
  index_t bytes = 0;
  std::uint32_t crc = 0;
};
struct manifest {
  checkpoint_record record;
  std::map<std::string, file_mark> files;
};

inline std::uint32_t crc_of(const std::string& text) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

/// A number to the last bit, as %a prints it in the "C" locale, whatever the program's own is:
/// -0x1.8p+1, inf, nan.
inline std::string number_text(double x) {
  char digits[64];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, std::abs(x), std::chars_format::hex);
  return std::string(std::signbit(x) ? "-" : "") + (std::isfinite(x) ? "0x" : "") +
         std::string(digits, end.ptr);
}
/// And back; `fail` says that it is none. Programs that had set a locale have written its comma.
template <class Fail> double number_in(std::string text, const Fail& fail) {
  std::replace(text.begin(), text.end(), ',', '.');
  const bool is_negative = text.starts_with('-');
  const char* from = text.data() + (is_negative ? 1 : 0);
  const char* const end = text.data() + text.size();
  if (std::string_view(from, end).starts_with("0x")) from += 2;
  double x = 0;
  const auto read = std::from_chars(from, end, x, std::chars_format::hex);
  if (read.ec != std::errc() || read.ptr != end || std::signbit(x))
    fail("expected a number in hexadecimal digits, found '" + text + "'");
  if (std::isnan(x)) x = std::numeric_limits<double>::quiet_NaN();  // others would have more bits
  return is_negative ? -x : x;
}

inline std::string manifest_text(const manifest& m) {
  nlohmann::json j = {{"format", "dimesh checkpoint 1"},
                      {"step", m.record.step},
                      {"integers", m.record.integers},
                      {"texts", m.record.texts}};
  j["numbers"] = nlohmann::json::object();
  for (const auto& [name, x] : m.record.numbers) j["numbers"][name] = number_text(x);
  if (!m.record.files.empty()) {  // those of the program
    j["own"] = nlohmann::json::array();
    for (const auto& [name, bytes] : m.record.files) j["own"].push_back(name);
  }
  j["files"] = nlohmann::json::object();
  for (const auto& [name, f] : m.files) j["files"][name] = {{"bytes", f.bytes}, {"crc32", f.crc}};
  return nlohmann::json{{"content", j}, {"crc32", crc_of(j.dump())}}.dump(1) + "\n";
}

/// Throws dimesh::error that names the file if it is no manifest, or not as it was written.
inline manifest parse_manifest(const std::string& text, const std::string& path) {
  const auto fail = [&path](const std::string& what) {
    throw error("checkpoint: '" + path + "': " + what);
  };
  manifest m;
  try {
    const auto all = json_object(text, "the manifest", fail);
    const auto& j = all.at("content");
    if (crc_of(j.dump()) != all.at("crc32").get<std::uint32_t>())
      fail("expected the manifest that was written, found another checksum");
    if (j.at("format") != "dimesh checkpoint 1")
      fail("expected format 'dimesh checkpoint 1', found " + j.at("format").dump());
    m.record.step = j.at("step").get<index_t>();
    m.record.integers = j.at("integers").get<std::map<std::string, std::int64_t>>();
    m.record.texts = j.at("texts").get<std::map<std::string, std::string>>();
    for (const auto& [name, x] : j.at("numbers").items())
      m.record.numbers[name] = number_in(x.get<std::string>(), fail);
    for (const auto& [name, f] : j.at("files").items()) {
      if (!is_plain_name(name))
        fail("expected names of files in this folder, found '" + name + "'");
      m.files[name] = {f.at("bytes").get<index_t>(), f.at("crc32").get<std::uint32_t>()};
    }
    for (const auto& name : j.value("own", nlohmann::json::array())) {
      if (m.files.count(name.get<std::string>()) == 0)
        fail("expected a size for each of the program's files, found none for " + name.dump());
      m.record.files[name.get<std::string>()];  // to be read
    }
  } catch (const nlohmann::json::exception& e) {
    fail(std::string("expected a manifest, found what is none (") + e.what() + ")");
  }
  return m;
}

}  // namespace dimesh::detail::checkpoint
