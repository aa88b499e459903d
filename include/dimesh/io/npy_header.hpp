// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does the head of a .npy file say? NumPy's format, versions 1 to 3: a magic number, and a
// Python dict of the elements' type, their order and the extents. Written and read here, without
// Python; whatever is not exactly that is a dimesh::error that names the file and what was found.
//
//   npy_header_of("x.npy", bytes, file_bytes)  -> {float64, {3, 4}, data_at: 128}
//   npy_header_text(element_kind::float64, {3, 4})   -> 128 bytes, "\x93NUMPY..."
//
// Little-endian elements in C order; records, objects, strings and dates are refused.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "dimesh/detail/config.hpp"
#include "dimesh/element/element_traits.hpp"
#include "dimesh/error.hpp"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "npy: the files that it reads and writes are little-endian, and this machine is not"
#endif

namespace dimesh::detail::npy {

struct element_name {
  element_kind kind;
  std::string_view code;  // NumPy's, without the byte order
  index_t bytes;
};
inline constexpr element_name known_elements[] = {
    {element_kind::boolean, "b1", 1},   {element_kind::int8, "i1", 1},
    {element_kind::int16, "i2", 2},     {element_kind::int32, "i4", 4},
    {element_kind::int64, "i8", 8},     {element_kind::uint8, "u1", 1},
    {element_kind::uint16, "u2", 2},    {element_kind::uint32, "u4", 4},
    {element_kind::uint64, "u8", 8},    {element_kind::half, "f2", 2},
    {element_kind::float32, "f4", 4},   {element_kind::float64, "f8", 8},
    {element_kind::complex64, "c8", 8}, {element_kind::complex128, "c16", 16}};

/// NumPy's name of a kind; null where it has none.
constexpr const element_name* name_of_kind(element_kind kind) {
  for (const element_name& e : known_elements)
    if (e.kind == kind) return &e;
  return nullptr;
}
/// "<f8"; where bytes have no order, "|u1".
inline std::string code_of(const element_name& e) {
  return (e.bytes == 1 ? "|" : "<") + std::string(e.code);
}

struct header {
  element_kind kind = element_kind::other;
  std::vector<index_t> shape;
  index_t data_at = 0;
};

inline std::string shape_text(const std::vector<index_t>& shape) {
  std::string all = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) all += ' ';
    all += std::to_string(shape[i]) + (i + 1 < shape.size() || shape.size() == 1 ? "," : "");
  }
  return all + ")";
}

/// The bytes before the data: a multiple of 64.
inline std::string npy_header_text(element_kind kind, const std::vector<index_t>& shape) {
  std::string dict = "{'descr': '" + code_of(*name_of_kind(kind)) +
                     "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  constexpr std::size_t before = 10;
  while ((before + dict.size() + 1) % 64 != 0) dict += ' ';
  dict += '\n';
  std::string all = "\x93NUMPY";
  all += '\x01';
  all += '\0';
  all += static_cast<char>(dict.size() & 0xff);
  all += static_cast<char>(dict.size() >> 8);
  return all + dict;
}

/// `file`: as errors call it.
[[noreturn]] inline void refuse(const std::string& file, const std::string& what) {
  throw error("npy: " + file + ": " + what);
}

/// Reads a Python dict of three known entries.
class dict_reader {
 public:
  dict_reader(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  void read(std::string& descr, bool& fortran, std::vector<index_t>& shape) {
    bool seen[3] = {};
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      const int k = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (k < 0 || seen[k]) fail("a known entry, once");
      seen[k] = true;
      if (k == 0) descr = quoted();
      if (k == 1) fortran = truth();
      if (k == 2) shape = tuple();
      if (!take(',') && !next_is('}')) fail("',' or '}'");
    }
    blanks();
    if (at_ != text_.size()) fail("the end of the header");
    if (!seen[0] || !seen[1] || !seen[2]) fail("'descr', 'fortran_order' and 'shape'");
  }

 private:
  [[noreturn]] void fail(const std::string& wanted) const {
    refuse(file_,
           "expected " + wanted + " at byte " + std::to_string(at_) + " of the header's dict");
  }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool next_is(char c) {
    blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    const bool there = next_is(c);
    at_ += there ? 1 : 0;
    return there;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("'") + c + "'");
  }
  std::string quoted() {
    const char quote = next_is('"') ? '"' : '\'';
    if (!take(quote)) fail("a text in quotes: elements of one plain type");
    const std::size_t end = text_.find(quote, at_);
    if (end == text_.npos) fail("the end of a text");
    const std::string said(text_.substr(at_, end - at_));
    at_ = end + 1;
    return said;
  }
  bool truth() {
    blanks();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    fail("True or False");
  }
  index_t number() {
    blanks();
    const std::size_t begin = at_;
    index_t n = 0;
    constexpr index_t most = std::numeric_limits<index_t>::max();
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const index_t digit = text_[at_] - '0';
      if (n > (most - digit) / 10) fail("an extent that fits 63 bits");
      n = 10 * n + digit;
    }
    if (at_ == begin) fail("an extent");
    return n;
  }
  std::vector<index_t> tuple() {
    std::vector<index_t> all;
    expect('(');
    while (!take(')')) {
      if (all.size() == 64) fail("at most 64 extents");
      all.push_back(number());
      if (!take(',') && !next_is(')')) fail("',' or ')'");
    }
    return all;
  }

  const std::string& file_;
  std::string_view text_;
  std::size_t at_ = 0;
};

/// Bytes of n elements of these extents; throws where that is more than can be counted, as strides
/// of an array without elements must be, too.
inline index_t data_bytes(const std::string& file, const std::vector<index_t>& shape,
                          index_t element) {
  index_t bytes = element;
  bool none = false;
  for (const index_t n : shape) {
    none = none || n == 0;
    if (n == 0) continue;
    if (bytes > std::numeric_limits<index_t>::max() / n)
      refuse(file, "the extents " + shape_text(shape) + " are more elements than can be");
    bytes *= n;
  }
  return none ? 0 : bytes;
}

/// The longest header that is read; NumPy's own are a few hundred bytes.
inline constexpr index_t most_header = 1 << 16;

/// What the first bytes of a file of so many bytes say: all of them, or most_header.
inline header npy_header_of(const std::string& file, std::string_view bytes, index_t file_bytes) {
  const auto byte = [&](std::size_t i) {
    return static_cast<index_t>(static_cast<unsigned char>(bytes[i]));
  };
  if (bytes.size() < 10 || bytes.substr(0, 6) != "\x93NUMPY")
    refuse(file, "expected a .npy file, found other bytes at its beginning");
  const index_t version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0)
    refuse(file, "expected version 1.0, 2.0 or 3.0, found " + std::to_string(version) + "." +
                     std::to_string(byte(7)));
  const std::size_t before = version == 1 ? 10 : 12;
  if (bytes.size() < before) refuse(file, "truncated in its header");
  index_t length = byte(8) + 256 * byte(9);
  if (version > 1) length += 65536 * (byte(10) + 256 * byte(11));
  const index_t data_at = static_cast<index_t>(before) + length;
  if (data_at > most_header)
    refuse(file,
           "a header of " + std::to_string(length) + " bytes, more than any of plain elements");
  if (data_at > static_cast<index_t>(bytes.size())) refuse(file, "truncated in its header");

  std::string descr;
  bool fortran = false;
  header h;
  h.data_at = data_at;
  dict_reader(file, bytes.substr(before, static_cast<std::size_t>(length)))
      .read(descr, fortran, h.shape);
  const element_name* found = nullptr;
  for (const element_name& e : known_elements)
    if (descr == code_of(e)) found = &e;
  if (found == nullptr && !descr.empty() && descr[0] == '>')
    refuse(file, "elements '" + descr + "' are big-endian; write them with x.astype('<" +
                     descr.substr(1) + "')");
  if (found == nullptr) refuse(file, "elements '" + descr + "' are none that dimesh has");
  if (fortran)
    refuse(file, "elements in Fortran order; write them with numpy.ascontiguousarray(x)");
  h.kind = found->kind;
  const index_t wanted = data_bytes(file, h.shape, found->bytes), there = file_bytes - data_at;
  if (wanted != there)
    refuse(file, "expected " + std::to_string(wanted) + " bytes of elements " +
                     shape_text(h.shape) + ", found " + std::to_string(there));
  return h;
}

}  // namespace dimesh::detail::npy
