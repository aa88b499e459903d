// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../../../examples/common/report.cpp"

#include <doctest/doctest.h>

#include <sstream>

#include <unistd.h>

namespace {

using namespace report;
namespace fs = std::filesystem;

std::vector<run_result> results() {
  std::vector<run_result> all;
  const auto add = [&](std::string layout, std::string mesh, int ranks, bytes_by_axis bytes) {
    run_result r;
    r.layout = layout, r.mesh = mesh, r.ranks = ranks;
    for (int s = 0; s < 6; ++s) r.losses.push_back(2.3 / (s + 1) + 1e-8 * ranks * s);
    r.bytes_predicted = r.bytes_counted = bytes;
    r.parameters_per_rank = 814090 / ranks;
    r.peak_bytes_per_rank = 19900000 / ranks;
    r.seconds = 12.3;
    r.figures = {{"test_accuracy", 0.8765, column::result, "test", "acc.", "0.8765"},
                 {"optimizer_bytes", std::int64_t{1234} * ranks, column::memory, "optimizer",
                  "per rank", memory(1234 * ranks)},
                 {"tokens", 12345.6, column::speed, "", "tokens/s", "12,346"},
                 {"sample", "a\n\"b\" \xc3\xa9"}};
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
  const double apart = all[1].max_loss_difference;
  for (const std::size_t steps : {5, 7}) {  // patience ended one of them before the other
    all[1].losses.resize(steps, 0.1);
    compare(all);
    CHECK(all[1].max_loss_difference ==
          doctest::Approx(steps < 6 ? apart * 4 / 5 : apart).scale(0).epsilon(0.01));
    all[1].losses = all[0].losses;
    all[1].losses[5] += apart;
  }
  all[1].losses[2] = std::nan("");
  compare(all);
  CHECK(std::isinf(all[1].max_loss_difference));
}

TEST_CASE("report: what agrees with the first run, and says so where it does not") {
  auto all = results();
  const auto& first = all[0].losses;
  CHECK(agrees(all[2], first, 6, 1e-6));
  CHECK_FALSE(agrees(all[2], first, 6, 1e-7));
  CHECK(agrees(all[2], first, 2, 1e-7));  // the later ones may stray
  all[1].losses.pop_back();
  CHECK(agrees(all[1], first, 6, 1e-6));  // as far as both go
  all[1].losses = first;
  all[1].losses.resize(7, 0.1);
  CHECK(agrees(all[1], first, 6, 1e-6));
  all[1].losses = first;
  all[1].losses[4] = std::nan("");
  CHECK_FALSE(agrees(all[1], first, 2, 1e-6));
}

TEST_CASE("report: bytes must be those predicted, axis by axis") {
  auto all = results();
  all[1].bytes_counted = {{"cols", 3256364}};
  CHECK(total(all[1].bytes_counted) == total(all[1].bytes_predicted));
  CHECK_FALSE(bytes_agree(all[1]));
  CHECK_FALSE(agrees(all[1], all[0].losses, 6, 1));
  all[1].bytes_counted = {{"cols", 0}, {"rows", 3256364}};
  CHECK(bytes_agree(all[1]));
}

TEST_CASE("report: the table") {
  auto all = results();
  all[1].bytes_counted = {{"rows", 7}};
  const auto text = lines(table(all));
  REQUIRE(text.size() == 3 + 1 + 1 + 3);
  for (const auto& line : text) CHECK(line.size() <= 132);
  CHECK(text[3].find("none") == 0);
  CHECK(text[4].find("3,256,364 ! 7") != std::string::npos);
  CHECK(text[5].find("823,560 = 823,560") != std::string::npos);
  CHECK(text[6].find("rows") != std::string::npos);
  for (const char* part : {"4.8 KiB", "12,346", "12.3 s"})
    CHECK(text[4].find(part) != text[4].npos);
  CHECK(text[5].find("101,761") != std::string::npos);
  const auto end = [](const std::string& line, const char* what) {
    return line.find(what) + std::string(what).size();
  };
  CHECK(end(text[3], "0.8765") == end(text[1], "acc."));  // numbers end under their headings
  CHECK(end(text[6], "262,144 = 262,144") == end(text[1], "types = counted"));
}

TEST_CASE("report: what JSON has of the results, and the files") {
  auto all = results();
  all[1].max_loss_difference = std::numeric_limits<double>::infinity();  // becomes null
  const std::string folder =
      (fs::temp_directory_path() / ("dimesh_report_" + std::to_string(getpid()))).string();
  write_report(all, folder + "/deep");
  std::ifstream in(folder + "/deep/report.json");
  const auto written = ordered_json::parse(in);
  REQUIRE(written.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const ordered_json& j = written[i];
    CHECK(j.size() == 14);
    CHECK(j["layout"] == all[i].layout);
    CHECK(j["mesh"] == all[i].mesh);
    CHECK(j["ranks"] == all[i].ranks);
    CHECK(j["losses"] == all[i].losses);
    CHECK(j["parameters_per_rank"] == all[i].parameters_per_rank);
    CHECK(j["peak_bytes_per_rank"] == all[i].peak_bytes_per_rank);
    CHECK(j["seconds"] == all[i].seconds);
    CHECK(j["test_accuracy"] == 0.8765);
    CHECK(j["optimizer_bytes"] == 1234 * all[i].ranks);
    CHECK(j["sample"] == "a\n\"b\" \xc3\xa9");
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
  all[0].figures[3].value = "half a letter \xc3";  // a sample may end anywhere
  write_report(all, folder);
  std::ifstream again(folder + "/report.json");
  CHECK(ordered_json::parse(again)[0]["sample"] == "half a letter \xef\xbf\xbd");
  std::ofstream(folder + "/no_folder") << "a file";
  CHECK_THROWS_AS(write_report(all, folder + "/no_folder/x"), dimesh::error);
  fs::remove_all(folder);
}
