// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <dimesh/io/idx.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "support/gzip.hpp"
#include "support/scratch.hpp"

namespace {

namespace fs = std::filesystem;
using dimesh::idx_array;
using dimesh::index_t;
using dimesh::read_idx;
using test_support::gzip;
using test_support::scratch_file;

std::string bytes_of(std::initializer_list<int> values) {
  std::string s;
  for (int v : values) s += static_cast<char>(v);
  return s;
}

/// 2 x 3 unsigned bytes: 10 20 30 / 40 50 250
std::string good() {
  return bytes_of({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 10, 20, 30, 40, 50, 250});
}

std::string message_of(const std::string& path) {
  try {
    read_idx(path);
  } catch (const dimesh::error& e) {
    return e.what();
  }
  return "(no error)";
}

/// The message for these bytes must name the file and hold the text.
bool reports(const std::string& bytes, const std::string& text) {
  const scratch_file file(bytes);
  const std::string message = message_of(file.path);
  INFO(message);
  const bool named = message.find("read_idx: '" + file.path + "'") == 0;
  const bool told = message.find(text) != std::string::npos;
  CHECK(named);
  CHECK(told);
  return named && told;
}

bool is_good(const idx_array& a) {
  const std::vector<index_t> extents{2, 3};
  const std::vector<std::uint8_t> bytes{10, 20, 30, 40, 50, 250};
  return std::equal(extents.begin(), extents.end(), a.extents().begin(), a.extents().end()) &&
         std::equal(bytes.begin(), bytes.end(), a.bytes().begin(), a.bytes().end());
}

}  // namespace

TEST_CASE("read_idx: extents and bytes, plain and gzip'ed") {
  CHECK(is_good(read_idx(scratch_file(good()).path)));
  CHECK(is_good(read_idx(scratch_file(gzip(good())).path)));
}

TEST_CASE("read_idx: a gzip file may have several members") {
  const std::string s = good();
  CHECK(is_good(read_idx(scratch_file(gzip(s.substr(0, 9)) + gzip(s.substr(9))).path)));
}

TEST_CASE("read_idx: an extent of zero is an empty array") {
  const auto a = read_idx(scratch_file(bytes_of({0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0, 3})).path);
  CHECK(a.extents()[1] == 3);
  CHECK(a.bytes().empty());
}

TEST_CASE("read_idx: no such file, or not a file") {
  const std::string missing = (fs::temp_directory_path() / "dimesh_no_such_file").string();
  CHECK(message_of(missing).find("'" + missing + "': expected a file, found nothing") !=
        std::string::npos);
  CHECK(message_of(fs::temp_directory_path().string()).find("found a directory") !=
        std::string::npos);
}

TEST_CASE("read_idx: a wrong header") {
  CHECK(reports("", "expected a header of 4 bytes, found 0"));
  CHECK(reports("ab", "expected a header of 4 bytes, found 2"));
  CHECK(reports("garbage, not an image", "expected 00 00 08 NN, found 67 61 72 62"));
  std::string s = good();
  s[2] = 0x0d;
  CHECK(reports(s, "expected 0x08 (unsigned bytes), found 0x0d (32-bit floats)"));
  s[2] = 0x77;
  CHECK(reports(s, "found 0x77 (no type of the format)"));
  CHECK(reports(good().substr(0, 10), "expected 2 extents of 4 bytes"));
}

TEST_CASE("read_idx: extents that cannot be true") {
  const std::string big = bytes_of({0x7f, 0xff, 0xff, 0xff});
  const std::string header = bytes_of({0, 0, 8, 3});
  CHECK(reports(header + big + big + big, "absurd extents"));
  CHECK(reports(header + big + big + bytes_of({0, 0, 0, 1}), "a file that can hold at most"));
  CHECK(reports(gzip(header + big + big + bytes_of({0, 0, 0, 1})), "can hold at most"));
}

TEST_CASE("read_idx: data that end too early or too late") {
  CHECK(reports(good().substr(0, 16), "expected 6 bytes of data (2 x 3)"));
  CHECK(reports(gzip(good().substr(0, 16)), "expected 6 bytes of data (2 x 3), found 4"));
  CHECK(reports(good() + "x", "trailing bytes: expected 6 bytes of data (2 x 3)"));
  CHECK(reports(gzip(good() + "x"), "trailing bytes"));
  CHECK(reports(gzip(good()) + "xyz", "expected the end of the gzip data, found 3 trailing"));
}

TEST_CASE("read_idx: damaged gzip data") {
  const std::string z = gzip(good());
  CHECK(reports(z.substr(0, 20), "truncated"));
  CHECK(reports(z.substr(0, z.size() - 3), "expected the checksum"));
  std::string s = z;
  s[z.size() - 6] ^= 1;  // inside the checksum
  CHECK(reports(s, "found corrupt bytes (zlib: incorrect data check)"));
  s = z;
  s[10] = static_cast<char>(0xff);  // the first block's kind
  CHECK(reports(s, "found corrupt bytes (zlib: invalid block type)"));
}

TEST_CASE("read_idx: every prefix and every flipped byte gives an error or a whole array") {
  const std::string z = gzip(good());
  for (std::size_t n = 0; n < z.size(); ++n)
    CHECK(message_of(scratch_file(z.substr(0, n)).path) != "(no error)");
  for (std::size_t i = 0; i < z.size(); ++i) {
    std::string s = z;
    s[i] = static_cast<char>(~s[i]);
    const scratch_file file(s);
    bool sound = true;
    try {
      sound = is_good(read_idx(file.path));  // a byte of the gzip header that means nothing here
    } catch (const dimesh::error&) {}
    CHECK(sound);
  }
}

TEST_CASE("idx_array: require") {
  const scratch_file file(good());
  CHECK(is_good(read_idx(file.path).require({dimesh::dynamic, 3})));
  const auto a = read_idx(file.path);
  CHECK(&a.require({2, 3}) == &a);
  CHECK_THROWS_WITH_AS(
      a.require({dimesh::dynamic, 4}),
      ("read_idx: '" + file.path + "': wrong extents: expected any x 4, found 2 x 3").c_str(),
      dimesh::error);
  CHECK_THROWS_AS(a.require({2}), dimesh::error);
}
