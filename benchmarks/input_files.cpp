// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2
// What do records cost that come from files, beside loops over the same bytes: lines, packed ones,
// rows of IDX and .npy files, pairs of catalogs; and files that are opened by threads, and
// read in turn? And how fast are texts encoded by byte pairs?
//
//   benchmarks/input_files [--quick]        mpirun -n 2 benchmarks/input_files
#include <unistd.h>
#include <zlib.h>
#include <dimesh/io/data/arrays.hpp>
#include <dimesh/io/data/byte_pairs.hpp>
#include <dimesh/io/data/catalog.hpp>
#include <dimesh/io/data/files.hpp>
#include <dimesh/io/data/images.hpp>
#include <dimesh/io/data/packed.hpp>
#include <dimesh/io/data/text.hpp>
#include <dimesh/runtime.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "support/stages.hpp"

namespace {
namespace dm = dimesh;
using namespace bench;

constexpr index_t row_bytes = 784;

std::string words(index_t lines) {
  std::string s;
  std::uint32_t seed = 1;
  for (index_t i = 0; i < lines; ++i) {
    for (int k = 0; k < 8; ++k) {
      seed = seed * 1664525u + 1013904223u;
      s += "word" + std::to_string((seed >> 16) % 500) + " ";
    }
    s += "\n";
  }
  return s;
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}
/// The bytes in one gzip member.
std::string zipped(const std::string& bytes) {
  z_stream z{};
  if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw dm::error("input: zlib does not begin");
  std::string out(deflateBound(&z, static_cast<uLong>(bytes.size())), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}
/// What the bytes of a gzip'ed file stand for, by a loop over zlib's calls.
std::string inflated_by_loop(const std::string& path, std::size_t size) {
  std::ifstream file(path, std::ios::binary);
  const std::string in{std::istreambuf_iterator<char>(file), {}};
  std::string out(size, '\0');
  z_stream z{};
  inflateInit2(&z, 15 + 16);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  z.avail_in = static_cast<uInt>(in.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  inflate(&z, Z_FINISH);
  inflateEnd(&z);
  return out;
}
std::string catalog_of(index_t n) {
  std::string tables[2], strings, all;
  const auto word = [](std::string& to, index_t w) {
    for (int k = 0; k < 4; ++k) to += static_cast<char>(w >> 8 * k & 0xff);
  };
  for (int side = 0; side < 2; ++side)
    for (index_t i = 0; i < n; ++i) {
      const std::string s = (side == 0 ? "message " : "nouvelle ") + std::to_string(i);
      word(tables[side], static_cast<index_t>(s.size()));
      word(tables[side], 28 + 16 * n + static_cast<index_t>(strings.size()));
      strings += s + '\0';
    }
  for (const index_t w :
       {index_t{0x950412de}, index_t{0}, n, index_t{28}, 28 + 8 * n, index_t{0}, index_t{0}})
    word(all, w);
  return all + tables[0] + tables[1] + strings;
}

/// Byte pairs by the loop of their definition: of the pairs of a word the one that was learned
/// first is merged, until there is none.
class plain_byte_pairs {
 public:
  explicit plain_byte_pairs(const in::byte_pairs& v) {
    std::istringstream lines(v.printed());
    std::string magic;
    std::getline(lines, magic);
    int count = 0, a = 0, b = 0;
    lines >> count;
    for (int k = 0; k < count && lines >> a >> b; ++k) merges_[{a, b}] = 256 + k;
  }
  std::vector<int> encode(const std::string& text) const {
    std::vector<int> all, word;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      if (text[at] == ' ' && at + 1 < text.size() && kind(text[at + 1]) != 0) ++end;
      for (const int k = kind(text[end]); end < text.size() && kind(text[end]) == k;) ++end;
      word.assign(text.begin() + static_cast<std::ptrdiff_t>(at),
                  text.begin() + static_cast<std::ptrdiff_t>(end));
      merge(word);
      all.insert(all.end(), word.begin(), word.end());
      at = end;
    }
    return all;
  }

 private:
  static int kind(char c) { return c >= 'a' && c <= 'z' ? 1 : c >= '0' && c <= '9' ? 2 : 0; }
  void merge(std::vector<int>& word) const {
    for (;;) {
      int best = 1 << 30;
      std::size_t at = 0;
      for (std::size_t i = 0; i + 1 < word.size(); ++i)
        if (const auto found = merges_.find({word[i], word[i + 1]});
            found != merges_.end() && found->second < best)
          best = found->second, at = i;
      if (best == 1 << 30) return;
      word[at] = best;
      word.erase(word.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
  }
  std::map<std::pair<int, int>, int> merges_;
};

/// Rows of arrays, and pairs of a catalog, beside loops over the same bytes in memory.
void arrays(const std::string& folder) {
  const index_t n = 20000, row = row_bytes;
  const std::string bytes(static_cast<std::size_t>(n * row), '\7');
  std::string head("\0\0\x08\x02", 4);
  for (const index_t extent : {n, row})
    for (int k = 3; k >= 0; --k) head += static_cast<char>(extent >> 8 * k & 0xff);
  write(folder + "/images", head + bytes);
  write(folder + "/x.npy",
        dm::detail::npy::npy_header_text(dm::element_kind::float32, {n, row / 4}) + bytes);
  const auto in_memory = [&] {
    for (index_t i = 0; i < n; ++i)
      used += static_cast<unsigned char>(bytes[static_cast<std::size_t>(i * row)]);
  };
  const in::idx_rows images(folder + "/images");
  const in::npy_rows<float> x(folder + "/x.npy");
  compare("rows of an IDX file", n, [&] { touch_all(images); }, in_memory);
  compare("rows of a mapped .npy file", n, [&] { touch_all(x); }, in_memory);
  const auto read_whole = [&](const std::string& path) {
    std::string all(static_cast<std::size_t>(std::filesystem::file_size(path)), '\0');
    std::ifstream(path, std::ios::binary)
        .read(all.data(), static_cast<std::streamsize>(all.size()));
    used += first_of(all);
  };
  compare(
      "IDX file opened, beside a read of it", n,
      [&] { used += static_cast<std::size_t>(in::idx_rows(folder + "/images").size()); },
      [&] { read_whole(folder + "/images"); });
  compare(
      ".npy file opened, beside a read of it", n,
      [&] { used += static_cast<std::size_t>(in::npy_rows<float>(folder + "/x.npy").size()); },
      [&] { read_whole(folder + "/x.npy"); });
  write(folder + "/x.mo", catalog_of(n));
  const in::catalog pairs(folder + "/x.mo");
  std::vector<std::pair<std::string_view, std::string_view>> listed;
  for (index_t i = 0; i < n; ++i) listed.emplace_back(pairs(i));
  compare(
      "pairs of a gettext catalog", n,
      [&] {
        for (index_t i = 0; i < n; ++i)
          used += first_of(pairs(i).first) + first_of(pairs(i).second);
      },
      [&] {
        for (const auto& [from, to] : listed) used += first_of(from) + first_of(to);
      });
}

/// Eight files of lines: inflated and scanned, by one thread and by all; read in turn.
void files(const std::string& folder) {
  const index_t n = 100000;
  std::vector<std::string> plain, packed, texts;
  for (index_t f = 0; f < 8; ++f) {
    texts.push_back(words(n / 8));
    plain.push_back(folder + "/part" + std::to_string(f) + ".txt");
    packed.push_back(plain.back() + ".gz");
    write(plain.back(), texts.back());
    write(packed.back(), zipped(texts.back()));
  }
  const auto by_loop = [&] {
    for (std::size_t f = 0; f < 8; ++f) {
      const std::string text = inflated_by_loop(packed[f], texts[f].size());
      std::vector<std::size_t> starts{0};
      for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;)
        starts.push_back(++at);
      used += starts.size();
    }
  };
  for (const int threads : {1, 0})
    compare(
        threads == 1 ? "lines of 8 gzip'ed files, 1 thread" : "the same, a thread a processor", n,
        [&] { used += static_cast<std::size_t>(in::lines(packed, threads).size()); }, by_loop);
  const auto parts = in::open_all<in::lines>(plain);
  const auto one_by_one = [&] {
    for (const auto& p : parts)
      for (index_t i = 0; i < p.size(); ++i) used += first_of(p(i));
  };
  compare("8 files one after the other", n, [&] { touch_all(in::interleave(parts)); }, one_by_one);
  compare(
      "8 files, 16 lines of each of 4", n, [&] { touch_all(in::interleave(parts, 4, 16)); },
      one_by_one);
}

void sources(const std::string& folder) {
  const index_t n = 100000;
  const std::string text = words(n);
  const std::string path = folder + "/lines.txt", pack = folder + "/records.packed";
  write(path, text);
  const in::lines l(path);
  std::vector<std::string_view> views;
  in::packed_writer w(pack);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    views.push_back(std::string_view(text).substr(at, end - at));
    w.append(views.back());
    at = end + 1;
  }
  w.close();
  const auto in_memory = [&] {
    for (const auto& v : views) used += first_of(v);
  };
  compare("lines of a mapped file", n, [&] { touch_all(l); }, in_memory);
  compare("packed records, with checksums", n, [&] { touch_all(in::packed(pack)); }, in_memory);
  const auto v = in::byte_pairs::train(text.substr(0, 200000), 1000);
  const plain_byte_pairs plain(v);
  if (plain.encode(text) != v.encode(text))
    throw dm::error("input_files: the loop finds other byte pairs");
  compare(
      "bytes as byte pairs", static_cast<index_t>(text.size()),
      [&] { used += v.encode(text).size(); }, [&] { used += plain.encode(text).size(); });
  const double train = best([&] {
    used += static_cast<std::size_t>(in::byte_pairs::train(text.substr(0, 200000), 1000).size());
  });
  if (talks) std::printf("byte pairs: 744 merges of 200 kB trained in %.3f s\n", train);
}

}  // namespace

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) budget = 0.05;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    talks = rank == 0;
    const auto folder =
        std::filesystem::temp_directory_path() / ("dimesh_input_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder);
    sources(folder.string());
    arrays(folder.string());
    files(folder.string());
    std::filesystem::remove_all(folder);
    if (used == 1) std::puts("");  // so that nothing is left out
  });
}
