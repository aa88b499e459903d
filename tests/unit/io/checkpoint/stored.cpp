// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a tensor stands in a file's larger one: against counting, for all ways to cut and merge.
// And which of a file's names are near one that it lacks.
#include "dimesh/io/checkpoint/stored.hpp"

#include <doctest/doctest.h>

#include "dimesh/io/checkpoint/missing.hpp"

namespace {
using dimesh::index_t, dimesh::stored_part;
using dimesh::detail::checkpoint::place_of_part;
using shape = std::vector<index_t>;

/// Places of all elements of `want`, row-major.
shape places(const dimesh::detail::checkpoint::stored_place& p, const shape& want) {
  shape all = {p.first};
  for (std::size_t d = 0; d < want.size(); ++d) {
    shape next;
    for (const index_t at : all)
      for (index_t i = 0; i < want[d]; ++i) next.push_back(at + i * p.step[d]);
    all = next;
  }
  return all;
}
/// The same, counted: elements of `file` whose place along the dim is in the part.
shape counted(const shape& file, const stored_part& part, index_t n) {
  shape all;
  index_t total = 1, under = 1;
  for (std::size_t d = 0; d < file.size(); ++d) {
    total *= file[d];
    if (d > static_cast<std::size_t>(part.dim)) under *= file[d];
  }
  for (index_t e = 0; e < total; ++e) {
    const index_t at = e / under % file[static_cast<std::size_t>(part.dim)];
    if (at >= part.begin && at < part.begin + n) all.push_back(e);
  }
  return all;
}

TEST_CASE(
    "place_of_part: every way to cut an array of three dims, and to make up each of several") {
  const shape file = {4, 6, 2};
  const std::vector<std::vector<shape>> makes = {
      {{4}, {2, 2}, {1, 4}, {4, 1}}, {{6}, {2, 3}, {3, 2}, {6, 1}}, {{2}, {2, 1}, {1, 2}}};
  int checks = 0;
  for (int dim = 0; dim < 3; ++dim)
    for (const shape& taken : {shape{1}, shape{2}, shape{1, 2}, shape{2, 1}, shape{}})
      for (index_t begin = 0; begin < 3; ++begin)
        for (std::size_t i = 0; i < makes[0].size(); ++i)
          for (std::size_t j = 0; j < makes[1].size(); ++j)
            for (std::size_t k = 0; k < makes[2].size(); ++k) {
              const shape* of[] = {&makes[0][i], &makes[1][j], &makes[2][k]};
              of[dim] = &taken;
              shape want;
              for (const shape* s : of) want.insert(want.end(), s->begin(), s->end());
              index_t n = 1;
              for (const index_t extent : taken) n *= extent;
              const stored_part part{"", dim, begin};
              const auto place = place_of_part(file, want, part);
              const bool fits = begin + n <= file[static_cast<std::size_t>(dim)];
              REQUIRE(place.has_value() == fits);
              if (fits) CHECK(places(*place, want) == counted(file, part, n));
              checks += fits;
            }
  CHECK(checks > 500);
}

TEST_CASE("place_of_part: what does not fit") {
  CHECK(!place_of_part({4, 6}, {4, 6}, {"", 2, 0}));
  CHECK(!place_of_part({4, 6}, {4, 6}, {"", -1, 0}));
  CHECK(!place_of_part({4, 6}, {4, 6}, {"", 1, -1}));
  CHECK(!place_of_part({4, 6}, {4, 6}, {"", 1, 1}));
  CHECK(!place_of_part({4, 6}, {3, 6}, {"", 1, 0}));
  CHECK(!place_of_part({4, 6}, {2, 3, 6}, {"", 1, 0}));
  CHECK(!place_of_part({4, 6}, {4, 5}, {"", 0, 0}));
  CHECK(!place_of_part({}, {}, {"", 0, 0}));
  CHECK(!place_of_part({4, index_t{1} << 62}, {4, 2}, {"", 1, (index_t{1} << 62) - 1}));
  CHECK(place_of_part({4, 0}, {4, 0}, {"", 1, 0}));
}

TEST_CASE("near_names: the two that take the fewest changes of letters") {
  using dimesh::detail::checkpoint::letters_between, dimesh::detail::checkpoint::near_names;
  CHECK(letters_between("kitten", "sitting") == 3);
  CHECK(letters_between("", "abc") == 3);
  CHECK(letters_between("same", "same") == 0);
  CHECK(near_names("modle.w", {"adam.first.w", "model.b", "model.w"}) == "'model.w', 'model.b'");
  CHECK(near_names("w", {"v"}) == "'v'");
  CHECK(near_names("w", {}) == "none");
}
}  // namespace
