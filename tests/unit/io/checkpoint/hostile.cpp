// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are cut off after each byte, or of which each bit is flipped in turn: they are refused
// with a text, or mean something else that their size bears out. And what a folder says of itself.
#include <doctest/doctest.h>
#include <unistd.h>

#include <bit>
#include <clocale>
#include <cstdio>
#include <limits>

#include "dimesh/io/checkpoint/files.hpp"
#include "dimesh/io/checkpoint/manifest.hpp"
#include "dimesh/io/checkpoint/safetensors.hpp"
#include "dimesh/io/npy_header.hpp"
#include "support/scratch.hpp"

namespace {
namespace cp = dimesh::detail::checkpoint;
namespace npy = dimesh::detail::npy;
using dimesh::index_t;
using test_support::scratch_file, test_support::thrown;

/// The text with one bit flipped.
std::string flipped(std::string text, std::size_t bit) {
  text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
  return text;
}
/// f throws dimesh::error whose text has this; or does not throw. True if it does.
template <class F> bool refuses(const F& f, const std::string& name) {
  try {
    f();
  } catch (const dimesh::error& e) {
    const std::string text = e.what();
    INFO(text);
    CHECK(text.find(name) != std::string::npos);
    return true;
  }
  return false;
}

std::string safetensors_file() {
  std::vector<dimesh::safetensors_entry> t = {{"w", dimesh::element_kind::float32, {2, 3}},
                                              {"b", dimesh::element_kind::int64, {2}}};
  return dimesh::safetensors_text(t, {{"step", "7"}}) + std::string(40, '\1');
}

TEST_CASE("safetensors: cut off after each byte, or longer") {
  const std::string whole = safetensors_file();
  const scratch_file f(whole);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    f.write(whole.substr(0, n));
    CHECK(refuses([&] { (void)dimesh::read_safetensors_header(f.path); }, f.path));
  }
  f.write(whole + "x");
  CHECK(refuses([&] { (void)dimesh::read_safetensors_header(f.path); }, "trailing bytes"));
}

TEST_CASE("safetensors: each bit of the header flipped") {
  const std::string whole = safetensors_file();
  const scratch_file f(whole);
  const auto head = static_cast<std::size_t>(dimesh::read_safetensors_header(f.path).data_at);
  int refused = 0;
  for (std::size_t bit = 0; bit < 8 * head; ++bit) {
    f.write(flipped(whole, bit));
    dimesh::safetensors_header h;
    if (refuses([&] { h = dimesh::read_safetensors_header(f.path); }, f.path)) {
      ++refused;
      continue;
    }
    // Other names, kinds and notes are a file, too; its tensors fill it.
    REQUIRE(!h.tensors.empty());
    CHECK(h.tensors.back().end + h.data_at == static_cast<index_t>(whole.size()));
    for (const auto& t : h.tensors) {
      index_t bytes = dimesh::detail::safetensors::type_of(t.kind)->bytes;
      for (const index_t n : t.shape) bytes *= n;
      CHECK(t.end - t.begin == bytes);
    }
  }
  CHECK(refused > static_cast<int>(4 * head));  // more than half of them
  CHECK(refused < static_cast<int>(8 * head));
}

TEST_CASE("checksums: each bit of a file flipped") {
  const std::string whole = safetensors_file();
  const scratch_file f(whole);
  const auto wanted = cp::mark_of_part(f.path, 1, 0).crc;
  CHECK(wanted == cp::crc_of(whole));
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit)
    CHECK(cp::crc_of(flipped(whole, bit)) != wanted);
}

TEST_CASE("manifests: cut off after each byte, each bit flipped") {
  const cp::manifest m{{7, {{"k", 3}}, {{"loss", 0.25}}, {{"name", "text"}}},
                       {{"model.safetensors", {4096, 0x1c291ca3}}}};
  const std::string whole = cp::manifest_text(m);
  for (std::size_t n = 0; n + 1 < whole.size(); ++n)
    CHECK(refuses([&] { (void)cp::parse_manifest(whole.substr(0, n), "at"); }, "'at'"));
  int taken = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    cp::manifest other;
    if (refuses([&] { other = cp::parse_manifest(flipped(whole, bit), "at"); }, "'at'")) continue;
    ++taken;  // another blank between two words
    CHECK(cp::manifest_text(other) == whole);
  }
  CHECK(taken < static_cast<int>(whole.size()));
}

TEST_CASE("manifests: files that are not in their folder") {
  for (const char* name :
       {"../model.safetensors", "/etc/passwd", "..", ".hidden", "a/b", "a\\b", ""})
    CHECK(
        refuses([&] { (void)cp::parse_manifest(cp::manifest_text({{}, {{name, {1, 2}}}}), "at"); },
                "'at': expected names of files in this folder, found '" + std::string(name) + "'"));
}

/// A manifest with one number, which is written like this.
std::string with_number(const std::string& text) {
  nlohmann::json j = nlohmann::json::parse(cp::manifest_text({{.numbers = {{"x", 1}}}, {}}));
  j["content"]["numbers"]["x"] = text;
  j["crc32"] = cp::crc_of(j["content"].dump());
  return j.dump();
}
double number_read(const std::string& text) {
  return cp::parse_manifest(with_number(text), "at").record.numbers.at("x");
}

TEST_CASE("manifests: numbers to the last bit, whatever the locale, as %a has printed them, too") {
  using limits = std::numeric_limits<double>;
  for (const double x :
       {0.0, -0.0, 1.0, -1.5, 0.1, 1e-3, 3e300, limits::max(), limits::lowest(), limits::min(),
        -limits::denorm_min(), 7 * limits::denorm_min(), limits::infinity(), -limits::infinity(),
        limits::quiet_NaN(), -limits::quiet_NaN()}) {
    const cp::manifest m{{.numbers = {{"x", x}}}, {}};
    const double now = cp::parse_manifest(cp::manifest_text(m), "at").record.numbers.at("x");
    CHECK(std::bit_cast<std::uint64_t>(now) == std::bit_cast<std::uint64_t>(x));
    char printed[64];
    std::snprintf(printed, sizeof printed, "%a", x);
    CHECK(std::bit_cast<std::uint64_t>(number_read(printed)) == std::bit_cast<std::uint64_t>(x));
  }
  CHECK(cp::manifest_text({{.numbers = {{"x", -3}}}, {}}).find("-0x1.8p+1") != std::string::npos);
  CHECK(number_read("0x1,3a92a3p-12") == 0x1.3a92a3p-12);  // where a program had set a locale
  for (const char* const text : {"", "-", "0x", "--1p+0", "0x1.8p+1 ", "0x1.8p+1x", "0x-1p+0",
                                 "loss", "1.5.5", "0x1p+99999"})
    CHECK(refuses(
        [&] { (void)number_read(text); },
        "'at': expected a number in hexadecimal digits, found '" + std::string(text) + "'"));
}

TEST_CASE("manifests: a locale whose numbers have commas") {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* const name : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR"})
    if (std::setlocale(LC_ALL, name) != nullptr) break;  // of these a system may have none
  const cp::manifest m{{.numbers = {{"x", 0x1.3a92a3p-12}}}, {}};
  const std::string text = cp::manifest_text(m);
  CHECK(text.find("0x1.3a92a3p-12") != std::string::npos);
  CHECK(cp::parse_manifest(text, "at").record.numbers.at("x") == 0x1.3a92a3p-12);
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("a folder that may be written to and not read is left to the system") {
  const scratch_file of("");
  const std::filesystem::path folder = of.path + ".folder";
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms(0333));
  const uid_t own = geteuid();
  if (own == 0) CHECK(seteuid(65534) == 0);  // who may do everything reads it, too
  CHECK_NOTHROW(cp::sync_folder(folder));
  CHECK(seteuid(own) == 0);
  std::filesystem::remove(folder);
  CHECK(refuses([&] { cp::sync_folder(folder); }, "cannot be opened"));
}

TEST_CASE("npy: cut off after each byte, each bit of the header flipped") {
  const std::string head = npy::npy_header_text(dimesh::element_kind::float32, {3, 5});
  const auto bytes = static_cast<index_t>(head.size()) + 60;
  const auto read = [&](const std::string& text, index_t size) {
    return npy::npy_header_of("'x.npy'", text, size);
  };
  for (std::size_t n = 0; n < head.size(); ++n)
    CHECK(refuses([&] { (void)read(head.substr(0, n), static_cast<index_t>(n)); }, "'x.npy'"));
  for (index_t n = static_cast<index_t>(head.size()); n < bytes; ++n)
    CHECK(refuses([&] { (void)read(head, n); }, "expected 60 bytes of elements"));
  int refused = 0;
  for (std::size_t bit = 0; bit < 8 * head.size(); ++bit) {
    npy::header h;
    if (refuses([&] { h = read(flipped(head, bit), bytes); }, "'x.npy'")) {
      ++refused;
      continue;
    }
    index_t taken = 1;  // elements of another kind as large: ints for floats
    for (const index_t n : h.shape) taken *= n;
    CHECK(taken > 0);
    CHECK((bytes - h.data_at) % taken == 0);
    CHECK(h.data_at < bytes);
  }
  CHECK(refused > static_cast<int>(4 * head.size()));
}

TEST_CASE(
    "latest: names a step that is there, although another job has removed the one it was to") {
  const std::string root =
      (cp::fs::temp_directory_path() / "dimesh_latest_").string() + std::to_string(getpid());
  const auto saved = [&](index_t step) {
    cp::commit c(root, step);
    c.make_folder();
    c.write_manifest("");
    c.publish();
    c.move_latest();
  };
  saved(5);
  {
    cp::commit slow(root, 3);
    slow.make_folder();
    slow.write_manifest("");
    slow.publish();
    saved(6);
    cp::remove_old(root, 2, {});
    CHECK(cp::steps_in(root) == std::vector<index_t>{5, 6});
    slow.move_latest();
    CHECK(cp::folder_of(root).filename() == "step-6");
    // The other way round: it was named, and then removed.
    cp::write_text(root + "/latest", "step-3\n");
    slow.mend_latest();
    CHECK(cp::named_latest(root) == "step-6");
  }
  cp::fs::remove_all(root);
}

}  // namespace
