// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../../examples/language_model/report.hpp"

#include "../../../examples/common/report.cpp"

#include <doctest/doctest.h>

#include <sstream>

#include <unistd.h>

namespace {

using namespace report;
namespace fs = std::filesystem;

std::vector<language_result> results() {
  std::vector<language_result> all;
  const auto add = [&](std::string layout, std::string mesh, int ranks, bytes_by_axis bytes) {
    language_result r;
    r.layout = layout, r.mesh = mesh, r.ranks = ranks;
    r.losses = {5.5, 3.2, 2.1 + 1e-7 * ranks};
    r.validation_bits_per_byte = 3.0306;
    r.bytes_predicted = r.bytes_counted = bytes;
    r.parameters_per_rank = 3456789 / ranks;
    r.optimizer_bytes_per_rank = 8 * r.parameters_per_rank;
    r.peak_bytes_per_rank = 190000000 / ranks;
    r.tokens_per_second = 12345.6;
    r.seconds = 67.8;
    r.sample = "And it came to pass, \xc3\xa9\n\"so\"";
    all.push_back(r);
  };
  add("data", "1", 1, {});
  add("hybrid", "2x2", 4, {{"rows", 13827156}, {"cols", 29360128}});
  compare(all);
  return all;
}

}  // namespace

TEST_CASE("language_result: the table") {
  std::istringstream in(table(results()));
  std::vector<std::string> text;
  for (std::string line; std::getline(in, line);) text.push_back(line);
  REQUIRE(text.size() == 2 + 1 + 1 + 2);
  for (const auto& line : text) CHECK(line.size() <= 132);
  CHECK(text[3].find("data") == 0);
  for (const char* part : {"hybrid", "2x2", "2.1000", "3e-07", "3.031", "864,197", "6.6 MiB",
                           "45.3 MiB", "rows", "13,827,156 = 13,827,156", "12,346", "67.8 s"}) {
    INFO(part);
    CHECK(text[4].find(part) != std::string::npos);
  }
  CHECK(text[5].find("29,360,128 = 29,360,128") != std::string::npos);
}

TEST_CASE("language_result: what JSON has of it") {
  auto all = results();
  const std::string folder =
      (fs::temp_directory_path() / ("dimesh_language_" + std::to_string(getpid()))).string();
  const auto written = [&] {
    write_report(all, folder);
    std::ifstream in(folder + "/report.json");
    return ordered_json::parse(in);
  };
  const auto list = written();
  REQUIRE(list.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(list[i]["layout"] == all[i].layout);
    CHECK(list[i]["losses"] == all[i].losses);
    CHECK(list[i]["validation_bits_per_byte"] == all[i].validation_bits_per_byte);
    CHECK(list[i]["optimizer_bytes_per_rank"] == all[i].optimizer_bytes_per_rank);
    CHECK(list[i]["tokens_per_second"] == all[i].tokens_per_second);
    CHECK(list[i]["sample"] == all[i].sample);
  }
  for (const char* key :
       {"layout", "mesh", "ranks", "losses", "validation_bits_per_byte", "bytes_predicted",
        "bytes_counted", "parameters_per_rank", "optimizer_bytes_per_rank", "peak_bytes_per_rank",
        "tokens_per_second", "seconds", "sample"})
    CHECK(list[1].contains(key));
  all[0].sample = "half a letter \xc3";  // a sample may end anywhere
  CHECK(written()[0]["sample"] == "half a letter \xef\xbf\xbd");
  fs::remove_all(folder);
}

TEST_CASE("bits: of a uniform guess among bytes, eight") {
  CHECK(bits(std::log(256.0)) == doctest::Approx(8));
}
