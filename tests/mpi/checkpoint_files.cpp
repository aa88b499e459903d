// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of a checkpoint that others read, and those that a program adds: Python reads the tensors,
// a vocabulary is saved and loaded with them.
// ranks: 1 2 4
#include <doctest/doctest.h>

#include <cstdlib>

#include "dimesh/io/checkpoint/load.hpp"
#include "dimesh/io/checkpoint/start_save.hpp"
#include "dimesh/io/data/byte_pairs.hpp"
#include "support/checkpoints.hpp"

namespace {
using namespace test_support;
using dimesh::index_t;

/// What Python prints of the tensors in a file or an index.
std::vector<std::string> read_by_python(const std::string& path) {
  const fs::path script = fs::path(__FILE__).parent_path() / "../support/read_safetensors.py";
  const std::string out = path + ".txt";
  CHECK(std::system(("python3 '" + script.string() + "' '" + path + "' > '" + out + "'").c_str()) ==
        0);
  std::vector<std::string> lines;
  std::ifstream in(out);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  fs::remove(out);
  return lines;
}

TEST_CASE("Python reads what save_checkpoint and start_save_checkpoint write, with an index, too") {
  with_grid([](const dimesh::grid<plane>& g) {
    const scratch at("python");
    const auto s = filled<state<columns>>(g, 1);
    dimesh::save_checkpoint(at.path, {.step = 1}, {}, part("m", s));
    dimesh::save_checkpoint(at.path, {.step = 2}, {.largest_file = 100}, part("m", s));
    dimesh::start_save_checkpoint(at.path, {.step = 3}, {.largest_file = 100}, part("m", s))
        .finish();
    on_first([&] {
      std::string w = "m.w F64 [5, 7]", b = "m.b F32 [7]";
      for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 7; ++j) w += " " + std::to_string(100 * i + j) + ".0";
      for (int j = 0; j < 7; ++j) b += " " + std::to_string(j) + ".5";
      const std::vector<std::string> wanted = {b, w};
      CHECK(read_by_python(at.path + "/step-1/model.safetensors") == wanted);
      CHECK(read_by_python(at.path + "/step-2/model.safetensors.index.json") == wanted);
      CHECK(read_by_python(at.path + "/step-3/model.safetensors.index.json") == wanted);
    });
  });
}

TEST_CASE("files of the program are saved and loaded with the tensors") {
  with_grid([](const dimesh::grid<plane>& g) {
    const scratch at("own");
    const auto s = filled<state<rows>>(g, 1);
    auto t = filled<state<both>>(g, 0);
    const auto words = dimesh::input::byte_pairs::train("low lower lowest, new newer newest", 270);
    const std::string zeros("a\0b\n", 4);
    for (const index_t step : {1, 2}) {
      const dimesh::checkpoint_record r{
          .step = step,
          .files = {{"vocabulary.bpe", words.printed()}, {"zeros", zeros}, {"none", ""}}};
      if (step == 1) dimesh::save_checkpoint(at.path, r, {.largest_file = 100}, part("m", s));
      if (step == 2) dimesh::start_save_checkpoint(at.path, r, {}, part("m", s)).finish();
      MPI_Barrier(MPI_COMM_WORLD);
      for (const bool verify : {true, false}) {
        const auto there = dimesh::load_checkpoint(at.path, {.verify = verify}, part("m", t));
        CHECK(there.files == r.files);
        check_same(t, filled<state<both>>(g, 1));
      }
      const auto alone = dimesh::load_record(at.path);
      CHECK(alone.step == step);
      CHECK(alone.files == r.files);
      const dimesh::input::contents file("vocabulary.bpe", alone.files.at("vocabulary.bpe"));
      CHECK(dimesh::input::byte_pairs::load(file) == words);
    }
    for (const char* name : {"../x", "", ".x", "a/b", "manifest.json", "more.safetensors",
                             "model.safetensors.index.json"})
      CHECK(has(said([&] {
                  dimesh::save_checkpoint(at.path, {.step = 3, .files = {{name, "x"}}}, {},
                                          part("m", s));
                }),
                "a file of the program cannot be called '" + std::string(name) + "'"));
    CHECK(!fs::exists(at.path + "/step-3"));
    const std::string file = at.path + "/step-2/vocabulary.bpe";
    std::string changed = cp::read_text(file);
    changed[3] ^= 1;
    on_first([&] { cp::write_text(file, changed); });
    for (const bool verify : {true, false})
      CHECK(has(said([&] { dimesh::load_checkpoint(at.path, {.verify = verify}, part("m", t)); }),
                "checkpoint: '" + file + "': expected the bytes that were written, found others"));
    CHECK(has(said([&] { (void)dimesh::load_record(at.path); }), "found others"));
    on_first([&] { fs::remove(file); });
    CHECK(has(said([&] { dimesh::load_checkpoint(at.path, {}, part("m", t)); }),
              "checkpoint: '" + file + "': expected"));
  });
}

TEST_CASE("files of the program that the first rank alone has, or others otherwise") {
  with_grid([](const dimesh::grid<plane>& g) {
    const scratch at("first");
    const auto s = filled<state<rows>>(g, 1);
    auto t = filled<state<both>>(g, 0);
    dimesh::checkpoint_record r{.step = 1};
    if (g.rank() == 0) r = {1, {{"k", 3}}, {{"x", 0.5}}, {{"t", "u"}}, {{"a", "b"}, {"c", "de"}}};
    if (g.rank() == 1) r.files = {{"c", "longer than the first"}, {"d", ""}, {"../e", "f"}};
    const std::map<std::string, std::string> wanted = {{"a", "b"}, {"c", "de"}};
    for (const bool later : {false, true}) {
      if (later) ++r.step;
      if (later) dimesh::start_save_checkpoint(at.path, r, {}, part("m", s)).finish();
      if (!later) dimesh::save_checkpoint(at.path, r, {}, part("m", s));
      const auto there = dimesh::load_checkpoint(at.path, {}, part("m", t));
      CHECK(there.step == r.step);
      CHECK(there.files == wanted);
      CHECK(there.integers.at("k") == 3);
    }
    ++r.step;
    if (g.rank() == 0) r.files = {{"../a", "b"}};
    for (const bool later : {false, true})
      CHECK(has(said([&] {
                  if (later) dimesh::start_save_checkpoint(at.path, r, {}, part("m", s)).finish();
                  if (!later) dimesh::save_checkpoint(at.path, r, {}, part("m", s));
                }),
                "a file of the program cannot be called '../a'"));
  });
}

}  // namespace
