// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do figures get to TensorBoard? In its event files: records of a length, a checksum, a
// message, a checksum (the TFRecord format), where each message is an `Event` of protocol buffers
// (tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto). Only the fields used
// here are known; written by one rank.
//
//   event_file file("logs/run");             // logs/run/events.out.tfevents.<time>.<host>.<pid>
//   file.scalar(step, "loss", 0.25);
//   file.flush();
#pragma once

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "dimesh/error.hpp"
#include "dimesh/train/checksum.hpp"
#include "dimesh/train/histogram.hpp"

namespace dimesh {

namespace detail {

/// As records carry it, so that checksums of checksums say something.
inline std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t c = crc32c(bytes);
  return ((c >> 15) | (c << 17)) + 0xa282ead8u;
}

/// A message of protocol buffers, field by field (protobuf.dev/programming-guides/encoding).
class proto_message {
 public:
  proto_message& number(int field, std::uint64_t value) {
    varint(key(field, 0));
    varint(value);
    return *this;
  }
  proto_message& real(int field, double value) {
    varint(key(field, 1));
    fixed(value);
    return *this;
  }
  proto_message& single(int field, float value) {
    varint(key(field, 5));
    fixed(value);
    return *this;
  }
  proto_message& text(int field, std::string_view value) {
    varint(key(field, 2));
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  proto_message& message(int field, const proto_message& m) { return text(field, m.bytes_); }
  proto_message& reals(int field, const std::vector<double>& values) {
    varint(key(field, 2));
    varint(8 * values.size());
    for (const double v : values) fixed(v);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  static std::uint64_t key(int field, unsigned kind) {
    return static_cast<std::uint64_t>(field) << 3 | kind;
  }
  void varint(std::uint64_t v) {
    for (; v >= 0x80; v >>= 7) bytes_ += static_cast<char>(v | 0x80);
    bytes_ += static_cast<char>(v);
  }
  /// Little-endian, whatever the machine.
  template <class T> void fixed(T value) {
    using word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    word w = 0;
    std::memcpy(&w, &value, sizeof w);
    for (std::size_t i = 0; i < sizeof w; ++i) bytes_ += static_cast<char>(w >> (8 * i) & 0xffu);
  }
  std::string bytes_;
};

/// ": No space left on device": why the last call for a file failed, where that is known.
inline std::string why_not() {
  return errno == 0 ? std::string() : std::string(": ") + std::strerror(errno);
}

}  // namespace detail

/// A file of events that TensorBoard reads while it is written. Throws dimesh::error where it
/// cannot be.
class event_file {
 public:
  /// Makes the folder if need be, and a new file in it.
  explicit event_file(const std::string& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    char host[256] = "host";
    gethostname(host, sizeof host - 1);
    static int count = 0;
    path_ = folder + "/events.out.tfevents." + std::to_string(static_cast<long long>(now())) + "." +
            host + "." + std::to_string(getpid()) + "." + std::to_string(count++);
    errno = 0;
    out_.open(path_, std::ios::binary);
    require(out_.is_open());
    write(event(0).text(3, "brain.Event:2"));
  }

  void scalar(index_t step, std::string_view tag, double value) {
    value_of(step, detail::proto_message().text(1, tag).single(2, static_cast<float>(value)));
  }
  void histogram(index_t step, std::string_view tag, const value_histogram& h) {
    const auto buckets = h.buckets();
    detail::proto_message m;
    m.real(1, h.min).real(2, h.max).real(3, static_cast<double>(h.count)).real(4, h.sum);
    m.real(5, h.sum_of_squares).reals(6, buckets.limits).reals(7, buckets.counts);
    value_of(step, detail::proto_message().text(1, tag).message(5, m));
  }
  /// A PNG file of so many pixels (train/png.hpp), with 1 (grey) or 3 (red, green, blue) channels.
  void image(index_t step, std::string_view tag, index_t height, index_t width, int channels,
             std::string_view png) {
    detail::proto_message m;
    m.number(1, static_cast<std::uint64_t>(height)).number(2, static_cast<std::uint64_t>(width));
    m.number(3, static_cast<std::uint64_t>(channels)).text(4, png);
    value_of(step, detail::proto_message().text(1, tag).message(4, m));
  }
  /// Markdown, as TensorBoard's text page shows it.
  void text(index_t step, std::string_view tag, std::string_view markdown) {
    constexpr std::uint64_t string_type = 7;
    const auto plugin = detail::proto_message().text(1, "text");
    const auto tensor = detail::proto_message()
                            .number(1, string_type)
                            .message(2, detail::proto_message())
                            .text(8, markdown);
    value_of(step, detail::proto_message().text(1, tag).message(8, tensor).message(
                       9, detail::proto_message().message(1, plugin)));
  }
  /// What was written is in the file.
  void flush() {
    errno = 0;
    require(static_cast<bool>(out_.flush()));
  }
  const std::string& path() const { return path_; }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  static detail::proto_message event(index_t step) {
    detail::proto_message e;
    e.real(1, now());
    if (step != 0) e.number(2, static_cast<std::uint64_t>(step));
    return e;
  }
  void value_of(index_t step, const detail::proto_message& value) {
    write(event(step).message(5, detail::proto_message().message(1, value)));
  }
  void write(const detail::proto_message& m) {
    const std::string length = little_endian(m.bytes().size(), 8);
    errno = 0;
    out_ << length << little_endian(detail::masked_crc32c(length), 4) << m.bytes()
         << little_endian(detail::masked_crc32c(m.bytes()), 4);
    require(static_cast<bool>(out_));
  }
  static std::string little_endian(std::uint64_t value, int bytes) {
    std::string s;
    for (int i = 0; i < bytes; ++i) s += static_cast<char>(value >> (8 * i) & 0xffu);
    return s;
  }
  void require(bool good) const {
    if (!good) throw error("event_file: '" + path_ + "' cannot be written" + detail::why_not());
  }

  std::string path_;
  std::ofstream out_;
};

}  // namespace dimesh
