// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run writes, read back: event files with checksums, PNG, lines of JSON, the report.
#include <unistd.h>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "dimesh/train/checksum.hpp"
#include "dimesh/train/html_report.hpp"

namespace {
namespace dm = dimesh;
using dm::index_t;

/// A folder of its own, gone at the end.
struct folder {
  std::string path =
      (std::filesystem::temp_directory_path() / ("dimesh_train_" + std::to_string(getpid())))
          .string();
  folder() { std::filesystem::remove_all(path); }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::uint64_t little_endian(std::string_view s) {
  std::uint64_t v = 0;
  for (std::size_t i = s.size(); i-- > 0;) v = v << 8 | static_cast<unsigned char>(s[i]);
  return v;
}

/// The fields of a message, by number: numbers and fixed words as they are, the rest as bytes.
struct message {
  std::multimap<int, std::string> bytes;
  std::multimap<int, std::uint64_t> numbers;

  explicit message(std::string_view s) {
    const auto varint = [&s] {
      std::uint64_t v = 0;
      for (int shift = 0;; shift += 7) {
        const auto b = static_cast<unsigned char>(s.at(0));
        s.remove_prefix(1);
        v |= std::uint64_t{b & 0x7fu} << shift;
        if (b < 0x80) return v;
      }
    };
    while (!s.empty()) {
      const std::uint64_t key = varint();
      const int field = static_cast<int>(key >> 3);
      std::size_t n = 0;
      switch (key & 7) {
        case 0:
          numbers.emplace(field, varint());
          break;
        case 2:
          n = varint();
          bytes.emplace(field, s.substr(0, n));
          s.remove_prefix(n);
          break;
        default:
          n = (key & 7) == 1 ? 8 : 4;
          numbers.emplace(field, little_endian(s.substr(0, n)));
          s.remove_prefix(n);
      }
    }
  }
  std::string text(int field) const { return bytes.find(field)->second; }
  message part(int field) const { return message(text(field)); }
  std::uint64_t number(int field) const { return numbers.find(field)->second; }
  double real(int field) const { return std::bit_cast<double>(number(field)); }
};

std::vector<message> events_of(const std::string& path) {
  const std::string all = contents(path);
  std::string_view rest = all;
  std::vector<message> found;
  while (!rest.empty()) {
    REQUIRE(rest.size() >= 16);
    const auto n = static_cast<std::size_t>(little_endian(rest.substr(0, 8)));
    CHECK(little_endian(rest.substr(8, 4)) == dm::detail::masked_crc32c(rest.substr(0, 8)));
    REQUIRE(rest.size() >= 16 + n);
    const auto data = rest.substr(12, n);
    CHECK(little_endian(rest.substr(12 + n, 4)) == dm::detail::masked_crc32c(data));
    found.emplace_back(data);
    rest.remove_prefix(16 + n);
  }
  return found;
}

TEST_CASE("checksums: known answers") {
  CHECK(dm::detail::crc32c("123456789") == 0xe3069283u);  // RFC 3720, B.4 and others
  CHECK(dm::detail::crc32c(std::string(32, '\0')) == 0x8a9136aau);
  CHECK(dm::detail::crc32("123456789") == 0xcbf43926u);
  CHECK(dm::detail::adler32("Wikipedia") == 0x11e60398u);
  for (const auto& [bytes, text] : {std::pair{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foobar", "Zm9vYmFy"},
                                    {"\xfb\xff\xfe", "+//+"}})
    CHECK(dm::detail::base64(bytes) == text);  // RFC 4648, section 10
}

TEST_CASE("event_file: what TensorBoard expects, field by field") {
  const folder f;
  dm::event_file file(f.path + "/deep/run");
  file.scalar(0, "first", 1);
  file.scalar(300, "loss", 0.25);
  dm::value_histogram h;
  for (const double v : {-1.0, 0.0, 0.5, 0.5, 2.0}) h.add(v);
  file.histogram(7, "weights", h);
  file.text(8, "sample", "*so*");
  file.image(9, "digit", 28, 30, 3, "a PNG file");
  file.flush();
  const auto e = events_of(file.path());
  REQUIRE(e.size() == 6);
  CHECK(e[0].text(3) == "brain.Event:2");
  CHECK(e[0].real(1) > 1.7e9);
  CHECK(e[1].numbers.count(2) == 0);  // step 0 is not written
  CHECK(e[2].number(2) == 300);
  const message value = e[2].part(5).part(1);
  CHECK(value.text(1) == "loss");
  CHECK(std::bit_cast<float>(static_cast<std::uint32_t>(value.number(2))) == 0.25f);
  const message histogram = e[3].part(5).part(1).part(5);
  CHECK(histogram.real(1) == -1);
  CHECK(histogram.real(2) == 2);
  CHECK(histogram.real(3) == 5);
  CHECK(histogram.real(4) == 2);
  CHECK(histogram.real(5) == 5.5);
  const std::string limits = histogram.text(6), counts = histogram.text(7);
  REQUIRE(limits.size() == counts.size());
  double before = -std::numeric_limits<double>::infinity(), total = 0;
  for (std::size_t i = 0; i < limits.size(); i += 8) {
    const auto limit = std::bit_cast<double>(little_endian(std::string_view(limits).substr(i, 8)));
    CHECK(limit > before);
    before = limit;
    total += std::bit_cast<double>(little_endian(std::string_view(counts).substr(i, 8)));
  }
  CHECK(total == 5);
  const message text = e[4].part(5).part(1);
  CHECK(text.part(8).number(1) == 7);
  CHECK(text.part(8).text(8) == "*so*");
  CHECK(text.part(9).part(1).text(1) == "text");
  CHECK(e[5].number(2) == 9);
  const message image = e[5].part(5).part(1);
  CHECK(image.text(1) == "digit");
  CHECK(image.part(4).number(1) == 28);  // height
  CHECK(image.part(4).number(2) == 30);  // width
  CHECK(image.part(4).number(3) == 3);
  CHECK(image.part(4).text(4) == "a PNG file");
}

TEST_CASE("event_file, summaries, html_report: a place that cannot be written") {
  CHECK_THROWS_WITH_AS(dm::event_file("/proc/none"), doctest::Contains("event_file: '/proc/none/"),
                       dm::error);
  CHECK_THROWS_WITH_AS(dm::summaries("/proc/none"), doctest::Contains("cannot be written"),
                       dm::error);
  CHECK_THROWS_WITH_AS(dm::html_report("x").write("/proc/none/x.html"),
                       doctest::Contains("html_report: '/proc/none/x.html' cannot be written"),
                       dm::error);
  CHECK_NOTHROW(dm::summaries("/proc/none", false).scalar(1, "loss", 1));
}

TEST_CASE("value_histogram: limits, numbers that are none, and sums") {
  dm::value_histogram h;
  CHECK(h.buckets().limits.empty());
  CHECK(h.mean() == 0);
  for (const double v :
       {1e-30, -1e-30, 1e300, -1e300, 3.0, std::numeric_limits<double>::quiet_NaN(),
        -std::numeric_limits<double>::infinity()})
    h.add(v);
  CHECK(h.count == 5);
  CHECK(h.not_finite == 2);
  CHECK(h.min == -1e300);
  CHECK(h.max == 1e300);
  const auto b = h.buckets();
  double total = 0;
  for (std::size_t i = 0; i < b.limits.size(); ++i) {
    total += b.counts[i];
    if (b.counts[i] > 0 && b.limits[i] > 1 && b.limits[i] < 10) CHECK(b.limits[i] > 3);
  }
  CHECK(total == 5);
}

TEST_CASE("png_of: chunks, sizes and pixels as they were given") {
  const std::string pixels = {'\0', '\x7f', '\xff', '\1', '\2', '\3'};
  const std::string png = dm::png_of(2, 3, 1, pixels);
  REQUIRE(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  std::string_view rest = std::string_view(png).substr(8);
  const auto big = [](std::string_view s) {
    std::uint32_t v = 0;
    for (const char c : s) v = v << 8 | static_cast<unsigned char>(c);
    return v;
  };
  std::vector<std::string> kinds;
  std::string data;
  while (!rest.empty()) {
    const std::size_t n = big(rest.substr(0, 4));
    kinds.emplace_back(rest.substr(4, 4));
    CHECK(big(rest.substr(8 + n, 4)) == dm::detail::crc32(rest.substr(4, 4 + n)));
    if (kinds.back() == "IHDR") {
      CHECK(big(rest.substr(8, 4)) == 3);   // width
      CHECK(big(rest.substr(12, 4)) == 2);  // height
      CHECK(rest.substr(16, 2) == std::string_view("\x08\x00", 2));
    }
    if (kinds.back() == "IDAT") data = rest.substr(8, n);
    rest.remove_prefix(12 + n);
  }
  CHECK(kinds == std::vector<std::string>{"IHDR", "IDAT", "IEND"});
  // Two bytes of zlib, five of the stored block, the rows with a 0 before each, a checksum.
  CHECK(data.substr(7, 8) == std::string("\0\0\x7f\xff\0\1\2\3", 8));
  CHECK(big(std::string_view(data).substr(15)) == dm::detail::adler32(data.substr(7, 8)));
  CHECK(dm::png_of(200, 200, 3, std::string(120000, 'x')).size() > 120000);  // several blocks
  CHECK_THROWS_WITH_AS((void)dm::png_of(2, 2, 1, pixels), doctest::Contains("6 bytes for 2 x 2"),
                       dm::error);
  CHECK_THROWS_WITH_AS((void)dm::png_of(2, 3, 2, pixels),
                       doctest::Contains("pixels have 1 or 3 channels"), dm::error);
}

TEST_CASE("summaries: lines of JSON that a parser takes, whatever the words") {
  const folder f;
  {
    dm::summaries log(f.path);
    log.scalar(1, "loss/train", 0.1);
    log.scalar(2, "loss/train", std::numeric_limits<double>::quiet_NaN());
    log.text(2, "said \"so\"\n", "caf\xc3\xa9 \xff \xe2\x82");
    log.image(3, "a/b", 1, 2, 1, "ab");
    dm::value_histogram h;
    h.add(1);
    log.histogram(4, "h", h);
    log.flush();
    const dm::metric_history figures = log.scalars();
    CHECK(figures.series().at(0).value.size() == 2);
  }
  {
    dm::summaries again(f.path);
    again.scalar(5, "loss/train", 0.05);
  }
  std::ifstream in(f.path + "/summaries.jsonl");
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  REQUIRE(lines.size() == 6);
  CHECK(lines[0]["step"] == 1);
  CHECK(lines[0]["value"] == 0.1);
  CHECK(lines[1]["value"] == "nan");
  CHECK(lines[2]["tag"] == "said \"so\"\n");
  CHECK(lines[2]["text"] == "caf\xc3\xa9 \xc3\xbf \xc3\xa2\xc2\x82");
  CHECK(contents(f.path + "/" + lines[3]["image"].get<std::string>()) == dm::png_of(1, 2, 1, "ab"));
  CHECK(lines[4]["counts"].size() == lines[4]["limits"].size());
  CHECK(lines[5]["value"] == 0.05);
}

TEST_CASE("summaries: each tag has pictures of its own, whatever it is written with") {
  const folder f;
  const char* const tags[] = {"in/a", "in_a", "in a", "\xc3\xa9\xc3\xa9", "\xc3\xa8\xc3\xa9"};
  dm::summaries log(f.path);
  char pixel = 'a';
  for (const char* tag : tags) log.image(5, tag, 1, 1, 1, std::string(1, pixel++));
  log.flush();
  std::ifstream in(f.path + "/summaries.jsonl");
  pixel = 'a';
  for (std::string line; std::getline(in, line); ++pixel) {
    const auto name = nlohmann::json::parse(line)["image"].get<std::string>();
    CHECK(contents(f.path + "/" + name) == dm::png_of(1, 1, 1, std::string(1, pixel)));
  }
  CHECK(pixel == 'a' + 5);
  CHECK(contents(f.path + "/in_a_5.png") == dm::png_of(1, 1, 1, "b"));
}

TEST_CASE("html_report: one file, nothing taken for a part of it") {
  const folder f;
  dm::summaries log(f.path);
  for (int i = 1; i < 5; ++i) log.scalar(i, "loss/a", 1.0 / i), log.scalar(i, "loss/b", 2.0 / i);
  log.scalar(1, "rate", 1);
  log.text(1, "sample", "old");
  log.text(2, "sample", "<b>new</b>");
  log.image(1, "digit", 1, 2, 1, "ab");
  log.image(2, "digit", 2, 1, 1, "cd");
  log.image(1, "<other>", 1, 1, 3, "rgb");
  dm::html_report page("a < b");
  page.add(log);
  page.table("Table", {{"name", "value"}, {"x & y", "1"}});
  const std::string html = page.html();
  const auto count = [&html](const std::string& what) {
    int n = 0;
    for (auto at = html.find(what); at != std::string::npos; at = html.find(what, at + 1)) ++n;
    return n;
  };
  CHECK(count("<svg") == 2);
  CHECK(count("loss/a") >= 1);
  CHECK(count("a &lt; b") == 2);
  CHECK(count("old") == 0);
  CHECK(count("&lt;b&gt;new&lt;/b&gt;") == 1);
  CHECK(count("x &amp; y") == 1);
  CHECK(count("<?xml") == 0);
  const auto src = [&](const std::string& png) {
    return count("src=\"data:image/png;base64," + dm::detail::base64(png) + "\"");
  };
  CHECK(src(dm::png_of(1, 2, 1, "ab")) == 0);
  CHECK(src(dm::png_of(2, 1, 1, "cd")) == 1);
  CHECK(src(dm::png_of(1, 1, 3, "rgb")) == 1);
  // Nothing is loaded.
  CHECK(count("http") == count("http://www.w3.org"));
  CHECK(count("src=") == count("src=\"data:"));
  CHECK(count("href=") == count("href=\"#"));
  CHECK(count("url(") == count("url(#"));
  page.write(f.path + "/report.html");
  CHECK(contents(f.path + "/report.html") == html);
}

}  // namespace
