// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much does a rank read of a checkpoint? Its blocks, and its share of what is compared with
// checksums. Stages of a pipeline read what is theirs, whichever stage had it when it was saved.
// ranks: 1 2 4
// labels: local
// alone: calls of MPI and of the C library, and operator new, stand here for those of the program
#include <doctest/doctest.h>

#include <dlfcn.h>
#include <sys/uio.h>
#include <atomic>
#include <cstdlib>
#include <new>

#include "dimesh/io/checkpoint/load.hpp"
#include "dimesh/op/cast.hpp"
#include "support/checkpoints.hpp"

namespace {
// What this rank asks MPI for, and what it reads from files at all.
std::atomic<dimesh::index_t> asked{0}, read_here{0};
template <class F> F* next(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}
void ask(int count, MPI_Datatype type) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  asked += dimesh::index_t{count} * bytes;
}
ssize_t counted(ssize_t n) {
  if (n > 0) read_here += n;
  return n;
}
std::atomic<std::size_t> too_many{0};  // bytes that this rank does not have; 0: it has any
}  // namespace

void* operator new(std::size_t n) {
  void* const p = n != 0 && n == too_many ? nullptr : std::malloc(n > 0 ? n : 1);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

extern "C" {
int MPI_File_read_at(MPI_File file, MPI_Offset at, void* to, int count, MPI_Datatype type,
                     MPI_Status* status) {
  ask(count, type);
  return PMPI_File_read_at(file, at, to, count, type, status);
}
int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void* to, int count, MPI_Datatype type,
                         MPI_Status* status) {
  ask(count, type);
  return PMPI_File_read_at_all(file, at, to, count, type, status);
}
ssize_t pread(int file, void* to, size_t bytes, off_t at) {
  return counted(next<ssize_t(int, void*, size_t, off_t)>("pread")(file, to, bytes, at));
}
ssize_t preadv(int file, const iovec* to, int count, off_t at) {
  return counted(next<ssize_t(int, const iovec*, int, off_t)>("preadv")(file, to, count, at));
}
}

namespace {
using namespace test_support;
using dimesh::index_t;

template <class L> using wide = tensor<double, L, p, q>;
/// 512 by 64 doubles.
template <class X> X of_numbers(const dimesh::grid<plane>& g, double by) {
  return dimesh::generate<X>(
      g, [by](index_t i, index_t j) { return by * double(100 * i + j); }, p{512}, q{64});
}
struct reads {
  index_t asked, here, everywhere;
};
template <class F> reads reads_of(const F& f) {
  asked = read_here = 0;
  f();
  index_t all = read_here;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return {asked, read_here, all};
}

TEST_CASE("load_checkpoint: a rank reads its blocks, and its share for checksums") {
  with_grid([](const dimesh::grid<plane>& g) {
    const scratch at("reads");
    const index_t whole_bytes = 512 * 64 * 8, head = 4096, n = g.ranks();
    const auto saved = of_numbers<wide<layout<plane>>>(g, 1);
    dimesh::save_checkpoint(at.path, {.step = 1}, {}, part("w", saved));
    const auto load = [&]<class L>(L) {
      auto w = of_numbers<wide<L>>(g, 0);
      const auto load = [&](bool verify) {
        return reads_of(
            [&] { dimesh::load_checkpoint(at.path, {.verify = verify}, part("w", w)); });
      };
      const reads plain = load(false), verified = load(true);
      CHECK(dimesh::to_rank(w, 0) == dimesh::to_rank(of_numbers<wide<L>>(g, 1), 0));
      CHECK(plain.asked == w.block(0).length * w.block(1).length * 8);
      CHECK(verified.asked == plain.asked);
      CHECK(verified.everywhere - plain.everywhere >= whole_bytes);
      CHECK(verified.everywhere - plain.everywhere <= whole_bytes + head);
      return plain;
    };
    // Split, each rank reads its part. (Between the short runs of columns, MPI may read more.)
    const reads rows_read = load(layout<plane, split<uneven<p>, x>>{});
    CHECK(rows_read.asked == whole_bytes / n);
    CHECK(rows_read.here <= whole_bytes / n + head);
    CHECK(load(layout<plane, split<uneven<q>, x>>{}).asked == whole_bytes / n);
    CHECK(load(layout<plane>{}).asked == whole_bytes);
    // At one place, the others read nothing.
    const auto placed = load(layout<plane, dimesh::placed<x, 0>>{});
    CHECK(placed.asked == (g.rank() == 0 ? whole_bytes : 0));
    CHECK(placed.everywhere <= whole_bytes + n * head);
  });
}

TEST_CASE("load_checkpoint: one rank lacks the memory to convert a tensor; all of them say so") {
  with_grid([](const dimesh::grid<plane>& g) {
    const scratch at("memory");
    const auto saved = of_numbers<wide<layout<plane>>>(g, 1);
    dimesh::save_checkpoint(at.path, {.step = 1}, {}, part("w", saved));
    const auto load = [&]<class L>(L) {
      auto w = dimesh::zeros<tensor<float, L, p, q>>(g, p{512}, q{64});
      const auto bytes = static_cast<std::size_t>(w.local_size()) * sizeof(double);
      const auto load = [&] { dimesh::load_checkpoint(at.path, {.casts = true}, part("w", w)); };
      too_many = g.rank() + 1 == g.ranks() ? bytes : 0;
      const std::string text = said(load);
      too_many = 0;
      has(text, "tensor 'w' cannot be read: std::bad_alloc");
      CHECK(said(load) == "");
      CHECK(dimesh::to_rank(dimesh::cast<double>(w), 0) == dimesh::to_rank(saved, 0));
    };
    load(layout<plane>{});
    load(layout<plane, split<uneven<q>, x>>{});  // in short runs, which MPI puts together
  });
}

struct stage : dimesh::axis<> {};
struct replica : dimesh::axis<> {};
struct pod : dimesh::mesh<stage, replica> {};
template <int K, class... R> using there = layout<pod, dimesh::placed<stage, K>, R...>;
using everywhere = layout<pod>;

template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tensor<double, L, p, q>, w), (tensor<float, L, q>, b));
};
template <class L> layer<L> layer_of(const dimesh::grid<pod>& g, double by) {
  layer<L> s;
  s.w = dimesh::generate<decltype(s.w)>(
      g, [by](index_t i, index_t j) { return by * double(100 * i + j + 1); }, p{6}, q{8});
  s.b = dimesh::generate<decltype(s.b)>(
      g, [by](index_t j) { return float(by * double(j + 1)); }, q{8});
  return s;
}
/// First and last layer at these layouts.
template <class First, class Last> struct model {
  layer<First> first;
  layer<Last> last;
  model(const dimesh::grid<pod>& g, double by)
      : first(layer_of<First>(g, by)), last(layer_of<Last>(g, 3 * by)) {}
};
template <class M> void save(const M& m, const std::string& path, index_t step) {
  dimesh::save_checkpoint(path, {.step = step}, {}, part("first", m.first), part("last", m.last));
}
template <class First, class Last>
void check_loads(const dimesh::grid<pod>& g, const std::string& path) {
  model<First, Last> m(g, 0);
  const model<First, Last> wanted(g, 1);
  dimesh::load_checkpoint(path, {}, part("first", m.first), part("last", m.last));
  check_same(m.first, wanted.first);
  check_same(m.last, wanted.last);
}

TEST_CASE(
    "checkpoints of stages: parts on other stages, on other numbers of stages, split within") {
  int n = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  const scratch at("stages");
  index_t step = 0;
  const auto with_stages = [](int stages, const auto& f) {
    const dimesh::grid<pod> g(MPI_COMM_WORLD, stage{stages}, replica{dimesh::dynamic});
    f(g);
  };
  for (int stages = 1; stages <= n; stages *= 2)
    with_stages(stages, [&](const dimesh::grid<pod>& g) {
      save(model<there<0>, there<0>>(g, 1), at.path, ++step);
      if (stages > 1) save(model<there<0>, there<1>>(g, 1), at.path, ++step);
      if (stages > 1)
        save(model<there<1, split<uneven<p>, replica>>, everywhere>(g, 1), at.path, ++step);
    });
  for (; step > 0; --step)
    for (int stages = 1; stages <= n; stages *= 2)
      with_stages(stages, [&](const dimesh::grid<pod>& g) {
        const std::string path = at.path + "/step-" + std::to_string(step);
        check_loads<there<0>, everywhere>(g, path);
        if (stages > 1) check_loads<there<1>, there<0>>(g, path);
        if (stages > 1) check_loads<there<0, split<uneven<q>, replica>>, there<1>>(g, path);
      });
}

}  // namespace
