// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// labels: device
// Batches that are made ahead: ranks ask each other once for several of them, and yet each bad
// record is an error on all of them where its batch is wanted, and not before.
#include <doctest/doctest.h>
#include <dimesh/io/data/order.hpp>
#include <dimesh/io/data/prefetch.hpp>
#include <dimesh/io/data/transform.hpp>

#include <atomic>
#include <census.hpp>
#include <memory>
#include <thread>

#include "support/host.hpp"
#include "support/laws.hpp"
#include "support/scratch.hpp"

namespace {
namespace dm = dimesh;
namespace in = dimesh::input;
using namespace test_support;
using by_rows = dm::layout<line, dm::split<dm::uneven<p>, x>>;
using numbers_of = dm::tensor<std::int64_t, by_rows, p>;
constexpr index_t rows = 4, batches = 10;

/// Does each element of this rank's block say which record it was?
bool holds(const numbers_of& x, index_t first) {
  const auto seen = on_host(x);
  for (index_t i = 0; i < x.local_size(); ++i)
    if (seen[i] != first + x.block(0).offset + i) return false;
  return true;
}
/// What f throws, which must be one text on all ranks.
template <class F> std::string thrown_by_all(const dm::grid<line>& g, const F& f) {
  const std::string said = thrown(f);
  std::string first = said;
  first.resize(200, ' ');
  MPI_Bcast(first.data(), 200, MPI_CHAR, 0, g.everyone().handle());
  CHECK(first.substr(0, said.size()) == said);
  return said;
}

TEST_CASE("batches made ahead: those before a bad one come, it is an error on all, and goes on") {
  const dm::grid<line> g;
  for (const int threads : {0, 1, 3})
    for (const index_t ahead : {1, 2, 4, 9})
      for (const index_t bad : {0, 3, 4, 13, 22, 39}) {
        CAPTURE(threads);
        CAPTURE(ahead);
        CAPTURE(bad);
        // The other one is in a later batch, and with more ranks than one on another rank.
        const auto read = [bad](index_t i) -> std::int64_t {
          if (i == bad || i == bad + 6) throw std::runtime_error("no " + std::to_string(i));
          return i;
        };
        auto load = in::numbers(rows * batches) | in::map(read) |
                    in::batch<numbers_of>(g, p{rows}) | in::prefetch(threads, ahead);
        const auto said = [](index_t i) {
          const std::string n = std::to_string(i);
          return "input: record " + n + " of epoch 0 (number " + n + "): no " + n;
        };
        for (index_t b = 0; b < bad / rows; ++b) CHECK(holds(load.next(), rows * b));
        for (int again = 0; again < 2; ++again)
          CHECK(thrown_by_all(g, [&] { (void)load.next(); }) == said(bad));
        CHECK(load.position() == in::position{0, bad / rows * rows});
        index_t b = bad / rows + 1;
        if (b == batches) continue;
        load.seek({0, rows * b});
        const index_t other = (bad + 6) / rows;
        for (; b < std::min(other, batches); ++b) CHECK(holds(load.next(), rows * b));
        if (other < batches) CHECK(thrown_by_all(g, [&] { (void)load.next(); }) == said(bad + 6));
      }
}

TEST_CASE("batches made ahead: ranks ask each other once for those that all of them have") {
  const dm::grid<line> g;
  for (const int threads : {0, 2})
    for (const index_t ahead : {1, 2, 5, 8}) {
      std::atomic<index_t> made{0};
      auto load = in::numbers(100 * rows) | in::map([&made](index_t i) {
                    ++made;
                    return std::int64_t{i};
                  }) |
                  in::batch<numbers_of>(g, p{rows}) | in::prefetch(threads, ahead);
      const auto own = load.next().local_size();
      if (threads > 0)
        while (made < ahead * own) std::this_thread::yield();
      MPI_Barrier(g.everyone().handle());
      census::reset();
      for (index_t b = 0; b < ahead; ++b) (void)load.next();
      const auto asked = census::snapshot().calls();
      // All but the first are there; of the last one it may not yet be known.
      if (g.ranks() > 1) CHECK((threads == 0 ? asked == ahead : asked <= 3));
    }
}

/// Epochs 0 and 3 have four records, epoch 1 has two, and epoch 2 none that can be had.
struct uneven_epochs {
  static constexpr bool fixed = false;
  in::numbers epoch(index_t e) const {
    if (e == 2) throw std::runtime_error("no epoch 2");
    return in::numbers(e == 1 ? 2 : 4);
  }
};
TEST_CASE("batches made ahead: the last of an epoch comes, though the next epoch has none") {
  const dm::grid<line> g;
  for (const int threads : {0, 1, 3})
    for (const index_t ahead : {1, 4}) {
      CAPTURE(threads);
      CAPTURE(ahead);
      const auto stage = uneven_epochs{} | in::map([](index_t i) { return std::int64_t{i}; });
      auto load = stage | in::batch<numbers_of>(g, p{3}) | in::prefetch(threads, ahead);
      const auto ends_with_epoch = [&](index_t epoch, const std::string& why) {
        CHECK(holds(load.next(), 0));
        CHECK(load.records() == 3);
        CHECK(load.position() == in::position{epoch + 1, 0});
        for (int again = 0; again < 2; ++again)
          CHECK(thrown_by_all(g, [&] { (void)load.next(); }) == why);
        CHECK(load.position() == in::position{epoch + 1, 0});
        load.seek(load.position());  // as a run that goes on from there
        CHECK(load.position() == in::position{epoch + 1, 0});
        CHECK(thrown_by_all(g, [&] { (void)load.next(); }) == why);
      };
      ends_with_epoch(0, "input::batch: epoch 1 has 2 records, a batch has 3");
      load.seek({0, 0});
      CHECK(holds(load.next(), 0));
      load.seek({3, 0});
      CHECK(holds(load.next(), 0));
      CHECK(load.position() == in::position{4, 0});
      CHECK(holds(load.next(), 0));

      auto filled = stage | in::batch<numbers_of>(g, p{2}) | in::prefetch(threads, ahead);
      for (const index_t first : {0, 2, 0}) CHECK(holds(filled.next(), first));
      CHECK(filled.position() == in::position{2, 0});
      for (int again = 0; again < 2; ++again)
        CHECK(thrown_by_all(g, [&] { (void)filled.next(); }) == "no epoch 2");
      filled.seek(filled.position());
      CHECK(filled.position() == in::position{2, 0});
      CHECK(thrown_by_all(g, [&] { (void)filled.next(); }) == "no epoch 2");
    }
}

/// Epochs of six records; one rank cannot have epoch 1 the first three times.
struct late_epoch {
  static constexpr bool fixed = false;
  bool here;
  std::shared_ptr<int> asked = std::make_shared<int>(0);
  in::numbers epoch(index_t e) const {
    if (here && e == 1 && ++*asked <= 3) throw std::runtime_error("not yet");
    return in::numbers(6);
  }
};
TEST_CASE("batches made ahead: an epoch that one rank has late is left out by none") {
  const dm::grid<line> g;
  for (const int threads : {0, 1, 3})
    for (const index_t ahead : {1, 4}) {
      CAPTURE(threads);
      CAPTURE(ahead);
      auto load = late_epoch{g.rank() == 0} | in::map([](index_t i) { return std::int64_t{i}; }) |
                  in::batch<numbers_of>(g, p{3}) | in::prefetch(threads, ahead);
      for (index_t b = 0; b < 6; ++b) {
        CHECK(load.position() == in::position{b / 2, b % 2 * 3});
        bool good = false;
        const auto next = [&] { good = holds(load.next(), b % 2 * 3); };
        for (int tries = 0; tries < 4; ++tries)
          if (thrown_by_all(g, next) == "nothing") break;
        CHECK(good);
      }
      CHECK(load.position() == in::position{3, 0});
    }
}

TEST_CASE("batches made ahead: of other numbers on each rank, by other threads") {
  const dm::grid<line> g;
  auto load = in::numbers(rows * batches) | in::map([](index_t i) { return std::int64_t{i}; }) |
              in::batch<numbers_of>(g, p{rows}) | in::prefetch(g.rank(), 1 + 2 * g.rank());
  for (index_t b = 0; b < 3 * batches; ++b) CHECK(holds(load.next(), b % batches * rows));
}
}  // namespace
