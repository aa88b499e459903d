// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../../examples/fashion_mnist/report.hpp"

#include "../../../examples/common/report.cpp"

#include <doctest/doctest.h>

#include <sstream>

#include <unistd.h>

namespace {

using namespace report;
namespace fs = std::filesystem;

std::vector<layout_result> results() {
  std::vector<layout_result> all;
  const auto add = [&](std::string layout, std::string mesh, int ranks, bytes_by_axis bytes) {
    layout_result r;
    r.layout = layout, r.mesh = mesh, r.ranks = ranks;
    for (int s = 0; s < 6; ++s) r.losses.push_back(2.3 / (s + 1) + 1e-8 * ranks * s);
    r.test_accuracy = 0.8765;
    r.bytes_predicted = r.bytes_counted = bytes;
    r.parameters_per_rank = 814090 / ranks;
    r.peak_bytes_per_rank = 19900000 / ranks;
    r.seconds = 12.3;
    all.push_back(r);
  };
  add("none", "1", 1, {});
  add("batch", "4", 4, {{"rows", 3256364}});
  add("batch x io x hidden", "2x2x2", 8, {{"planes", 823560}, {"rows", 262144}, {"cols", 5120}});
  compare(all);
  return all;
}

std::vector<std::string> lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

TEST_CASE("readable: no control characters but line ends") {
  CHECK(report::readable("a\n\x1b[1mb\x7f\xc3\xa9\r") == "a\n?[1mb?\xc3\xa9?");
}

}  // namespace

TEST_CASE("report: losses are compared with the first layout's") {
  auto all = results();
  CHECK(all[0].max_loss_difference == 0);
  CHECK(all[2].max_loss_difference == doctest::Approx(7e-8 * 5).scale(0).epsilon(0.01));
  CHECK(all_agree(all, 1e-6));
  CHECK_FALSE(all_agree(all, 1e-7));
  all[1].losses.pop_back();
  compare(all);
  CHECK_FALSE(all_agree(all, 1e9));
  all[1].losses.push_back(std::nan(""));
  compare(all);
  CHECK_FALSE(all_agree(all, 1e9));
}

TEST_CASE("report: bytes must be those predicted, axis by axis") {
  auto all = results();
  all[1].bytes_counted = {{"cols", 3256364}};
  CHECK(total(all[1].bytes_counted) == total(all[1].bytes_predicted));
  CHECK_FALSE(all_agree(all, 1));
  all[1].bytes_counted = {{"cols", 0}, {"rows", 3256364}};
  CHECK(all_agree(all, 1));
}

TEST_CASE("report: the table") {
  auto all = results();
  all[1].bytes_counted = {{"rows", 7}};
  const auto text = lines(table(all));
  REQUIRE(text.size() == 3 + 1 + 1 + 3);
  for (const auto& line : text) CHECK(line.size() <= 120);
  CHECK(text[3].find("none") == 0);
  CHECK(text[4].find("3,256,364 ! 7") != std::string::npos);
  CHECK(text[5].find("823,560 = 823,560") != std::string::npos);
  CHECK(text[6].find("rows") != std::string::npos);
  CHECK(text[5].find("101,761") != std::string::npos);
  const auto end = [](const std::string& line, const char* what) {
    return line.find(what) + std::string(what).size();
  };
  CHECK(end(text[3], "0.8765") == end(text[1], "acc."));  // numbers end under their headings
  CHECK(end(text[6], "262,144 = 262,144") == end(text[1], "types = counted"));
}

TEST_CASE("report: what JSON has of the results, and the files") {
  auto all = results();
  all[1].losses.pop_back();
  compare(all);  // an infinite difference becomes null
  const std::string folder =
      (fs::temp_directory_path() / ("dimesh_report_" + std::to_string(getpid()))).string();
  write_report(all, folder + "/deep");
  std::ifstream in(folder + "/deep/report.json");
  const auto written = ordered_json::parse(in);
  REQUIRE(written.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const ordered_json& j = written[i];
    CHECK(j.size() == 11);
    CHECK(j["layout"] == all[i].layout);
    CHECK(j["mesh"] == all[i].mesh);
    CHECK(j["ranks"] == all[i].ranks);
    CHECK(j["losses"] == all[i].losses);
    CHECK(j["parameters_per_rank"] == all[i].parameters_per_rank);
    CHECK(j["peak_bytes_per_rank"] == all[i].peak_bytes_per_rank);
    CHECK(j["seconds"] == all[i].seconds);
    CHECK(j["test_accuracy"] == all[i].test_accuracy);
    for (const char* which : {"bytes_predicted", "bytes_counted"}) {
      CHECK(j[which].size() == all[i].bytes_counted.size() + 1);
      CHECK(j[which]["total"] == total(all[i].bytes_counted));
      for (const auto& [axis, bytes] : all[i].bytes_counted) CHECK(j[which][axis] == bytes);
    }
  }
  CHECK(written[0]["max_loss_difference"] == 0.0);
  CHECK(written[1]["max_loss_difference"].is_null());
  CHECK(written[2]["max_loss_difference"] == all[2].max_loss_difference);
  CHECK(fs::file_size(folder + "/deep/losses.svg") > 1000);
  CHECK(fs::file_size(folder + "/deep/loss_differences.svg") > 1000);
  std::ofstream(folder + "/no_folder") << "a file";
  CHECK_THROWS_AS(write_report(all, folder + "/no_folder/x"), dimesh::error);
  fs::remove_all(folder);
}
