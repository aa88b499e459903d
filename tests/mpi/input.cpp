// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// labels: device
// Batches of records: the same under every layout and on every number of ranks, from every place
// on, with any number of threads; what one rank alone cannot read is an error on all.
#include <dimesh/grad/complete.hpp>
#include <dimesh/grad/value_and_grad.hpp>
#include <dimesh/io/data/agree.hpp>
#include <dimesh/io/data/any_stage.hpp>
#include <dimesh/io/data/arrays.hpp>
#include <dimesh/io/data/batch.hpp>
#include <dimesh/io/data/images.hpp>
#include <dimesh/io/data/order.hpp>
#include <dimesh/io/data/packed.hpp>
#include <dimesh/io/data/prefetch.hpp>
#include <dimesh/io/data/rows.hpp>
#include <dimesh/io/data/text.hpp>
#include <dimesh/io/data/transform.hpp>
#include <dimesh/op/einsum.hpp>
#include <dimesh/op/functions.hpp>
#include <dimesh/op/masked_mean.hpp>
#include <dimesh/op/to_rank.hpp>
#include <dimesh/op/value.hpp>
#include <dimesh/plan/runtime_tensor.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <set>

#include "support/gzip.hpp"
#include "support/host.hpp"
#include "support/laws.hpp"
#include "support/scratch.hpp"

namespace {
namespace dm = dimesh;
namespace in = dimesh::input;
using namespace test_support;
using namespace std::string_literals;

template <class L> struct examples {
  BOOST_HANA_DEFINE_STRUCT(examples, (dm::tensor<float, L, p, q>, x),
                           (dm::tensor<std::int32_t, L, p>, y));
};
template <class L> struct masked {
  BOOST_HANA_DEFINE_STRUCT(masked, (dm::tensor<double, L, p, q>, x),
                           (dm::tensor<std::int32_t, L, p>, y), (dm::tensor<float, L, p>, mask));
};
constexpr index_t width = 4;

/// Record i: i, i + 0.25, i + 0.5, i + 0.75 and 3 i.
constexpr auto make_record = [](index_t i) {
  std::vector<float> row;
  for (index_t k = 0; k < width; ++k)
    row.push_back(static_cast<float>(i) + 0.25f * static_cast<float>(k));
  return std::tuple(row, 3 * i);
};
auto stages(index_t n) { return in::numbers(n) | in::shuffle(5) | in::map(make_record); }

/// The records of batch `at`, by a plain loop.
std::vector<index_t> expected(index_t n, in::position at, index_t rows) {
  const dm::random_permutation order(dm::random_key(5).fold(static_cast<std::uint64_t>(at.epoch)),
                                     n);
  std::vector<index_t> v;
  for (index_t i = at.record; i < std::min(n, at.record + rows); ++i) v.push_back(order(i));
  return v;
}
/// This rank's blocks hold these records, zeros behind them.
template <class B> bool holds(const B& b, const std::vector<index_t>& want) {
  bool right = true;
  const auto rows = b.x.block(0), columns = b.x.block(1);
  for (index_t i = 0; i < rows.length; ++i)
    for (index_t k = 0; k < columns.length; ++k) {
      const auto at = static_cast<std::size_t>(rows.offset + i);
      const double v = at < want.size() ? static_cast<double>(want[at]) +
                                              0.25 * static_cast<double>(columns.offset + k)
                                        : 0;
      right = right && static_cast<double>(test_support::on_host(b.x)[i * columns.length + k]) == v;
    }
  const auto labels = b.y.block(0);
  for (index_t i = 0; i < labels.length; ++i) {
    const auto at = static_cast<std::size_t>(labels.offset + i);
    right = right && test_support::on_host(b.y)[i] == (at < want.size() ? 3 * want[at] : 0);
  }
  return right;
}

TEST_CASE("the same batches under every layout, into the second epoch, with 0 to 4 threads") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    int threads = 0;
    for_each_layout<plane, dm::detail::list<p, q>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      auto load =
          stages(11) | in::batch<examples<L>>(g, p{3}, q{width}) | in::prefetch(threads++ % 5, 2);
      CHECK(load.batches_per_epoch() == 3);
      in::position at;
      for (int step = 0; step < 7; ++step) {
        CHECK(load.position() == at);
        const auto b = load.next();
        CHECK(holds(b, expected(11, at, 3)));
        CHECK(load.records() == 3);
        at.record += 3;
        if (at.record == 9) at = {at.epoch + 1, 0};
      }
    });
  });
}

/// Element k of record i is 1000 i + k: does this rank have its own, of these extents?
template <class L> bool boxes_are_right(const dm::grid<plane>& g, std::array<index_t, 3> n) {
  using boxes = dm::tensor<float, L, p, q, r, s>;
  auto load = in::numbers(6) | in::map([&](index_t i) {
                std::vector<float> box(static_cast<std::size_t>(n[0] * n[1] * n[2]));
                for (std::size_t k = 0; k < box.size(); ++k)
                  box[k] = static_cast<float>(1000 * i + static_cast<index_t>(k));
                return box;
              }) |
              in::batch<boxes>(g, p{3}, q{n[0]}, r{n[1]}, s{n[2]}) | in::prefetch(0);
  (void)load.next();
  const boxes b = load.next();
  const auto own = [&b](int d) { return b.block(d); };
  const auto seen = on_host(b);
  bool right = true;
  index_t at = 0;
  for (index_t i = 0; i < own(0).length; ++i)
    for (index_t j = 0; j < own(1).length; ++j)
      for (index_t k = 0; k < own(2).length; ++k)
        for (index_t l = 0; l < own(3).length; ++l, ++at) {
          const index_t place =
              ((own(1).offset + j) * n[1] + own(2).offset + k) * n[2] + own(3).offset + l;
          right = right && seen[at] == static_cast<float>(1000 * (3 + own(0).offset + i) + place);
        }
  return right;
}
TEST_CASE("records of several dims, unlike in length, of which ranks have parts") {
  using of_channels = dm::layout<plane, dm::split<dm::uneven<q>, x>>;
  using of_rows = dm::layout<plane, dm::split<dm::uneven<r>, x>>;
  using of_columns = dm::layout<plane, dm::split<dm::uneven<s>, x>, dm::split<dm::uneven<p>, y>>;
  using of_both = dm::layout<plane, dm::split<dm::uneven<q>, y>, dm::split<dm::uneven<s>, x>>;
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for (const std::array<index_t, 3> n :
         {std::array<index_t, 3>{3, 4, 4}, {1, 2, 6}, {1, 6, 2}, {2, 3, 5}, {5, 1, 3}, {4, 3, 1}}) {
      CAPTURE(n[0]);
      CAPTURE(n[1]);
      CHECK(boxes_are_right<of_channels>(g, n));
      CHECK(boxes_are_right<of_rows>(g, n));
      CHECK(boxes_are_right<of_columns>(g, n));
      CHECK(boxes_are_right<of_both>(g, n));
    }
  });
}

template <class L> struct view {
  BOOST_HANA_DEFINE_STRUCT(view, (dm::tensor<std::int8_t, L, p>, x), (dm::tensor<double, L, p>, y));
};
template <class L> struct two_views {
  using both = std::array<view<L>, 2>;
  BOOST_HANA_DEFINE_STRUCT(two_views, (both, views), (dm::tensor<std::int8_t, L, p>, last));
};

TEST_CASE("arrays of structs whose tensors have several element types") {
  const dm::grid<line> g;
  const auto five = in::numbers(12) | in::map([](index_t i) {
                      const auto d = static_cast<double>(i);
                      return std::tuple(i, d + 0.5, i + 1, d + 1.5, i + 2);
                    });
  using B = two_views<dm::layout<line, dm::split<dm::uneven<p>, x>>>;
  auto load = five | in::batch<B>(g, p{12}) | in::prefetch(0);
  const auto b = load.next();
  const auto rows = b.last.block(0);
  for (index_t k = 0; k < rows.length; ++k) {
    const index_t i = rows.offset + k;
    for (std::size_t v = 0; v < 2; ++v) {
      const auto more = static_cast<index_t>(v);
      CHECK(test_support::on_host(b.views[v].x)[k] == i + more);
      CHECK(test_support::on_host(b.views[v].y)[k] == static_cast<double>(i + more) + 0.5);
    }
    CHECK(test_support::on_host(b.last)[k] == i + 2);
  }
}

TEST_CASE("the records of one batch are made by several threads at once") {
  const dm::grid<line> g;
  using L = dm::layout<line>;
  std::atomic<int> inside{0};
  std::atomic<bool> together{true};
  // Record 1 of two waits for the other one, which another thread makes.
  const auto meet = [&](index_t i) {
    ++inside;
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20); inside < 2;)
      if (std::chrono::steady_clock::now() > end) {
        together = false;
        break;
      }
    return make_record(i);
  };
  {
    auto load = in::numbers(2) | in::map(meet) | in::batch<examples<L>>(g, p{2}, q{width}) |
                in::prefetch(2, 1);
    CHECK(holds(load.next(), {0, 1}));
  }
  CHECK(together);
  // More threads than rows, and rows that no part of theirs gets evenly; two parts fail.
  const auto some = [](index_t i) {
    if (i == 9 || i == 12) throw std::runtime_error("no " + std::to_string(i));
    return make_record(i);
  };
  for (const int threads : {2, 3, 5, 9}) {
    auto load = in::numbers(14) | in::map(some) | in::batch<examples<L>>(g, p{7}, q{width}) |
                in::prefetch(threads, 1);
    CHECK(holds(load.next(), {0, 1, 2, 3, 4, 5, 6}));
    CHECK(thrown([&] { load.next(); }) == "input: record 9 of epoch 0 (number 9): no 9");
    load.seek({0, 0});
    CHECK(holds(load.next(), {0, 1, 2, 3, 4, 5, 6}));
  }
}

TEST_CASE("resumed at every place, also in the middle of a batch and on other batch sizes") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  for (const int threads : {0, 2}) {
    auto load = stages(7) | in::batch<masked<L>>(g, p{3}, in::last_batch::pad, q{width}) |
                in::prefetch(threads);
    for (index_t e = 0; e < 3; ++e)
      for (index_t r = 0; r < 7; ++r) {
        in::position at{e, r};
        load.seek(at);
        CHECK(load.position() == at);
        for (int step = 0; step < 3; ++step) {
          CHECK(holds(load.next(), expected(7, at, 3)));
          at.record += 3;
          if (at.record >= 7) at = {at.epoch + 1, 0};
        }
      }
    load.seek({1, 7});  // behind the last record is before the first of the next epoch
    CHECK(load.position() == in::position{2, 0});
    CHECK(thrown([&] { load.seek({0, 8}); }) == "input: there is no record 8 in epoch 0");
    CHECK(thrown([&] { load.seek({-1, 0}); }) == "input: there is no record 0 in epoch -1");
  }
}

TEST_CASE("the last batch: dropped, filled up with a mask, or refused") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  auto padded =
      stages(5) | in::batch<masked<L>>(g, p{3}, in::last_batch::pad, q{width}) | in::prefetch(0);
  CHECK(padded.batches_per_epoch() == 2);
  for (const index_t records : {3, 2, 3}) {
    const in::position at = padded.position();
    const auto b = padded.next();
    CHECK(padded.records() == records);
    CHECK(holds(b, expected(5, at, 3)));
    const auto rows = b.mask.block(0);
    for (index_t i = 0; i < rows.length; ++i)
      CHECK(test_support::on_host(b.mask)[i] == (rows.offset + i < records ? 1 : 0));
  }
  auto strict =
      stages(5) | in::batch<examples<L>>(g, p{3}, in::last_batch::fail, q{width}) | in::prefetch(1);
  strict.next();
  const std::string refused = thrown([&] { strict.next(); });
  INFO(refused);
  CHECK(refused.find("the last batch of the epoch has 2 records, and 3 are wanted; drop it") !=
        std::string::npos);
  const auto few = [&] { stages(2) | in::batch<examples<L>>(g, p{3}, q{width}) | in::prefetch(1); };
  CHECK(thrown(few) == "input::batch: epoch 1 has 2 records, a batch has 3");
}

template <class L> struct counted {
  BOOST_HANA_DEFINE_STRUCT(counted, (dm::tensor<double, L, p, q>, x),
                           (dm::tensor<std::int32_t, L, p>, y), (dm::tensor<bool, L, p>, is_there));
};
TEST_CASE("a loss over batches that were filled up: the mean over the records that are there") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_each_layout<plane, dm::detail::list<p, q>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      auto load = stages(7) | in::batch<counted<L>>(g, p{5}, in::last_batch::pad, q{width}) |
                  in::prefetch(1);
      dm::tensor<double, L, q> w(g, q{width});
      dm::fill(w, 0.5);
      for (const index_t records : {5, 2}) {
        in::position at = load.position();
        const counted<L> b = load.next();
        const auto loss = [](const auto& v, const auto& batch) {
          const auto y = dm::complete(dm::einsum<p>(batch.x, v)) - dm::cast<double>(batch.y);
          return dm::masked_mean(dm::square(y), batch.is_there);
        };
        const auto step = dm::complete(dm::value_and_grad(loss, w)(b));
        // Record r has the sum 4 r + 1.5, and the label 3 r.
        double want = 0, slope = 0;
        for (const index_t r : expected(7, at, 5)) {
          const double apart =
              0.5 * (4 * static_cast<double>(r) + 1.5) - 3 * static_cast<double>(r);
          want += apart * apart / static_cast<double>(records);
          slope += 2 * apart * static_cast<double>(r) / static_cast<double>(records);
        }
        CHECK(dm::value(step.value) == doctest::Approx(want).scale(0).epsilon(1e-12));
        const auto columns = step.gradient.block(0);
        if (columns.length > 0 && columns.offset == 0)
          CHECK(test_support::on_host(step.gradient)[0] ==
                doctest::Approx(slope).scale(0).epsilon(1e-12));
      }
    });
  });
}

TEST_CASE("a record that one rank cannot read is an error on all, the first one, with its file") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  const scratch_file file("0\n1\n2\nthree\nfour\n5\n6\n7\n");
  const auto parse = [](std::string_view s) {
    return make_record(static_cast<index_t>(std::stoi(std::string(s))));
  };
  for (const int threads : {0, 1, 3}) {
    auto load = in::lines(file.path) | in::map(parse) | in::batch<examples<L>>(g, p{2}, q{width}) |
                in::prefetch(threads);
    CHECK(holds(load.next(), {0, 1}));
    for (int again = 0; again < 2; ++again)
      CHECK(thrown([&] { load.next(); }).starts_with("input: record 3 of epoch 0 (line 4 of '"));
    CHECK(load.position() == in::position{0, 2});
    load.seek({0, 6});
    CHECK(holds(load.next(), {6, 7}));
  }
  // Two bad records in one batch, on different ranks where there are several.
  auto both = in::lines(file.path) | in::map(parse) | in::batch<examples<L>>(g, p{8}, q{width}) |
              in::prefetch(2);
  CHECK(thrown([&] { both.next(); }).starts_with("input: record 3 of epoch 0 (line 4 of '"));
  auto odd = in::numbers(4) | in::map([](index_t i) {
               if (i == 3) throw 7;
               return make_record(i);
             }) |
             in::batch<examples<L>>(g, p{4}, q{width}) | in::prefetch(1);
  CHECK(thrown([&] { odd.next(); }) ==
        "input: record 3 of epoch 0 (number 3): an exception that is no std::exception");
}

TEST_CASE("a file that changes while it is read is an error on all ranks") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  for (const int threads : {0, 2}) {
    const scratch_file file("0\n1\n2\n3\n");
    auto load = in::lines(file.path) | in::map([](std::string_view s) {
                  return make_record(static_cast<index_t>(std::stoi(std::string(s))));
                }) |
                in::batch<examples<L>>(g, p{2}, q{width}) | in::prefetch(threads, 1);
    CHECK(holds(load.next(), {0, 1}));
    std::filesystem::last_write_time(
        file.path, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
    load.seek({0, 0});
    const std::string said = thrown([&] { load.next(); });
    INFO(said);
    CHECK(said.starts_with("input: record 0 of epoch 0 (line 1 of '"));
    CHECK(said.ends_with("changed while it was read: it was written to after it was opened"));
  }
}

/// The text of what f throws, which must be one text on all ranks.
template <class F> std::string thrown_by_all(const dm::grid<line>& g, const F& f) {
  const std::string said = thrown(f);
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>{}(said) >> 1);
  std::int64_t ends[2]{hash, -hash};
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT64_T, MPI_MIN, g.everyone().handle());
  CHECK(ends[0] == -ends[1]);
  INFO(said);
  CHECK(said.find("dimesh_") != std::string::npos);  // the file's name
  return said;
}
std::string packed_bytes() {
  const scratch_file f("");
  in::packed_writer w(f.path);
  for (int i = 0; i < 8; ++i) w.append(std::to_string(i));
  w.close();
  return f.read();
}
const auto record_of_text = in::map([](std::string_view s) {
  return make_record(static_cast<index_t>(std::stoi(std::string(s))));
});

TEST_CASE("a file that ends in the middle on one rank is an error on all: the file, the record") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  // Each rank has files of its own, and the last one's are damaged.
  const bool damaged = g.rank() == g.ranks() - 1;
  const auto opened = [&](const std::string& good, auto open) {
    const scratch_file file(damaged ? good.substr(0, good.size() - 5) : good);
    return thrown_by_all(g, [&] { in::together(g, [&] { return open(file.path); }); });
  };
  CHECK(opened(gzip("0\n1\n2\n3\n4\n5\n6\n7\n"), [](const auto& path) {
          return in::lines(path);
        }).ends_with("': ends in the middle of its gzip data"));
  const std::string idx(
      "\0\0\x08\x02\0\0\0\x02\0\0\0\x03"
      "abcdef",
      18);
  CHECK(opened(idx, [](const auto& path) {
          return in::idx_rows(path);
        }).find("': truncated: expected 6 bytes of data (2 x 3), found 1") != std::string::npos);
  CHECK(opened(gzip(idx), [](const auto& path) {
          return in::idx_rows(path);
        }).find("': truncated") != std::string::npos);
  CHECK(opened(packed_bytes(), [](const auto& path) {
          return in::packed(path);
        }).find("': truncated or too long: 8 records of 8 bytes") != std::string::npos);
  const std::string npy =
      dm::detail::npy::npy_header_text(dm::element_kind::float32, {2, 4}) + std::string(32, '\0');
  CHECK(opened(npy, [](const auto& path) {
          return in::npy_rows<float>(path);
        }).ends_with("expected 32 bytes of elements (2, 4), found 27"));
  // Of several files the first that is damaged, though others are, too.
  const scratch_file good("0\n"), cut(gzip("1\n").substr(0, 12)), bad(gzip("2\n").substr(0, 12));
  CHECK(thrown_by_all(g, [&] {
          in::together(g, [&] {
            return in::lines(damaged ? std::vector<std::string>{good.path, cut.path, bad.path}
                                     : std::vector<std::string>{good.path});
          });
        }).ends_with("': ends in the middle of its gzip data"));

  for (const int threads : {0, 2}) {
    const auto cut_while_read = [&](const std::string& bytes, auto open) {
      const scratch_file file(bytes);
      auto load = open(file.path) | record_of_text | in::batch<examples<L>>(g, p{4}, q{width}) |
                  in::prefetch(threads, 1);
      CHECK(holds(load.next(), {0, 1, 2, 3}));
      if (damaged) std::filesystem::resize_file(file.path, bytes.size() / 2);
      load.seek({0, 4});
      return thrown_by_all(g, [&] { load.next(); });
    };
    const std::string text = cut_while_read("0\n1\n2\n3\n4\n5\n6\n7\n",
                                            [](const auto& path) { return in::lines(path); });
    CHECK(text.starts_with("input: record 4 of epoch 0 (line 5 of '"));
    CHECK(text.ends_with("changed while it was read: it had 16 bytes and has 8"));
    const std::string records =
        cut_while_read(packed_bytes(), [](const auto& path) { return in::packed(path); });
    CHECK(records.starts_with("input: record 4 of epoch 0 (record 4 of '"));
    CHECK(records.find("changed while it was read: it had ") != std::string::npos);

    std::string flipped = packed_bytes();
    flipped[40 + 5] = '9';  // record 5
    const scratch_file file(flipped);
    auto load = in::packed(file.path) | record_of_text | in::batch<examples<L>>(g, p{8}, q{width}) |
                in::prefetch(threads, 1);
    const std::string said = thrown_by_all(g, [&] { load.next(); });
    CHECK(said.starts_with("input: record 5 of epoch 0 (record 5 of '"));
    CHECK(said.ends_with("corrupt: the checksum of record 5 is not what it was written with"));
  }
}

TEST_CASE("records that do not fit the tensors") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  const auto refused = [&](auto from, index_t n, auto tag) {
    using S = typename decltype(tag)::type;
    return thrown([&] {
      auto load = from | in::batch<S>(g, p{2}, q{n}) | in::prefetch(0);
      load.next();
    });
  };
  const dm::detail::tag<examples<L>> two{};
  const dm::detail::tag<masked<L>> three{};
  const auto ends = [](const std::string& text, const std::string& with) {
    INFO(text);
    CHECK(text.ends_with(with));
  };
  ends(refused(stages(4), 5, two), "the record has 4 numbers for 'x', whose rows have 5 elements");
  ends(refused(in::numbers(4) | in::map([](index_t i) { return std::tuple(i, i); }), 5, two),
       "the record has one number for 'x', whose rows have 5 elements");
  CHECK(
      refused(in::numbers(4), 1, three)
          .starts_with(
              "input::batch: a record has 1 members, the struct 3 tensors; give a tensor to each"));
  CHECK(refused(in::numbers(4) | in::map([](index_t i) { return std::tuple(i, i, i, i); }), 1, two)
            .starts_with("input::batch: a record has 4 members, the struct 2 tensors"));
  CHECK(
      thrown([&] {
        stages(4) | in::batch<examples<L>>(g, p{2}, in::last_batch::pad, q{width});
      }).starts_with("input::batch: batches are filled up, and nothing tells records from zeros"));
  struct wide {
    BOOST_HANA_DEFINE_STRUCT(wide, (dm::tensor<float, L, p>, x), (dm::tensor<float, L, p, q>, y));
  };
  CHECK(thrown([&] {
          in::numbers(4) | in::batch<wide>(g, p{2}, q{3});
        }).starts_with("input::batch: 'y' is the mask, one number for each record"));
  CHECK(thrown([] { in::prefetch(-1); }) ==
        "input::prefetch: -1 threads, 4 batches ahead; give 0 or more, and 1 or more");
  CHECK(thrown([] { in::prefetch(1, 0); }).starts_with("input::prefetch: 1 threads, 0 batches"));
}

TEST_CASE("batches whose layout is a value: rows of elements, under the loader's rules") {
  const dm::grid<line> g;
  using held = dm::layout<line, dm::held_at_run_time>;
  const dm::layout_value<line> cut(dm::layout<line, dm::split<dm::uneven<p>, x>>{});
  const auto batches = [&] { return stages(10) | in::batch<examples<held>>(g, p{5}, q{width}); };
  const dm::under_layout here(cut);
  for (const int threads : {0, 2}) {  // made ahead, and copied ahead where some ranks have them
    auto load = batches() | in::prefetch(threads);
    const auto whole = dm::to_rank(load.next().x);
    {
      const dm::under_layout elsewhere(
          dm::layout_value<line>(dm::layout<line, dm::split<dm::uneven<q>, x>>{}));
      CHECK(thrown([&] { load.next(); }) ==
            "input: 'x' has another layout than when its loader was made; ask for batches under "
            "the rules that batch() was called under");
      auto other = batches() | in::prefetch(0);
      CHECK(dm::to_rank(other.next().x) == whole);
    }
    CHECK(load.position() == in::position{0, 5});
    load.next();
  }
  const dm::under_layout sums(dm::layout_value<line>(dm::layout<line, dm::partial<x>>{}));
  CHECK(thrown(batches).starts_with("input::batch: partial_operand: 'x' is a sum"));
}

TEST_CASE("ranks that see other records, or none: all say so") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  const auto n = [&] { return g.rank() == 0 ? 8 : 6; };
  const std::string said =
      thrown([&] { stages(n()) | in::batch<examples<L>>(g, p{2}, q{width}) | in::prefetch(1); });
  CHECK(said == (g.ranks() == 1 ? "nothing"
                                : "input: the ranks do not see the same records: one has 6, "
                                  "another one 8; give all of them the same files"));
  const int last = g.ranks() - 1;
  CHECK(thrown([&] {
          in::together(g, [&] {
            return g.rank() == last ? in::lines("/nowhere/x")
                                    : in::lines(std::vector<std::string>{});
          });
        }).starts_with("input: '/nowhere/x': cannot be opened"));
  CHECK(in::together(g, [] { return 7; }) == 7);
}

TEST_CASE("from_first: what the first rank reads, or what it says, on all of them") {
  const dm::grid<line> g;
  int read = 0;
  const auto got = in::from_first(g, [&] { return ++read, in::contents("a name", "a\0b"s); });
  CHECK(read == (g.rank() == 0 ? 1 : 0));
  CHECK(got.path() == "a name");
  CHECK(got.bytes() == "a\0b"s);
  CHECK(in::from_first(g, [] { return in::contents("none", ""); }).bytes().empty());
  CHECK(thrown([&] {
          in::from_first(g, [&] { return in::contents("/nowhere/x"); });
        }).starts_with("input: '/nowhere/x': cannot be opened"));
}

TEST_CASE("a batch of no records is refused") {
  const dm::grid<line> g;
  using L = dm::layout<line>;
  CHECK(thrown([&] {
          (void)(in::numbers(7) | in::map(make_record) | in::batch<examples<L>>(g, p{0}, q{width}));
        }) == "input::batch: a batch of no records; give it one or more");
}

TEST_CASE("any_stage: batches of stages that differ are of one type") {
  const dm::grid<line> g;
  using L = dm::layout<line, dm::split<dm::uneven<p>, x>>;
  using record = std::tuple<std::vector<float>, index_t>;
  in::any_stage<record> of = in::numbers(7) | in::map(make_record);
  for (const bool shuffled : {false, true}) {
    if (shuffled) of = stages(7);
    auto load = of | in::batch<examples<L>>(g, p{3}, q{width}) | in::prefetch(1);
    CHECK(holds(load.next(), shuffled ? expected(7, {0, 0}, 3) : std::vector<index_t>{0, 1, 2}));
  }
}

TEST_CASE("each rank reads the records of its rows only; peers along other axes the same") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    using L = dm::layout<plane, dm::split<dm::uneven<p>, x>, dm::split<dm::uneven<q>, y>>;
    std::set<index_t> read;
    auto load = in::numbers(8) | in::map([&read](index_t i) {
                  read.insert(i);
                  return make_record(i);
                }) |
                in::batch<examples<L>>(g, p{8}, q{width}) | in::prefetch(0);
    const auto rows = load.next().x.block(0);
    std::set<index_t> want;
    for (index_t i = 0; i < rows.length; ++i) want.insert(rows.offset + i);
    CHECK(read == want);
  });
}

}  // namespace
