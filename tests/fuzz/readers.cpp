// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes of anybody's making, read as each of the formats: by libFuzzer (scripts/fuzz_readers.sh).
// A reader takes them or throws dimesh::error. Which reader: FUZZ_IDX, FUZZ_MO, FUZZ_PACKED,
// FUZZ_BPE, FUZZ_GZIP or FUZZ_NPY is defined.
#include <unistd.h>
#include <dimesh/io/data/byte_pairs.hpp>
#include <dimesh/io/data/catalog.hpp>
#include <dimesh/io/data/images.hpp>
#include <dimesh/io/data/packed.hpp>
#include <dimesh/io/npy_header.hpp>

#include <cstdlib>
#include <fstream>

namespace {
namespace in = dimesh::input;
using dimesh::index_t;

/// What cannot be must stop the run.
[[maybe_unused]] void require(bool holds) {
  if (!holds) std::abort();
}
[[maybe_unused]] std::size_t touch(std::string_view s) {
  std::size_t sum = 0;
  for (const char c : s) sum += static_cast<unsigned char>(c);
  return sum;
}
/// A file of this process with these bytes.
[[maybe_unused]] std::string file_of(const std::string& bytes) {
  static const std::string path = "/tmp/dimesh_fuzz_" + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::size_t read(const std::string& bytes) {
  std::size_t sum = 0;
#if defined(FUZZ_IDX)
  const in::idx_rows r(file_of(bytes));
  for (index_t i = 0; i < std::min<index_t>(r.size(), 1000); ++i)
    for (const auto b : r(i)) sum += b;
#elif defined(FUZZ_MO)
  const in::catalog c(in::contents("x", bytes));
  for (index_t i = 0; i < c.size(); ++i) sum += touch(c(i).first) + touch(c(i).second);
  sum += touch(c.charset());
#elif defined(FUZZ_PACKED)
  const in::packed p(in::contents("x", bytes));
  for (index_t i = 0; i < p.size(); ++i) sum += touch(p(i));
#elif defined(FUZZ_BPE)
  // As a text to learn from, and as a file; numbers drawn by chance rarely fit a checksum.
  const auto v = in::byte_pairs::train(bytes, 300);
  require(v.decode(v.encode(bytes)) == bytes);
  require(in::byte_pairs::load(in::contents("x", v.printed())) == v);
  const auto other = in::byte_pairs::load(in::contents("x", bytes));
  require(other.printed() == bytes);
  require(other.decode(other.encode(bytes)) == bytes);
#elif defined(FUZZ_GZIP)
  sum = touch(in::detail::inflated("x", bytes));
#elif defined(FUZZ_NPY)
  // As a head, of a file as long as it says that it is.
  namespace npy = dimesh::detail::npy;
  for (const index_t elements : {index_t{0}, index_t{8}, index_t{1} << 40}) {
    const auto size = static_cast<index_t>(bytes.size());
    const auto h = npy::npy_header_of("x", bytes, size + elements);
    index_t n = npy::name_of_kind(h.kind)->bytes;
    for (const index_t extent : h.shape) n *= extent;
    require(h.data_at + n == size + elements);
    const auto again = npy::npy_header_text(h.kind, h.shape);
    require(npy::npy_header_of("x", again, static_cast<index_t>(again.size()) + n).shape ==
            h.shape);
  }
#endif
  return sum;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static volatile std::size_t used = 0;
  try {
    used = used + read(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const dimesh::error&) {
    return 0;
  }
  return 0;
}
