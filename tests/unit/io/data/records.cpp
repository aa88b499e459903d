// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands in files, sound and damaged, as records.
#include <dimesh/io/data/catalog.hpp>
#include <dimesh/io/data/images.hpp>
#include <dimesh/io/data/packed.hpp>
#include <dimesh/io/data/text.hpp>
#include <dimesh/io/data/transform.hpp>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>

#include "support/gzip.hpp"
#include "support/scratch.hpp"

namespace {
namespace in = dimesh::input;
using dimesh::index_t;
using test_support::gzip;
using test_support::scratch_file;
using test_support::thrown;

bool says(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}
template <class S> std::vector<std::string> all(const S& s) {
  std::vector<std::string> out;
  for (index_t i = 0; i < s.size(); ++i) out.emplace_back(s(i));
  return out;
}
using texts = std::vector<std::string>;

TEST_CASE("lines: ends of both kinds, empty ones, and a last one without an end") {
  const scratch_file a("one\ntwo\r\n\nthree"), b(""), c("four\n");
  const in::lines l(texts{a.path, b.path, c.path});
  CHECK(all(l) == texts{"one", "two", "", "three", "four"});
  CHECK(l.where(3) == "line 4 of '" + a.path + "'");
  CHECK(l.where(4) == "line 1 of '" + c.path + "'");
  says(thrown([&] { l(5); }), "lines has no record 5; it has 5");
  says(thrown([&] { l(-1); }), "lines has no record -1; it has 5");
  CHECK(in::lines(b.path).size() == 0);
}

TEST_CASE("glob: in the order of bytes; none is an error") {
  const scratch_file a("", ".globbed_b"), b("", ".globbed_B");
  const auto folder = std::filesystem::path(a.path).parent_path().string();
  const auto found = in::glob(folder + "/dimesh_" + std::to_string(getpid()) + "_*.globbed_?");
  CHECK(found.size() == 2);
  CHECK(std::is_sorted(found.begin(), found.end()));
  says(thrown([] { in::glob("/nowhere/*.txt"); }), "input::glob: no file fits '/nowhere/*.txt'");
}

TEST_CASE("contents: gzip'ed as plain, in several members and longer than a buffer") {
  std::string text;
  for (int i = 0; i < 40000; ++i) text += std::to_string(i) + "\n";
  const scratch_file plain(text), once(gzip(text)), twice(gzip(text) + gzip("end\n"));
  CHECK(in::contents(plain.path).bytes() == text);
  CHECK(in::contents(once.path).bytes() == text);
  CHECK(in::contents(twice.path).bytes() == text + "end\n");
  CHECK(in::lines(once.path)(39999) == "39999");
  for (std::size_t cut : {3u, 12u, 5000u}) {
    const scratch_file part(gzip(text).substr(0, cut));
    says(thrown([&] { in::contents c(part.path); }),
         "'" + part.path + "': ends in the middle of its gzip data");
  }
  std::string bad = gzip(text);
  bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 0x55);
  const scratch_file corrupt(bad), trailing(gzip("a") + "b c d");
  says(thrown([&] { in::contents c(corrupt.path); }), "corrupt gzip data");
  says(thrown([&] { in::contents c(trailing.path); }), "corrupt gzip data");
}

TEST_CASE("contents: what is no file, and files that change while they are read") {
  says(thrown([] { in::contents c("/nowhere/x"); }), "'/nowhere/x': cannot be opened: No such");
  says(thrown([] { in::contents c("/tmp"); }), "'/tmp': is a folder; name a file");
  says(thrown([] { in::contents c("/dev/null"); }), "'/dev/null': is no regular file");
  const scratch_file a("one\ntwo\n");
  const in::lines l(a.path);
  const in::windows w(a.path, 3, 3);
  CHECK(l(1) == "two");
  a.write("one\n");
  says(thrown([&] { l.require_unchanged(); }),
       "'" + a.path + "': changed while it was read: it had 8 bytes and has 4");
  says(thrown([&] { w.require_unchanged(); }),
       "changed while it was read: it had 8 bytes and has 4");
  const in::lines again(a.path);
  std::filesystem::last_write_time(
      a.path, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  says(thrown([&] { again.require_unchanged(); }),
       "changed while it was read: it was written to after");
}

TEST_CASE("contents: more files than a program may have open, removed and replaced ones") {
  ::rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  ::rlimit few = before;
  few.rlim_cur = 64;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  const scratch_file f("one\n"), other("two\n");
  std::vector<in::contents> all;
  for (int i = 0; i < 200; ++i) all.emplace_back(f.path);
  CHECK(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(all.back().bytes() == "one\n");
  std::filesystem::rename(other.path, f.path);  // as programs do that replace a file at once
  all.back().require_unchanged();
  CHECK(all.back().bytes() == "one\n");
  CHECK(in::contents(f.path).bytes() == "two\n");
  std::filesystem::remove(f.path);
  all.back().require_unchanged();
  CHECK(all.back().bytes() == "one\n");
}

TEST_CASE("windows: as many as fit") {
  const in::windows w(in::contents("a text", "0123456789"), 4, 3);
  REQUIRE(w.size() == 3);
  CHECK(std::string(w(2).begin(), w(2).end()) == "6789");
  CHECK(w.where(2) == "bytes from 6 on of 'a text'");
  says(thrown([&] { w(3); }), "windows has no record 3; it has 3");
  says(thrown([&] { w(-1); }), "windows has no record -1; it has 3");
  // Apart, side by side, one over the other; all of the text; bytes that are no letters.
  const std::string bytes("\0\x7f\x80\xff\n", 5);
  for (index_t length = 1; length <= 5; ++length)
    for (index_t step = 1; step <= 6; ++step) {
      const in::windows some(in::contents("bytes", bytes), length, step);
      index_t n = 0;
      for (index_t at = 0; at + length <= 5; at += step, ++n) {
        REQUIRE(n < some.size());
        for (index_t i = 0; i < length; ++i)
          CHECK(some(n)[static_cast<std::size_t>(i)] ==
                static_cast<unsigned char>(bytes[static_cast<std::size_t>(at + i)]));
      }
      CHECK(some.size() == n);
    }
  const in::contents c("a text", "01");
  says(thrown([&] { in::windows(c, 3, 1); }), "'a text': has 2 bytes, and a window wants 3");
  says(thrown([&] { in::windows(c, 1, 0); }), "input::windows: 1 bytes every 0; give 1 or more");
}

TEST_CASE("records in memory, and numbers") {
  const in::records<int> r({4, 5});
  CHECK(r(1) == 5);
  CHECK(r.where(1) == "record 1");
  says(thrown([&] { r(2); }), "records has no record 2; it has 2");
  CHECK(in::numbers(3)(2) == 2);
  CHECK(in::numbers(3).where(2) == "number 2");
  says(thrown([] { in::numbers(3)(3); }), "numbers has no record 3; it has 3");
  says(thrown([] { in::numbers(-1); }), "input::numbers: -1 of them; give 0 or more");
}

TEST_CASE("rows of IDX files") {
  const std::string head("\0\0\x08\x02\0\0\0\x02\0\0\0\x03", 12);
  const scratch_file a(head + "abcdef"), none(std::string("\0\0\x08\0x", 5)), cut(head + "abcde");
  const in::idx_rows r(a.path);
  REQUIRE(r.size() == 2);
  CHECK(r.row() == 3);
  CHECK(std::string(r(1).begin(), r(1).end()) == "def");
  CHECK(r.where(1) == "row 1 of '" + a.path + "'");
  says(thrown([&] { r(2); }), "idx_rows has no record 2; it has 2");
  says(thrown([&] { in::idx_rows x(none.path); }), "has no extents, and so no rows");
  says(thrown([&] { in::idx_rows x(cut.path); }), "'" + cut.path + "': truncated");
  // No row, of an extent that no number of bytes would hold.
  const scratch_file empty(std::string("\0\0\x08\x04\0\0\0\0", 8) + std::string(12, '\xff'));
  CHECK(in::idx_rows(empty.path).size() == 0);
  CHECK(in::idx_rows(empty.path).row() == 0);
}

std::string word(std::uint32_t w, bool big) {
  std::string s;
  for (int k = 0; k < 4; ++k) s += static_cast<char>(w >> (big ? 24 - 8 * k : 8 * k) & 0xff);
  return s;
}
std::string mo(const std::vector<std::pair<std::string, std::string>>& pairs, bool big = false) {
  const auto n = static_cast<std::uint32_t>(pairs.size());
  std::string tables[2], strings;
  std::uint32_t at = 28 + 16 * n;
  for (int side = 0; side < 2; ++side)
    for (const auto& p : pairs) {
      const std::string& s = side == 0 ? p.first : p.second;
      tables[side] += word(static_cast<std::uint32_t>(s.size()), big) + word(at, big);
      strings += s + '\0';
      at += static_cast<std::uint32_t>(s.size()) + 1;
    }
  std::string head;
  for (const std::uint32_t w : {0x950412deu, 0u, n, 28u, 28 + 8 * n, 0u, 0u}) head += word(w, big);
  return head + tables[0] + tables[1] + strings;
}

TEST_CASE("catalogs of both byte orders: header, plurals, contexts") {
  const std::string head = "Project: x\nContent-Type: text/plain; charset=UTF-8\n";
  const std::vector<std::pair<std::string, std::string>> pairs{
      {"", head},
      {"menu\4Open", "Ouvrir"},
      {std::string("file\0files", 10), std::string("fichier\0fichiers", 16)}};
  for (const bool big : {false, true}) {
    const in::catalog c(in::contents("x.mo", mo(pairs, big)));
    REQUIRE(c.size() == 2);
    CHECK(c.header() == head);
    CHECK(c.charset() == "UTF-8");
    CHECK(c(0) == in::sentence_pair("Open", "Ouvrir"));
    CHECK(c(1) == in::sentence_pair("file", "fichier"));
    CHECK(c.where(1) == "message 1 of 'x.mo'");
    says(thrown([&] { c(2); }), "catalog has no record 2; it has 2");
  }
  CHECK(in::catalog(in::contents("x.mo", mo({}))).charset().empty());
}

TEST_CASE("damaged catalogs") {
  const std::string good = mo({{"a", "b"}, {"c", "d"}});
  const auto refused = [](std::string bytes) {
    return thrown([&] { in::catalog c(in::contents("x.mo", std::move(bytes))); });
  };
  const auto with = [&](std::size_t at, std::uint32_t w) {
    return std::string(good).replace(at, 4, word(w, false));
  };
  CHECK(refused(good) == "nothing");
  says(refused(good.substr(0, 27)),
       "input: 'x.mo': truncated: expected a header of 28 bytes, found 27");
  says(refused(with(0, 7)), "no catalog of gettext: it does not begin with 950412de");
  says(refused(with(4, 2u << 16)), "revision 2 of the format; 0 and 1 are known");
  says(refused(with(8, 0xffffffff)), "the table of originals (4294967295 entries from byte 28 on)");
  says(refused(with(16, 0xfffffff0)), "the table of translations (2 entries from byte 4294967280");
  says(refused(with(36, 1000)), "original 1 (1000 bytes from byte 62 on) leaves the file");
  says(refused(with(48, 0xffffffff)), "translation 0 (1 bytes from byte 4294967295 on) leaves");
  says(refused(with(28, 2)), "original 0 does not end with a zero byte");
  for (std::size_t n = 0; n < good.size(); ++n) CHECK(refused(good.substr(0, n)) != "nothing");
}

std::string packed_of(const texts& records) {
  const scratch_file f("");
  in::packed_writer w(f.path);
  for (const auto& r : records) w.append(r);
  w.close();
  return f.read();
}

TEST_CASE("packed records: what was written is read, of any length") {
  const texts records{"one", "", "a record of more than eight bytes", std::string(3, '\0')};
  const scratch_file f("");
  {
    in::packed_writer w(f.path);
    for (const auto& r : records) w.append(r);
    const std::vector<float> numbers{1.5f, -2};
    w.append(std::span<const float>(numbers));
    CHECK(f.read().empty());  // not before it is complete
    w.close();
    w.close();
    says(thrown([&] { w.append("more"); }), "the file is closed; append before close()");
  }
  const in::packed p(f.path);
  REQUIRE(p.size() == 5);
  for (std::size_t i = 0; i < 4; ++i) CHECK(p(static_cast<index_t>(i)) == records[i]);
  CHECK(p.where(2) == "record 2 of '" + f.path + "'");
  const auto n = (p | in::map(in::as_numbers<float>{})).epoch(0);
  CHECK(n(4) == std::vector<float>{1.5f, -2});
  CHECK(n(1).empty());
  says(thrown([&] { n(0); }), "as_numbers: 3 bytes are no whole number of 4-byte elements");
  says(thrown([&] { p(5); }), "packed has no record 5; it has 5");
  CHECK(in::packed(in::contents("x", packed_of({}))).size() == 0);
}

TEST_CASE("packed_writer: without close nothing is left; where nothing can be written") {
  const scratch_file f("as before");
  { in::packed_writer w(f.path), other(f.path + "2"); }
  CHECK(f.read() == "as before");
  CHECK(!std::filesystem::exists(in::detail::unfinished_name(f.path)));
  CHECK(!std::filesystem::exists(f.path + "2"));
  says(thrown([] { in::packed_writer w("/nowhere/x"); }), "'/nowhere/x': cannot be made: No");
  if (std::filesystem::exists("/dev/full")) {
    std::filesystem::create_symlink("/dev/full", in::detail::unfinished_name(f.path + "3"));
    in::packed_writer w(f.path + "3");
    w.append("x");
    says(thrown([&] { w.close(); }), "3': cannot be written to its end: No space left");
    CHECK(!std::filesystem::exists(f.path + "3"));
  }
}

TEST_CASE("packed_writer: a file of which something could not be written does not get its name") {
  const scratch_file f("as before");
  ::rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  ::rlimit small = before;
  small.rlim_cur = 8192;
  const auto none = std::signal(SIGXFSZ, SIG_IGN);
  {
    in::packed_writer w(f.path);
    w.append(std::string(100, 'a'));
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const std::string said = thrown([&] { w.append(std::string(16384, 'b')); });
    CHECK(::setrlimit(RLIMIT_FSIZE, &before) == 0);  // there is room again
    says(said, "'" + f.path + "': cannot be written: File too large");
    says(thrown([&] { w.append("c"); }), "could not be written before; begin again");
    says(thrown([&] { w.close(); }), "'" + f.path + "': could not be written before; begin again");
  }
  std::signal(SIGXFSZ, none);
  CHECK(f.read() == "as before");
  CHECK(!std::filesystem::exists(in::detail::unfinished_name(f.path)));
}

TEST_CASE("damaged packed records: every bit that flips, every end in the middle") {
  const texts records{"one", "two more", ""};
  const std::string good = packed_of(records);
  const auto read = [&](const std::string& bytes) {
    return thrown([&] {
      const in::packed p(in::contents("x", bytes));
      for (index_t i = 0; i < p.size(); ++i) p(i);
    });
  };
  CHECK(read(good) == "nothing");
  for (std::size_t n = 0; n < good.size(); ++n) CHECK(read(good.substr(0, n)) != "nothing");
  CHECK(read(good + "x") != "nothing");
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    CHECK(read(bad) != "nothing");
  }
  const auto with = [&](std::size_t at, char c) {
    std::string bad = good;
    bad[at] = c;
    return bad;
  };
  says(read(good.substr(0, 39)), "'x': truncated: expected a header of 40 bytes, found 39");
  says(read(with(0, 'x')), "no packed records: it does not begin with 'dmpacked'");
  says(read(with(8, 2)), "version 2 of packed records; 1 is known");
  says(read(with(16, 9)),
       "truncated or too long: 9 records of 11 bytes and their index do not make");
  says(read(with(44, 'x')), "corrupt: the checksum of record 1 is not what it was written with");
  says(read(with(52, 'x')), "corrupt: the checksum of its index is not what it was written with");
  // An index that its checksum fits, but that is none.
  std::string liar = with(51 + 8, 99), sum;
  in::detail::store_number(sum, in::detail::checksum(std::string_view(liar).substr(51)));
  says(read(liar.replace(32, 8, sum)),
       "corrupt: record 1 does not begin where the one before ends");
}

}  // namespace
