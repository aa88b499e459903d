// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes of anybody's making, read as one of the formats, whose name is in DIMESH_FUZZ_FORMAT: by
// libFuzzer (scripts/fuzz_readers.sh). A reader takes them or throws dimesh::error.
#include <unistd.h>
#include <dimesh/io/checkpoint/load_safetensors.hpp>
#include <dimesh/io/data/arrays.hpp>
#include <dimesh/io/data/byte_pairs.hpp>
#include <dimesh/io/data/catalog.hpp>
#include <dimesh/io/data/gpt2_byte_pairs.hpp>
#include <dimesh/io/data/images.hpp>
#include <dimesh/io/data/packed.hpp>
#include <dimesh/io/npy_header.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace {
namespace in = dimesh::input;
namespace cp = dimesh::detail::checkpoint;
using dimesh::index_t;

/// What cannot be must stop the run.
void require(bool holds) {
  if (!holds) std::abort();
}
std::size_t touch(std::string_view s) {
  std::size_t sum = 0;
  for (const char c : s) sum += static_cast<unsigned char>(c);
  return sum;
}
/// A file of this process with these bytes.
std::string file_of(const std::string& bytes) {
  static const std::string path = "/tmp/dimesh_fuzz_" + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::size_t idx(const std::string& bytes) {
  std::size_t sum = 0;
  const in::idx_rows r(file_of(bytes));
  for (index_t i = 0; i < std::min<index_t>(r.size(), 1000); ++i)
    for (const auto b : r(i)) sum += b;
  return sum;
}

std::size_t mo(const std::string& bytes) {
  std::size_t sum = 0;
  const in::catalog c(in::contents("x", bytes));
  for (index_t i = 0; i < c.size(); ++i) sum += touch(c(i).first) + touch(c(i).second);
  return sum + touch(c.charset());
}

std::size_t packed(const std::string& bytes) {
  std::size_t sum = 0;
  const in::packed p(in::contents("x", bytes));
  for (index_t i = 0; i < p.size(); ++i) sum += touch(p(i));
  return sum;
}

/// As a text to learn from, and as a file; numbers drawn by chance rarely fit a checksum.
std::size_t bpe(const std::string& bytes) {
  const auto v = in::byte_pairs::train(bytes, 300);
  require(v.decode(v.encode(bytes)) == bytes);
  require(in::byte_pairs::load(in::contents("x", v.printed())) == v);
  const auto other = in::byte_pairs::load(in::contents("x", bytes));
  require(other.printed() == bytes);
  require(other.decode(other.encode(bytes)) == bytes);
  return 1;
}

/// As a vocabulary, as merges of one that is whole, and as a text.
std::size_t gpt2(const std::string& bytes) {
  static const in::contents letters("x", [] {
    nlohmann::json all;
    for (const char32_t c : in::detail::signs_of_bytes())
      all[c < 0x80 ? std::string(1, static_cast<char>(c))
                   : std::string{static_cast<char>(0xc0 | c >> 6),
                                 static_cast<char>(0x80 | (c & 0x3f))}] = all.size();
    for (const char* const token : {"aa", "aaa", "ab", "ba"}) all[token] = all.size();
    return all.dump();
  }());
  static const in::gpt2_byte_pairs plain(letters, in::contents("x", "a a\naa a\nb a\na b\n"));
  require(plain.decode(plain.encode(bytes)) == bytes);
  try {
    const in::gpt2_byte_pairs v(letters, in::contents("x", bytes));
    require(v.decode(v.encode(bytes)) == bytes);
  } catch (const dimesh::error&) {}
  const in::gpt2_byte_pairs other(in::contents("x", bytes), in::contents("x", std::string()));
  require(other.decode(other.encode(bytes)) == bytes);
  return 1;
}

std::size_t gzip(const std::string& bytes) { return touch(in::detail::inflated("x", bytes)); }

/// As a head, of files of several lengths; and as rows, of elements that may lie at any place.
std::size_t npy(const std::string& bytes) {
  namespace npy = dimesh::detail::npy;
  for (const index_t elements : {index_t{0}, index_t{8}, index_t{1} << 40}) {
    try {
      const auto size = static_cast<index_t>(bytes.size());
      const auto h = npy::npy_header_of("x", bytes, size + elements);
      index_t n = npy::name_of_kind(h.kind)->bytes;
      for (const index_t extent : h.shape) n *= extent;
      require(h.data_at + n == size + elements);
      const auto again = npy::npy_header_text(h.kind, h.shape);
      require(npy::npy_header_of("x", again, static_cast<index_t>(again.size()) + n).shape ==
              h.shape);
    } catch (const dimesh::error&) {}
  }
  std::size_t sum = 0;
  const in::npy_rows<double> r(in::contents("x", bytes));
  for (index_t i = 0; i < std::min<index_t>(r.size(), 1000); ++i)
    for (const double v : r(i)) sum += v == 0 ? 1 : 0;
  return sum;
}

/// As a file, and as a head of a file as long as the head says. What is taken is written again, and
/// that is the same tensors.
std::size_t safetensors(const std::string& bytes) {
  namespace st = dimesh::detail::safetensors;
  for (const index_t more : {index_t{0}, index_t{8}, index_t{64}, index_t{4096}}) {
    try {
      const auto size = static_cast<index_t>(bytes.size());
      const auto h = st::parse(bytes, 8 + size + more, "x");
      index_t at = 0;
      for (const auto& t : h.tensors) {
        require(t.begin == at && t.end >= t.begin);
        at = t.end;
      }
      require(h.data_at + at == 8 + size + more);
      auto tensors = h.tensors;
      const auto text = dimesh::safetensors_text(tensors, h.metadata);
      const auto again = st::parse(text.substr(8), static_cast<index_t>(text.size()) + at, "x");
      require(again.tensors.size() == h.tensors.size() && again.metadata == h.metadata);
      for (const auto& t : h.tensors) {
        const auto* const other = again.find(t.name);
        require(other != nullptr && other->shape == t.shape && other->kind == t.kind);
      }
    } catch (const dimesh::error&) {}
  }
  return dimesh::read_safetensors_header(file_of(bytes)).tensors.size();
}

/// As it is, and under the checksum that it should have.
std::size_t manifest(const std::string& bytes) {
  std::string text = bytes;
  const auto fail = [](const std::string& what) { throw dimesh::error(what); };
  try {
    auto all = dimesh::detail::json_object(bytes, "the manifest", fail);
    if (all.contains("content")) all["crc32"] = cp::crc_of(all["content"].dump());
    text = all.dump();
  } catch (const nlohmann::json::exception&) {  // no UTF-8
  }
  const auto m = cp::parse_manifest(text, "x");
  const auto again = cp::parse_manifest(cp::manifest_text(m), "x");
  require(again.record.step == m.record.step && again.files.size() == m.files.size());
  for (const auto& [name, mark] : m.files) require(cp::is_plain_name(name));
  return m.files.size();
}

std::size_t shard_index(const std::string& bytes) {
  const auto fail = [](const std::string& what) { throw dimesh::error(what); };
  for (const auto& name : cp::files_in_index(bytes, fail)) require(cp::is_plain_name(name));
  return 1;
}

struct format {
  std::string_view name;
  std::size_t (*read)(const std::string&);
};
constexpr format formats[] = {
    {"IDX", idx},           {"MO", mo},    {"PACKED", packed},           {"BPE", bpe},
    {"GZIP", gzip},         {"NPY", npy},  {"SAFETENSORS", safetensors}, {"MANIFEST", manifest},
    {"INDEX", shard_index}, {"GPT2", gpt2}};

const format* asked_for() {
  const char* const name = std::getenv("DIMESH_FUZZ_FORMAT");
  for (const format& f : formats)
    if (name != nullptr && f.name == name) return &f;
  std::fputs("readers: DIMESH_FUZZ_FORMAT names no format\n", stderr);
  std::exit(2);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const format& reader = *asked_for();
  static volatile std::size_t used = 0;
  try {
    used = used + reader.read(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const dimesh::error&) {
    return 0;
  }
  return 0;
}
