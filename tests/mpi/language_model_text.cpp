// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// Does every rank get the same text, the same error, and its block of the same batch?
#include "../../examples/language_model/text.hpp"

#include <doctest/doctest.h>

#include <dimesh/create.hpp>
#include <dimesh/op/to_rank.hpp>

#include <unistd.h>

namespace {

namespace dm = dimesh;
using dm::index_t;

struct batch : dm::dim<6> {};
struct length : dm::dim<> {};
struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};

std::string text_of(index_t n) {
  std::string s(static_cast<std::size_t>(n), ' ');
  for (index_t i = 0; i < n; ++i) s[static_cast<std::size_t>(i)] = static_cast<char>(i * 89 % 256);
  return s;
}

/// Written by rank 0 alone, as on a cluster whose nodes share no disk; none where n is negative.
struct shared_file {
  std::string path = "/tmp/dimesh_text_" + std::to_string(getpid());
  int rank = 0;
  explicit shared_file(index_t n) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    path += rank == 0 ? "_of_rank_0" : "_of_another";
    if (rank == 0 && n >= 0) std::ofstream(path, std::ios::binary) << text_of(n);
  }
  ~shared_file() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) std::filesystem::remove(path);
  }
};

std::string message_of(index_t size, index_t row) {
  const shared_file file(size);
  try {
    text::load(file.path, row);
  } catch (const dm::error& e) {
    return e.what();
  }
  return "(no error)";
}

/// Inputs and targets under layout L are the bytes of the text, wherever they lie.
template <class L, class G> void check_batch(const G& g, const text::corpus& c, index_t n) {
  using X = dm::tensor<std::int32_t, L, batch, length>;
  X x(g, length{n}), y(g, length{n});
  const dm::random_key key{11};
  const auto r = text::draw_rows(c.train(), batch::extent, n, key, 2);
  r.fill_inputs(x);
  r.fill_targets(y);
  const auto xs = dm::to_rank(x), ys = dm::to_rank(y);
  if (g.rank() != 0) return;
  bool same = true;
  for (index_t b = 0; b < batch::extent; ++b)
    for (index_t t = 0; t < n; ++t) {
      const auto at = static_cast<std::size_t>(r.starts[static_cast<std::size_t>(b)] + t);
      const auto i = static_cast<std::size_t>(b * n + t);
      same = same && xs[i] == c.train()[at] && ys[i] == c.train()[at + 1];
    }
  CHECK(same);
}

}  // namespace

TEST_CASE("text::load: all ranks have the text that rank 0 reads") {
  const shared_file file(2000);
  const auto c = text::load(file.path, 20);
  const std::string expected = text_of(2000);
  CHECK(c.train().size() == 1900);
  CHECK(std::equal(c.train().begin(), c.train().end(), expected.begin(),
                   [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); }));
}

TEST_CASE("text::load: all ranks have the same error") {
  CHECK(message_of(-1, 20).find("rank_0' does not exist") != std::string::npos);
  CHECK(message_of(100, 20).find("has 100 bytes; a twentieth") != std::string::npos);
  CHECK(message_of(0, 20).find("has 0 bytes") != std::string::npos);
}

TEST_CASE("rows: the same batch under every layout") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const index_t two = size % 2 == 0 ? 2 : 1;
  const dm::grid<pod> g(rows{size / two}, cols{two});
  const shared_file file(4000);
  const auto c = text::load(file.path, 24);
  check_batch<dm::layout<pod>>(g, c, 24);
  check_batch<dm::layout<pod, dm::split<dm::uneven<batch>, rows>>>(g, c, 24);
  check_batch<dm::layout<pod, dm::split<length, rows>>>(g, c, 24);
  check_batch<dm::layout<pod, dm::split<length, cols>, dm::split<dm::uneven<batch>, rows>>>(g, c,
                                                                                            24);
}

TEST_CASE("rows: a tensor of another shape is refused") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const dm::grid<pod> g(rows{size}, cols{1});
  const shared_file file(4000);
  const auto c = text::load(file.path, 24);
  dm::tensor<std::int32_t, dm::layout<pod>, batch, length> x(g, length{24});
  CHECK_THROWS_WITH_AS(text::draw_rows(c.train(), 6, 23, dm::random_key{1}, 0).fill_inputs(x),
                       "rows: the tensor is 6 x 24, the batch 6 x 23", dm::error);
}
