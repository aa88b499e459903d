// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4 6 8
// labels: device
#include "dimesh/grid.hpp"

#include <doctest/doctest.h>

#include "support/laws.hpp"

namespace {
using namespace dimesh;

struct rows : axis<> {};
struct cols : axis<> {};
struct deep : axis<> {};
struct two : axis<2> {};
struct hundred : axis<100> {};
struct pod : mesh<rows, cols> {};
struct cube : mesh<rows, cols, deep> {};
struct half : mesh<rows, two> {};
struct flat : mesh<> {};
struct huge : mesh<hundred> {};

int world_size() {
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}
int world_rank() {
  int r = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  return r;
}
/// The text of the error that a call throws; empty if it throws none.
template <class F> std::string error_of(const F& f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("ranks are numbered row-major, the last axis fastest") {
  test_support::for_each_sizes<cube>(world_size(), [](const mesh_sizes<cube>& s) {
    const grid<cube> g(deep{s[2]}, rows{s[0]}, cols{s[1]});  // in any order
    CHECK(g.size<rows>() == s[0]);
    CHECK(g.size<cols>() == s[1]);
    CHECK(g.size<deep>() == s[2]);
    CHECK(g.rank() == world_rank());
    CHECK(g.ranks() == world_size());
    CHECK((g.coord<rows>() * s[1] + g.coord<cols>()) * s[2] + g.coord<deep>() == world_rank());
    CHECK(g.state().is_first(0));
    CHECK(g.state().is_first(0b001) == (g.coord<rows>() == 0));
    CHECK(g.state().is_first(0b110) == (g.coord<cols>() == 0 && g.coord<deep>() == 0));
    CHECK(g.coord<deep>() < s[2]);
    CHECK(g.coord<cols>() < s[1]);
  });
}

TEST_CASE("every set of axes has its communicator, in row-major order") {
  test_support::for_each_sizes<cube>(world_size(), [](const mesh_sizes<cube>& s) {
    const grid<cube> g(rows{s[0]}, cols{s[1]}, deep{s[2]});
    for (unsigned set = 0; set < 8; ++set) {
      const auto& c = g.state().along(set);
      index_t size = 1, rank = 0;
      for (int a = 0; a < 3; ++a)
        if (set >> a & 1u) {
          size *= s[a];
          rank = rank * s[a] + g.state().coords()[a];
        }
      CHECK(c.size() == size);
      CHECK(c.rank() == rank);
      CHECK(c.axes() == set);
      // Its members differ along these axes only.
      for (int a = 0; a < 3; ++a) {
        int mine = static_cast<int>(g.state().coords()[a]), low = 0, high = 0;
        MPI_Allreduce(&mine, &low, 1, MPI_INT, MPI_MIN, c.handle());
        MPI_Allreduce(&mine, &high, 1, MPI_INT, MPI_MAX, c.handle());
        CHECK(low == (set >> a & 1u ? 0 : mine));
        CHECK(high == (set >> a & 1u ? s[a] - 1 : mine));
      }
    }
    CHECK(g.along<cols>() == g.state().along(2).handle());
    CHECK(g.along<deep, rows>() == g.state().along(5).handle());
  });
}

TEST_CASE("communicators may first be used by some ranks only") {
  if (world_size() % 2 != 0) return;
  const grid<half> g(rows{world_size() / 2});
  if (g.coord<rows>() == 0) {  // the others never ask for it
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, g.along<two>());
    CHECK(sum == 2);
  }
}

TEST_CASE("one axis without a size takes what is left") {
  const grid<pod> g(MPI_COMM_WORLD, cols{1});
  CHECK(g.size<rows>() == world_size());
  const grid<pod> h(rows{world_size()});
  CHECK(h.size<cols>() == 1);
  if (world_size() % 2 == 0) {
    const grid<half> k;
    CHECK(k.size<rows>() == world_size() / 2);
  }
}

TEST_CASE("a mesh without axes is one rank") {
  if (world_size() == 1)
    CHECK(grid<flat>().ranks() == 1);
  else
    CHECK(has(error_of([] { grid<flat> g; }), "does not fit"));
  const grid<flat> alone(MPI_COMM_SELF);
  CHECK(alone.rank() == 0);
}

TEST_CASE("sizes that do not fit: an error on every rank, naming mesh, axes and sizes") {
  const std::string n = std::to_string(world_size());
  const std::string wrong = error_of([] { grid<pod> g(rows{world_size() + 1}, cols{1}); });
  CHECK(has(wrong, "grid: mesh 'pod' (rows=" + std::to_string(world_size() + 1) +
                       " x cols=1) does not fit " + n + " ranks"));
  CHECK(has(error_of([] { grid<huge> g; }),
            "mesh 'huge' (hundred=100) does not fit " + n + " ranks"));
  CHECK(has(error_of([] { grid<pod> g(rows{world_size() + 1}); }), "cols=?"));
  CHECK(has(error_of([] { grid<pod> g(rows{0}, cols{1}); }),
            "axis 'rows' of mesh 'pod' has size 0; give it at least 1"));
  CHECK(has(error_of([] { grid<pod> g(cols{-3}); }), "axis 'cols' of mesh 'pod' has size -3"));
  CHECK(
      has(error_of([] { grid<pod> g; }), "axes 'rows' and 'cols' of mesh 'pod' both lack a size"));
  CHECK(has(error_of([] { grid<huge> g(hundred{world_size()}); }),
            "axis 'hundred' of mesh 'huge' has 100 ranks by its type, and " + n + " are given"));
  if (world_size() % 2 != 0) CHECK(has(error_of([] { grid<half> g; }), "rows=? x two=2"));
  // And afterwards the job goes on.
  CHECK(grid<pod>(rows{1}).ranks() == world_size());
}

TEST_CASE("two grids, each on a part of the ranks") {
  MPI_Comm part = MPI_COMM_NULL;
  const int mine = world_rank() % 2;
  MPI_Comm_split(MPI_COMM_WORLD, mine, world_rank(), &part);
  {
    const grid<pod> g(part, cols{1});
    const int ranks = (world_size() + 1 - mine) / 2;
    CHECK(g.ranks() == ranks);
    CHECK(g.rank() == world_rank() / 2);
    int sum = 0, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, g.along<rows>());
    CHECK(sum == ranks);
    // Tensors on either grid know nothing of the other.
    using X = tensor<double, layout<pod, split<uneven<test_support::p>, rows>>, test_support::p>;
    const test_support::array a =
        test_support::numbers({"p"}, {7}, 1u + static_cast<unsigned>(mine));
    CHECK(test_support::agrees(test_support::scattered<X>(g, a), a));
  }
  MPI_Comm_free(&part);  // the grid had its own
}

TEST_CASE("the communicator of a grid is its own: traffic on the other never meets it") {
  const grid<pod> g(cols{1});
  int same = MPI_UNEQUAL;
  MPI_Comm_compare(g.everyone().handle(), MPI_COMM_WORLD, &same);
  CHECK(same == MPI_CONGRUENT);
}

TEST_CASE("what MPI refuses becomes an exception with its text") {
  const grid<pod> g(cols{1});
  int x = 0;
  const std::string text = error_of([&] {
    detail::check(MPI_Bcast(&x, 1, MPI_INT, world_size() + 5, g.everyone().handle()), "broadcast");
  });
  CHECK(has(text, "broadcast: MPI reports '"));
  CHECK(has(text, "on rank " + std::to_string(world_rank())));
}

}  // namespace
