// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checkpoints that are written while the program goes on; and blocks of every kind in both ways of
// writing: ragged ones, with halos, complex, at one place.
// ranks: 1 2 4
#include "dimesh/io/checkpoint/start_save.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <complex>
#include <optional>

#include "dimesh/op/cuts.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "support/checkpoints.hpp"
#include "support/host.hpp"

namespace {
using namespace test_support;
using dimesh::index_t, dimesh::start_save_checkpoint, dimesh::started_save;

constexpr layout_choice raggedly{.ragged = true, .places = 1, .stride = 3};

/// Do all ranks say the same?
bool alike(bool mine) {
  int least_and_greatest[] = {mine, !mine};
  MPI_Allreduce(MPI_IN_PLACE, least_and_greatest, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return least_and_greatest[0] + least_and_greatest[1] == 1;
}
/// Steps of a program between which it asks whether the checkpoint is there. What it does then is
/// collective: no rank may be told so at another step than the others.
void until_done(started_save& saving) {
  for (bool there = false; !there;) {
    there = saving.done();
    CHECK(alike(there));
  }
}

TEST_CASE("start_save_checkpoint: what was there when it began is read, under each layout") {
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    each_layout([&](auto from) {
      const scratch at("start");
      auto s = filled<decltype(from)>(g, 1);
      auto saving =
          start_save_checkpoint(at.path, {.step = 3, .integers = {{"k", 4}}}, {}, part("m", s));
      s = filled<decltype(from)>(g, -1);  // the next step
      until_done(saving);
      CHECK(saving.done());
      saving.finish();  // at once
      auto t = filled<state<both>>(g, 0);
      const auto r = dimesh::load_checkpoint(at.path, {}, part("m", t));
      CHECK(r.step == 3);
      CHECK(r.integers.at("k") == 4);
      check_same(t, filled<state<both>>(g, 1));
    });
  });
}

TEST_CASE(
    "start_save_checkpoint: byte for byte what save_checkpoint writes, in several files too") {
  with_grid([](const dimesh::grid<plane>& g) {
    for (const index_t most : {index_t{1} << 30, index_t{100}}) {
      const scratch at("bytes"), other("same");
      const auto s = filled<state<columns>>(g, 1);
      dimesh::save_checkpoint(at.path, {.step = 1}, {.largest_file = most}, part("m", s));
      start_save_checkpoint(other.path, {.step = 1}, {.largest_file = most}, part("m", s)).finish();
      int files = 0;
      on_first([&] {
        for (const auto& e : fs::directory_iterator(at.path + "/step-1")) {
          ++files;
          CHECK(cp::read_text(e.path()) ==
                cp::read_text(other.path + "/step-1/" + e.path().filename().string()));
        }
        CHECK(files == (most == 100 ? 4 : 2));
        CHECK(cp::read_text(at.path + "/latest") == cp::read_text(other.path + "/latest"));
      });
    }
  });
}

TEST_CASE("two parts of one name: refused when they are saved, in one file or in several") {
  with_grid([](const dimesh::grid<plane>& g) {
    const auto s = filled<state<columns>>(g, 1);
    for (const index_t most : {index_t{1} << 30, index_t{100}}) {
      const scratch at("twice");
      const auto both = [&](const auto& save) {
        return said([&] { save(at.path, part("m", s), part("m", s)); });
      };
      const dimesh::save_options files{.largest_file = most};
      CHECK(has(both([&](const auto& to, const auto&... parts) {
                  dimesh::save_checkpoint(to, {.step = 1}, files, parts...);
                }),
                "two parts give a tensor this name"));
      CHECK(has(both([&](const auto& to, const auto&... parts) {
                  start_save_checkpoint(to, {.step = 1}, files, parts...).finish();
                }),
                "two parts give a tensor this name"));
    }
  });
}

TEST_CASE("start_save_checkpoint: the folder stays where it was, wherever the program goes") {
  with_grid([](const dimesh::grid<plane>& g) {
    const scratch at("there");
    const fs::path from = fs::current_path();
    MPI_Barrier(MPI_COMM_WORLD);
    fs::create_directories(at.path);
    MPI_Barrier(MPI_COMM_WORLD);
    fs::current_path(at.path);
    const auto s = filled<state<columns>>(g, 1);
    auto saving = start_save_checkpoint("run", {.step = 1}, {}, part("m", s));
    fs::current_path(from);
    saving.finish();
    auto t = filled<state<rows>>(g, 0);
    CHECK(dimesh::load_checkpoint(at.path + "/run", {}, part("m", t)).step == 1);
    check_same(t, filled<state<rows>>(g, 1));
  });
}

TEST_CASE("checkpoints of ragged and placed blocks, some of them empty") {
  for_each_grid<plane>([](const dimesh::grid<plane>& g) {
    for_each_layout<plane, dimesh::detail::list<p, q>, raggedly>([&](auto t) {
      using X = tensor<double, typename decltype(t)::type, p, q>;
      std::vector<double> late, early;
      for (int i = 0; i < g.everyone().size(); ++i) {
        late.push_back(i == 0 && g.everyone().size() > 1 ? 0 : i + 1);
        early.push_back(g.everyone().size() - i);
      }
      const array a = numbers({"p", "q"}, {7, 5}, 1);
      const auto cut = [&](const array& of, const std::vector<double>& by) {
        return scattered<X>(g, of, dimesh::cuts_by_speed<p>(7, by),
                            dimesh::cuts_by_speed<q>(5, by));
      };
      const X x = cut(a, late);
      const scratch at("ragged");
      dimesh::save_checkpoint(at.path, {.step = 1}, {}, part("x", x));
      start_save_checkpoint(at.path, {.step = 2}, {}, part("x", x)).finish();
      for (const char* const step : {"/step-1", "/step-2"}) {
        X y = cut(numbers({"p", "q"}, {7, 5}, 2), early);
        dimesh::load_checkpoint(at.path + step, {}, part("x", y));
        CHECK(agrees(y, a));
      }
    });
  });
}

TEST_CASE("checkpoints of complex tensors, and of those with halos") {
  with_grid([](const dimesh::grid<plane>& g) {
    using Z = std::complex<double>;
    using H = layout<plane, split<p, x>>;
    const auto value = [](index_t i, index_t j) { return Z(double(10 * i + j), double(i - j)); };
    const index_t n = 3 * g.ranks();
    const auto z = dimesh::generate<tensor<Z, columns, p, q>>(g, value, p{4}, q{7});
    const auto h = dimesh::halo_exchange<2, p>(dimesh::halo_exchange<1, q>(
        dimesh::generate<tensor<float, H, p, q>>(
            g, [](index_t i, index_t j) { return float(i * 10 + j); }, p{n}, q{5}),
        dimesh::boundary::zero));
    const scratch at("kinds");
    dimesh::save_checkpoint(at.path, {.step = 1}, {}, part("z", z), part("h", h));
    start_save_checkpoint(at.path, {.step = 2}, {}, part("z", z), part("h", h)).finish();
    for (const char* const step : {"/step-1", "/step-2"}) {
      auto z2 = dimesh::generate<tensor<Z, rows, p, q>>(
          g, [](index_t, index_t) { return Z(); }, p{4}, q{7});
      auto h2 = dimesh::constant<tensor<float, both, p, q>>(g, 0, p{n}, q{5});
      dimesh::load_checkpoint(at.path + step, {}, part("z", z2), part("h", h2));
      CHECK(dimesh::to_rank(z2, 0) == dimesh::to_rank(z, 0));
      CHECK(dimesh::to_rank(h2, 0) == dimesh::to_rank(h, 0));
      auto h3 = dimesh::zeros_like(h);
      dimesh::load_checkpoint(at.path + step, {.file_has_more = true}, part("h", h3));
      CHECK(dimesh::to_rank(h3, 0) == dimesh::to_rank(h, 0));
    }
  });
}

/// What is not its own elements' of a block with so wide halos.
template <class X> std::vector<double> halos_of(const X& x, index_t before_p, index_t before_q) {
  const index_t row = x.block(1).length + 2 * before_q, rows = x.local_size() / row;
  std::vector<double> all;
  const auto elements = test_support::on_host(x);
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < row; ++j)
      if (i < before_p || i >= rows - before_p || j < before_q || j >= row - before_q)
        all.push_back(static_cast<double>(elements[i * row + j]));
  return all;
}
TEST_CASE("load_checkpoint: own elements, under other halos, too; what halos hold stays") {
  with_grid([](const dimesh::grid<plane>& g) {
    using H = layout<plane, split<p, x>>;
    const index_t n = 3 * g.ranks();
    const auto of = [&]<class X>(X, double by, double plus) {
      return dimesh::generate<X>(
          g, [=](index_t i, index_t j) { return by * double(10 * i + j) + plus; }, p{n}, q{6});
    };
    const auto wide = [](const auto& a) {
      return dimesh::halo_exchange<2, p>(dimesh::halo_exchange<1, q>(a), dimesh::boundary::zero);
    };
    const auto a = of(tensor<double, H, p, q>{}, 1, 0.5);
    const scratch at("halos");
    const auto saved = wide(a);
    dimesh::save_checkpoint(at.path, {.step = 1}, {}, part("a", saved));
    const auto check = [&](auto b, index_t before_p, index_t before_q) {
      const auto shared = b;
      const auto held = halos_of(b, before_p, before_q);
      const auto kept = dimesh::to_rank(shared, 0);
      dimesh::load_checkpoint(at.path, {.casts = true}, part("a", b));
      const auto found = dimesh::to_rank(b, 0);
      const auto wanted = dimesh::to_rank(a, 0);
      REQUIRE(found.size() == wanted.size());
      for (std::size_t i = 0; i < found.size(); ++i) CHECK(double(found[i]) == wanted[i]);
      CHECK(halos_of(b, before_p, before_q) == held);
      CHECK(dimesh::to_rank(shared, 0) == kept);
    };
    check(of(tensor<double, whole, p, q>{}, 0, -1), 0, 0);
    check(wide(of(tensor<double, H, p, q>{}, 0, -1)), 2, 1);
    check(dimesh::halo_exchange<1, q>(of(tensor<double, columns, p, q>{}, 0, -2)), 0, 1);
    check(wide(of(tensor<float, whole, p, q>{}, 0, -3)), 2, 1);
    check(dimesh::halo_exchange<1, p>(of(tensor<float, H, p, q>{}, 0, -4)), 1, 0);
  });
}

TEST_CASE(
    "start_save_checkpoint: what goes wrong is thrown on every rank, and leaves what was there") {
  with_grid([](const dimesh::grid<plane>& g) {
    const scratch at("fails");
    const auto s = filled<state<rows>>(g, 1);
    dimesh::save_checkpoint(at.path, {.step = 1}, {}, part("m", s));
    CHECK(has(said([&] { (void)start_save_checkpoint(at.path, {.step = 1}, {}, part("m", s)); }),
              "there is a checkpoint of this step already"));
    // Somebody removes the folder: a thread of some rank finds no file there.
    auto saving = start_save_checkpoint(at.path, {.step = 2}, {}, part("m", s));
    on_first([&] {
      for (const auto& e : fs::directory_iterator(at.path))
        if (std::error_code ignored; e.path().filename().string()[0] == '.')
          while (fs::exists(e.path())) fs::remove_all(e.path(), ignored);
    });
    CHECK(has(said([&] { saving.finish(); }), "checkpoint: '" + at.path));
    CHECK(has(said([&] { (void)saving.done(); }), "checkpoint: '" + at.path));  // and again
    // Dropped: as if it never was.
    { const auto dropped = start_save_checkpoint(at.path, {.step = 3}, {}, part("m", s)); }
    auto moved = start_save_checkpoint(at.path, {.step = 4}, {.keep_last = 1}, part("m", s));
    auto there = std::move(moved);
    CHECK(has(said([&] { moved.finish(); }),
              "started_save: moved from; ask the one it was moved to"));
    there.finish();
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(cp::steps_in(at.path) == std::vector<index_t>{4});
    auto t = filled<state<rows>>(g, 0);
    CHECK(dimesh::load_checkpoint(at.path, {}, part("m", t)).step == 4);
    check_same(t, s);
  });
}

TEST_CASE("start_save_checkpoint: ranks hear of a checkpoint, or of a failure, at the same step") {
  with_grid([](const dimesh::grid<plane>& g) {
    const scratch at("alike");
    const auto s = filled<state<rows>>(g, 1);
    for (index_t step = 0; step < 20; ++step) {
      auto saving = start_save_checkpoint(at.path, {.step = step}, {}, part("m", s));
      until_done(saving);
    }
    auto saving = start_save_checkpoint(at.path, {.step = 20}, {}, part("m", s));
    on_first([&] {
      for (const auto& e : fs::directory_iterator(at.path))
        if (std::error_code ignored; e.path().filename().string()[0] == '.')
          while (fs::exists(e.path())) fs::remove_all(e.path(), ignored);
    });
    std::string text;
    while (text.empty()) {
      text = said([&] { (void)saving.done(); });
      CHECK(alike(text.empty()));
    }
    CHECK(has(text, "checkpoint: '" + at.path));
    // Two saves of one step: the later one is not disturbed by the end of the other.
    std::optional<started_save> one(start_save_checkpoint(at.path, {.step = 30}, {}, part("m", s)));
    one.emplace(start_save_checkpoint(at.path, {.step = 30}, {}, part("m", s)));
    one->finish();
    auto t = filled<state<rows>>(g, 0);
    CHECK(dimesh::load_checkpoint(at.path, {}, part("m", t)).step == 30);
  });
}

TEST_CASE("what killed saves have left on this host is removed, and nothing else") {
  const scratch at("dead");
  if (!scratch::first()) return;
  // The number of a process that ran, and runs no more.
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  const std::string dead = cp::host_name() + "." + std::to_string(child);
  // And of one that has ended, which nobody has asked about yet.
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  siginfo_t how;
  waitid(P_PID, static_cast<id_t>(ended), &how, WEXITED | WNOWAIT);
  const std::string asleep = at.path + "/.step-8." + cp::host_name() + "." + std::to_string(ended);
  const std::vector<std::string> stay = {".step-2.elsewhere.1", ".step-2." + cp::host_name() + ".1",
                                         ".step-2." + cp::host_name() + ".x", "step-2",
                                         "own." + dead};
  fs::create_directories(at.path);
  for (const auto& name : stay) fs::create_directory(at.path + "/" + name);
  fs::create_directory(at.path + "/.step-7." + dead);
  fs::create_directory(asleep);
  cp::write_text(at.path + "/.step-7." + dead + "/model.safetensors", "x");
  cp::write_text(at.path + "/.latest." + dead, "step-7\n");
  cp::commit(at.path, 9).make_folder();
  for (const auto& name : stay) CHECK(fs::exists(at.path + "/" + name));
  CHECK(!fs::exists(at.path + "/.step-7." + dead));
  CHECK(!fs::exists(at.path + "/.latest." + dead));
  CHECK(!fs::exists(asleep));
  waitpid(ended, nullptr, 0);
}

}  // namespace
