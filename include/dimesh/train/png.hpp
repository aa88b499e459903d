// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a picture of numbers become a file that browsers show? As PNG (ISO/IEC 15948) with 8
// bits a channel, not compressed (stored blocks of RFC 1951), so that no library is needed.
//
//   std::string file = png_of(28, 28, 1, pixels);     // pixels[(row * width + column) * channels]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dimesh/detail/words.hpp"
#include "dimesh/train/checksum.hpp"

namespace dimesh {

namespace detail {

/// RFC 1950.
inline std::uint32_t adler32(std::string_view bytes) {
  std::uint32_t a = 1, b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

inline std::string big_endian(std::uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16 & 0xffu),
          static_cast<char>(v >> 8 & 0xffu), static_cast<char>(v & 0xffu)};
}
inline std::string png_chunk(std::string_view kind, std::string_view data) {
  const std::string body = std::string(kind) + std::string(data);
  return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(crc32(body));
}
/// As a stream of zlib that compresses nothing.
inline std::string stored(std::string_view data) {
  constexpr std::size_t most = 65535;
  std::string s = "\x78\x01";
  std::size_t at = 0;
  do {
    const std::size_t n = data.size() - at < most ? data.size() - at : most;
    s += at + n == data.size() ? '\1' : '\0';
    for (const std::size_t v : {n, ~n}) {
      s += static_cast<char>(v & 0xffu);
      s += static_cast<char>(v >> 8 & 0xffu);
    }
    s += data.substr(at, n);
    at += n;
  } while (at < data.size());
  return s + big_endian(adler32(data));
}

}  // namespace detail

/// The PNG file of height * width pixels with 1 (grey) or 3 (red, green, blue) channels of 0..255
/// each, row by row. Throws dimesh::error where `pixels` are not as many, or the channels others.
inline std::string png_of(index_t height, index_t width, int channels, std::string_view pixels) {
  if (channels != 1 && channels != 3)
    (detail::words() << "png_of: pixels have 1 or 3 channels, not " << index_t{channels}).raise();
  if (height < 1 || width < 1 || static_cast<index_t>(pixels.size()) != height * width * channels)
    (detail::words() << "png_of: " << static_cast<index_t>(pixels.size()) << " bytes for " << height
                     << " x " << width << " pixels of " << index_t{channels} << " channels")
        .raise();
  const auto line = static_cast<std::size_t>(width * channels);
  std::string rows;
  for (std::size_t r = 0; r < static_cast<std::size_t>(height); ++r)
    rows.append(1, '\0').append(pixels.substr(r * line, line));  // filter 0: as they are
  const std::string head = detail::big_endian(static_cast<std::uint32_t>(width)) +
                           detail::big_endian(static_cast<std::uint32_t>(height)) + '\x08' +
                           (channels == 1 ? '\x00' : '\x02') + std::string(3, '\0');
  return std::string("\x89PNG\r\n\x1a\n", 8) + detail::png_chunk("IHDR", head) +
         detail::png_chunk("IDAT", detail::stored(rows)) + detail::png_chunk("IEND", {});
}

}  // namespace dimesh
