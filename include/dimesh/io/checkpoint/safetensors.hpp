// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands at the beginning of a safetensors file? The length of a JSON text (64 bits, little
// endian), and the text: name, element type, shape and place of each tensor. The elements follow,
// row-major, without holes. Other programs read such files; what is read here may be hostile, so
// nothing is believed that the file's size does not bear out.
//
//   read_safetensors_header("model.safetensors").find("h.0.attn.c_attn.weight")->shape
//     -> {768, 2304}
//   safetensors_text(entries, {{"step", "7"}})  -> the first bytes of a file
//
// Format: https://github.com/huggingface/safetensors. Needs nlohmann's JSON; the umbrella header
// does not include it.
#pragma once

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "dimesh/detail/config.hpp"
#include "dimesh/element/element_traits.hpp"
#include "dimesh/error.hpp"
#include "dimesh/io/json_object.hpp"

namespace dimesh {

/// One tensor of a file: `begin` and `end` are bytes from the first element of the first tensor.
struct safetensors_entry {
  std::string name;
  element_kind kind = element_kind::other;
  std::vector<index_t> shape;
  index_t begin = 0, end = 0;
};

/// All that a file says before its elements.
struct safetensors_header {
  std::vector<safetensors_entry> tensors;  // in the order of their places
  std::map<std::string, std::string> metadata;
  index_t data_at = 0;  // where the elements begin, bytes from the beginning of the file

  /// Null where the file has no tensor of this name.
  const safetensors_entry* find(const std::string& name) const {
    for (const safetensors_entry& t : tensors)
      if (t.name == name) return &t;
    return nullptr;
  }
};

namespace detail::safetensors {

inline constexpr index_t longest_header = 100'000'000;  // the format's own limit

struct type_name {
  const char* name;
  element_kind kind;
  index_t bytes;
};
inline constexpr type_name type_names[] = {
    {"BOOL", element_kind::boolean, 1},  {"U8", element_kind::uint8, 1},
    {"I8", element_kind::int8, 1},       {"I16", element_kind::int16, 2},
    {"U16", element_kind::uint16, 2},    {"F16", element_kind::half, 2},
    {"BF16", element_kind::bfloat16, 2}, {"I32", element_kind::int32, 4},
    {"U32", element_kind::uint32, 4},    {"F32", element_kind::float32, 4},
    {"C64", element_kind::complex64, 8}, {"F64", element_kind::float64, 8},
    {"I64", element_kind::int64, 8},     {"U64", element_kind::uint64, 8},
};
/// Null where the format has no such type.
inline const type_name* type_of(element_kind k) {
  for (const type_name& t : type_names)
    if (t.kind == k) return &t;
  return nullptr;
}
inline const type_name* type_of(const std::string& name) {
  for (const type_name& t : type_names)
    if (name == t.name) return &t;
  return nullptr;
}

/// Says what is wrong with a file, and with which of its tensors.
struct complaint {
  const std::string& path;
  std::string tensor{};

  [[noreturn]] void operator()(const std::string& what) const {
    throw error("safetensors: '" + path +
                "': " + (tensor.empty() ? what : "tensor '" + tensor + "': " + what));
  }
};

/// A number of elements or bytes.
inline index_t number_in(const nlohmann::json& j, const complaint& fail) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<index_t>::max());
  if (!j.is_number_unsigned() || j.get<std::uint64_t>() > most)
    fail("expected whole numbers from 0 to 2^63 - 1, found " + j.dump().substr(0, 40));
  return static_cast<index_t>(j.get<std::uint64_t>());
}

inline safetensors_entry entry_in(const std::string& name, const nlohmann::json& j,
                                  const std::string& path) {
  const complaint fail{path, name};
  if (!j.is_object() || j.size() != 3 || !j.contains("dtype") || !j.contains("shape") ||
      !j.contains("data_offsets"))
    fail("expected dtype, shape and data_offsets and nothing else, found other members");
  const auto &dtype = j["dtype"], &shape = j["shape"], &offsets = j["data_offsets"];
  if (!dtype.is_string() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2)
    fail("expected a text for dtype, a list for shape and two numbers for data_offsets");
  const type_name* const type = type_of(dtype.get<std::string>());
  if (type == nullptr) fail("unknown element type '" + dtype.get<std::string>() + "'");
  safetensors_entry e{
      name, type->kind, {}, number_in(offsets[0], fail), number_in(offsets[1], fail)};
  index_t bytes = type->bytes;
  bool none = false;
  for (const auto& n : shape) {
    e.shape.push_back(number_in(n, fail));
    none = none || e.shape.back() == 0;
  }
  for (const index_t n : e.shape) {
    if (none) break;
    if (bytes > std::numeric_limits<index_t>::max() / n)
      fail("absurd shape: expected at most 2^63 - 1 bytes");
    bytes *= n;
  }
  if (none) bytes = 0;
  if (e.end < e.begin || e.end - e.begin != bytes)
    fail("its shape takes " + std::to_string(bytes) + " bytes, but it stands from " +
         std::to_string(e.begin) + " to " + std::to_string(e.end));
  return e;
}

/// Tensors side by side from the first byte to the last.
inline void require_no_holes(const safetensors_header& h, index_t file_bytes,
                             const std::string& path) {
  index_t at = 0;
  for (const safetensors_entry& t : h.tensors) {
    if (t.begin != at)
      complaint{path, t.name}((t.begin < at ? "it overlaps the tensor before it: expected byte "
                                            : "there is a hole before it: expected byte ") +
                              std::to_string(at) + ", found " + std::to_string(t.begin));
    at = t.end;
  }
  if (file_bytes - h.data_at < at)
    complaint{path}("truncated: expected " + std::to_string(at) + " bytes of elements, found " +
                    std::to_string(file_bytes - h.data_at));
  if (file_bytes - h.data_at > at)
    complaint{path}("trailing bytes: expected " + std::to_string(at) +
                    " bytes of elements, found " + std::to_string(file_bytes - h.data_at));
}

/// Reads the text of a header, of a file that has so many bytes in all.
inline safetensors_header parse(const std::string& text, index_t file_bytes,
                                const std::string& path) {
  const complaint fail{path};
  safetensors_header h;
  h.data_at = 8 + static_cast<index_t>(text.size());
  if (text.empty() || text[0] != '{') fail("expected '{' at byte 8, found no header");
  const nlohmann::json all = json_object(text, "the header", fail);
  for (const auto& [name, value] : all.items()) {
    if (name != "__metadata__") {
      h.tensors.push_back(entry_in(name, value, path));
      continue;
    }
    if (!value.is_object()) fail("expected an object for __metadata__, found another value");
    for (const auto& [key, note] : value.items()) {
      if (!note.is_string()) fail("expected texts in __metadata__, found '" + key + "' to be none");
      h.metadata[key] = note.get<std::string>();
    }
  }
  std::sort(h.tensors.begin(), h.tensors.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  require_no_holes(h, file_bytes, path);
  return h;
}

}  // namespace detail::safetensors

/// Reads the header of a file. Throws dimesh::error that names the file and the tensor if anything
/// about them is wrong: lengths, JSON, types, shapes, overlaps, holes, what is missing or too much.
inline safetensors_header read_safetensors_header(const std::string& path) {
  namespace st = detail::safetensors;
  const st::complaint fail{path};
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const index_t bytes = in ? static_cast<index_t>(in.tellg()) : -1;
  if (bytes < 0) fail("expected a readable file, found none");
  unsigned char first[8] = {};
  in.seekg(0);
  if (bytes < 8 || !in.read(reinterpret_cast<char*>(first), 8))
    fail("truncated: expected the length of the header in 8 bytes, found " + std::to_string(bytes));
  std::uint64_t length = 0;
  for (int i = 8; i-- > 0;) length = length << 8 | first[i];
  if (length > static_cast<std::uint64_t>(st::longest_header))
    fail("absurd header: expected at most 100000000 bytes, found " + std::to_string(length));
  if (static_cast<index_t>(length) > bytes - 8)
    fail("truncated: expected a header of " + std::to_string(length) + " bytes, found " +
         std::to_string(bytes - 8));
  std::string text(length, '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(length)))
    fail("expected to read the header, found a read error");
  return st::parse(text, bytes, path);
}

/// The first bytes of a file of these tensors, whose places are worked out here: in their order,
/// side by side. Padded by blanks so that elements stand at multiples of 64 bytes.
inline std::string safetensors_text(std::vector<safetensors_entry>& tensors,
                                    const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  if (!metadata.empty()) all["__metadata__"] = metadata;
  index_t at = 0;
  for (safetensors_entry& t : tensors) {
    const auto* const type = detail::safetensors::type_of(t.kind);
    if (type == nullptr)
      throw error("safetensors: tensor '" + t.name + "': the format has no such type of elements");
    if (t.name == "__metadata__" || all.contains(t.name))
      throw error("safetensors: tensor '" + t.name + "': the name is taken; choose another");
    t.begin = at;
    at += std::accumulate(t.shape.begin(), t.shape.end(), type->bytes, std::multiplies<>());
    t.end = at;
    all[t.name] = {{"dtype", type->name}, {"shape", t.shape}, {"data_offsets", {t.begin, t.end}}};
  }
  std::string text = all.dump();
  text.resize((text.size() + 8 + 63) / 64 * 64 - 8, ' ');
  if (static_cast<index_t>(text.size()) > detail::safetensors::longest_header)
    throw error("safetensors: the names and shapes take more than 100000000 bytes");
  std::string out(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
  return out + text;
}

}  // namespace dimesh
