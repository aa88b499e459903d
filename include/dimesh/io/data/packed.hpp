// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are many small records kept in one file, so that any of them is found at once? One after the
// other, with an index and a checksum for each behind them.
//
//   input::packed_writer w("train.packed");  w.append(bytes);  w.close();
//   input::packed("train.packed")(17)                  -> the bytes of record 17
//   ... | input::map(input::as_numbers<float>{})       -> the vector of floats they are
//
// All numbers are little-endian, 64 bits. The file:
//   "dmpacked"  version 1  number of records n  bytes of all records  checksum of the index
//   the records' bytes, one record after the other
//   the index: n+1 offsets from the first record on, then n checksums
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <span>
#include <type_traits>

#include "dimesh/io/data/contents.hpp"
#include "dimesh/io/data/stage.hpp"

namespace dimesh::input {

namespace detail {

inline std::uint64_t load_number(const char* from) {
  std::uint64_t n = 0;
  std::memcpy(&n, from, sizeof n);
  if constexpr (std::endian::native == std::endian::big) {
    std::uint64_t turned = 0;
    for (int k = 0; k < 8; ++k, n >>= 8) turned = turned << 8 | (n & 0xff);
    n = turned;
  }
  return n;
}
inline void store_number(std::string& to, std::uint64_t n) {
  for (int k = 0; k < 8; ++k, n >>= 8) to.push_back(static_cast<char>(n & 0xff));
}

/// A checksum of eight bytes at a time. Each step is a bijection of the state: no change within one
/// word goes unnoticed. It does not keep out who wants to deceive.
inline std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t h = 0x9e3779b97f4a7c15u ^ bytes.size();
  const auto mix = [&](std::uint64_t w) {
    h = (h ^ w) * 0xbf58476d1ce4e5b9u;
    h ^= h >> 29;
  };
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) mix(load_number(bytes.data() + at));
  std::array<char, 8> rest{};
  std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), rest.begin());
  mix(load_number(rest.data()));
  return h;
}

inline constexpr std::string_view packed_magic = "dmpacked";
inline constexpr std::uint64_t packed_version = 1, packed_header = 40;

}  // namespace detail

/// Writes records to a file, which takes its name when it is complete.
class packed_writer {
 public:
  /// Throws dimesh::error where the file cannot be made.
  explicit packed_writer(std::string path)
      : path_(std::move(path)),
        part_(detail::unfinished_name(path_)),
        file_(std::fopen(part_.c_str(), "wb")) {
    if (file_ == nullptr)
      detail::refuse_file(path_, std::string("cannot be made: ") + std::strerror(errno));
    try {
      put(std::string(detail::packed_header, '\0'));
    } catch (...) {  // no destructor runs
      give_up();
      throw;
    }
  }
  packed_writer(const packed_writer&) = delete;
  packed_writer& operator=(const packed_writer&) = delete;
  /// Without close() nothing is left.
  ~packed_writer() {
    if (file_ != nullptr) give_up();
  }

  /// Throws dimesh::error where it cannot be written; the file is then no more to be had.
  void append(std::string_view record) {
    if (file_ == nullptr) detail::refuse_file(path_, "the file is closed; append before close()");
    begin_to_write();
    put(record);
    ends_.push_back(ends_.back() + record.size());
    checksums_.push_back(detail::checksum(record));
    is_whole_ = true;
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  void append(std::span<const T> record) {
    append(std::string_view(reinterpret_cast<const char*>(record.data()), record.size_bytes()));
  }
  /// Writes the index and gives the file its name. Throws dimesh::error where the disk is full, and
  /// where it was before.
  void close() {
    if (file_ == nullptr) return;
    begin_to_write();
    std::string index, header(detail::packed_magic);
    for (const std::uint64_t n : ends_) detail::store_number(index, n);
    for (const std::uint64_t n : checksums_) detail::store_number(index, n);
    put(index);
    for (const std::uint64_t n :
         {detail::packed_version, static_cast<std::uint64_t>(checksums_.size()), ends_.back(),
          detail::checksum(index)})
      detail::store_number(header, n);
    const bool placed = std::fseek(file_, 0, SEEK_SET) == 0;
    if (placed) put(header);
    const bool written = placed && std::fflush(file_) == 0 && ::fsync(::fileno(file_)) == 0;
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    if (written && closed && std::rename(part_.c_str(), path_.c_str()) == 0) return;
    const std::string why = std::strerror(errno);
    std::remove(part_.c_str());
    detail::refuse_file(path_, "cannot be written to its end: " + why);
  }

 private:
  /// Of what throws half is in the file: nothing that comes behind it would stand where it should.
  void begin_to_write() {
    if (!is_whole_)
      detail::refuse_file(path_, "could not be written before; begin again with another writer");
    is_whole_ = false;
  }
  void give_up() {
    std::fclose(file_);
    std::remove(part_.c_str());
  }
  void put(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size())
      detail::refuse_file(path_, std::string("cannot be written: ") + std::strerror(errno));
  }
  std::string path_, part_;
  std::FILE* file_;
  bool is_whole_ = true;  // all that was appended
  std::vector<std::uint64_t> ends_{0}, checksums_;
};

/// The records of such a file: std::string_view, good as long as a copy of this lives.
class packed : public detail::source<packed> {
 public:
  explicit packed(const std::string& path) : packed(contents(path)) {}
  /// Throws dimesh::error where header or index are wrong; records are checked when they are read.
  explicit packed(contents file) : file_(std::move(file)) {
    const std::string_view bytes = file_.bytes();
    if (bytes.size() < detail::packed_header)
      refuse("truncated: expected a header of 40 bytes, found " + std::to_string(bytes.size()));
    if (!bytes.starts_with(detail::packed_magic))
      refuse("no packed records: it does not begin with 'dmpacked'");
    const auto number = [&](std::size_t k) { return detail::load_number(bytes.data() + 8 * k); };
    if (number(1) != detail::packed_version)
      refuse("version " + std::to_string(number(1)) + " of packed records; 1 is known");
    const std::uint64_t count = number(2), data = number(3),
                        room = bytes.size() - detail::packed_header;
    // In this order nothing overflows: a file holds less than 2^63 bytes.
    if (data > room || count > room / 16 || (2 * count + 1) * 8 != room - data)
      refuse("truncated or too long: " + std::to_string(count) + " records of " +
             std::to_string(data) + " bytes and their index do not make " +
             std::to_string(bytes.size()) + " bytes");
    count_ = static_cast<index_t>(count);
    index_ = detail::packed_header + static_cast<std::size_t>(data);
    if (detail::checksum(bytes.substr(index_)) != number(4))
      refuse("corrupt: the checksum of its index is not what it was written with");
    std::uint64_t before = 0;
    for (index_t i = 0; i <= count_; ++i) {
      const std::uint64_t now = entry(i);
      if (now < before || now > data || (i == 0 && now != 0) || (i == count_ && now != data))
        refuse("corrupt: record " + std::to_string(i) +
               " does not begin where the one before ends");
      before = now;
    }
  }
  index_t size() const { return count_; }
  std::string_view operator()(index_t i) const {
    if (i < 0 || i >= count_) detail::refuse_place("packed", i, count_);
    const std::uint64_t first = entry(i);
    const std::string_view record =
        file_.bytes().substr(detail::packed_header + first, entry(i + 1) - first);
    if (detail::checksum(record) != entry(count_ + 1 + i))
      refuse("corrupt: the checksum of record " + std::to_string(i) +
             " is not what it was written with");
    return record;
  }
  void require_unchanged() const { file_.require_unchanged(); }
  std::string where(index_t i) const {
    return "record " + std::to_string(i) + " of '" + file_.path() + "'";
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    detail::refuse_file(file_.path(), what);
  }
  std::uint64_t entry(index_t i) const {
    return detail::load_number(file_.bytes().data() + index_ + 8 * static_cast<std::size_t>(i));
  }
  contents file_;
  index_t count_ = 0;
  std::size_t index_ = 0;
};

/// Bytes as the numbers T that were written, in this machine's byte order.
template <class T>
  requires std::is_arithmetic_v<T>
struct as_numbers {
  /// Throws dimesh::error where the bytes are no whole number of them.
  std::vector<T> operator()(std::string_view bytes) const {
    if (bytes.size() % sizeof(T) != 0)
      throw error("as_numbers: " + std::to_string(bytes.size()) + " bytes are no whole number of " +
                  std::to_string(sizeof(T)) + "-byte elements");
    std::vector<T> numbers(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }
};

}  // namespace dimesh::input
