// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a reader see that bytes are those that were written? By their remainder modulo a
// polynomial over bits, reflected, that goes along.
//
//   crc32("123456789")    -> 0xcbf43926, as PNG and gzip have it
//   crc32c("123456789")   -> 0xe3069283, as TensorBoard's records have it
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace dimesh::detail {

template <std::uint32_t Polynomial> constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> t{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1u) != 0 ? (c >> 1) ^ Polynomial : c >> 1;
    t[i] = c;
  }
  return t;
}
template <std::uint32_t Polynomial> std::uint32_t crc_of_bytes(std::string_view bytes) {
  static constexpr auto table = crc_table<Polynomial>();
  std::uint32_t c = 0xffffffffu;
  for (const char b : bytes) c = table[(c ^ static_cast<unsigned char>(b)) & 0xffu] ^ (c >> 8);
  return c ^ 0xffffffffu;
}
/// ISO 3309.
inline std::uint32_t crc32(std::string_view bytes) { return crc_of_bytes<0xedb88320u>(bytes); }
/// Castagnoli's: RFC 3720, appendix B.4.
inline std::uint32_t crc32c(std::string_view bytes) { return crc_of_bytes<0x82f63b78u>(bytes); }

}  // namespace dimesh::detail
