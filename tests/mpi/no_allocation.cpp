// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does a training step allocate once it has run twice? Counted: every operator new of the program,
// every allocation through Kokkos and every buffer that the pool asks the system for. What MPI and
// the numerical libraries take for themselves is not.
// ranks: 1 2 4
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/accumulate.hpp>
#include <dimesh/grad/overlap.hpp>
#include <dimesh/grad/recompute.hpp>
#include <dimesh/optim/adafactor.hpp>
#include <dimesh/optim/adam.hpp>
#include <dimesh/optim/clip.hpp>
#include <dimesh/optim/sgd.hpp>
#include <dimesh/optim/sharded.hpp>

#include <doctest/doctest.h>

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <impl/Kokkos_Profiling.hpp>
#include <new>
#include <string_view>
#include <vector>

namespace {
std::atomic<long> news{0}, kokkos_allocations{0};
/// Is this address in the code of MPI or of a numerical library?
bool is_foreign(const void* caller) {
  Dl_info where{};
  if (dladdr(caller, &where) == 0 || where.dli_fname == nullptr) return false;
  const std::string_view file(where.dli_fname);
  for (const char* name : {"libdnnl", "blas", "libmpi", "libopen-", "libmpich", "libucp"})
    if (file.find(name) != file.npos) return true;
  return false;
}
void* counted(std::size_t bytes, std::size_t alignment, const void* caller) {
  if (!is_foreign(caller)) ++news;
  void* p = alignment <= alignof(std::max_align_t)
                ? std::malloc(bytes)
                : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void on_allocation(Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t) {
  ++kokkos_allocations;
}
}  // namespace

void* operator new(std::size_t n) { return counted(n, 1, __builtin_return_address(0)); }
void* operator new[](std::size_t n) { return counted(n, 1, __builtin_return_address(0)); }
void* operator new(std::size_t n, std::align_val_t a) {
  return counted(n, static_cast<std::size_t>(a), __builtin_return_address(0));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return counted(n, static_cast<std::size_t>(a), __builtin_return_address(0));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

namespace dm = dimesh;

struct batch : dm::dim<48> {};
struct pixel : dm::dim<72> {};
struct hidden : dm::dim<96> {};
struct label : dm::dim<10> {};
struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, pixel, hidden>, w1),
                           (dm::tensor<float, L, hidden>, b1),
                           (dm::tensor<float, L, hidden, label>, w2),
                           (dm::tensor<float, L, label>, b2));
};

struct loss {
  template <class P, class X, class T>
  constexpr auto operator()(const P& p, const X& x, const T& target) const {
    constexpr auto activate = [](auto z, auto b) { return dm::gelu(z + b); };
    auto h = dm::map(activate, dm::complete(dm::einsum<batch, hidden>(x, p.w1)), p.b1);
    auto y = dm::complete(dm::einsum<batch, label>(h, p.w2)) + p.b2;
    return dm::mean<batch>(dm::log_sum_exp<label>(y) - dm::einsum<batch>(y, target));
  }
};

struct allocations {
  long news, kokkos, pool;
  static allocations now() {
    return {news_now(), kokkos_allocations.load(),
            static_cast<long>(dm::detail::pool::instance().figures().allocations)};
  }
  static long news_now() { return ::news.load(); }
};

/// What `steps` more steps allocate after two. Kokkos' callbacks are for a second round: while they
/// are set, Kokkos itself makes a name for every kernel.
template <class F> allocations beyond_warm_up(int steps, F&& step) {
  step();
  step();
  const allocations before = allocations::now();
  for (int i = 0; i < steps; ++i) step();
  const allocations after = allocations::now();
  Kokkos::Tools::Experimental::set_allocate_data_callback(&on_allocation);
  for (int i = 0; i < steps; ++i) step();
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  return {after.news - before.news, kokkos_allocations.load() - after.kokkos,
          after.pool - before.pool};
}

struct nothing {
  KOKKOS_FUNCTION void operator()(int) const {}
};

/// Does Kokkos itself make no object to start a kernel and to wait for it? Some versions and
/// backends make names or the like; what then is counted of our own are buffers.
bool kokkos_makes_none() {
#ifdef DIMESH_CHECKED
  return false;  // ranks tell each other in texts what they are about to do
#endif
  const auto once = [] {
    Kokkos::parallel_for(Kokkos::RangePolicy<>(0, 1), nothing{});
    Kokkos::fence();
  };
  once();
  const long before = allocations::news_now();
  once();
  return allocations::news_now() == before;
}

/// Trains under a layout, by both optimizers.
template <class L> allocations train(const dm::grid<pod>& g) {
  network<L> p = dm::make<network<L>>(g);
  dm::for_each_tensor([](const auto&, auto& t) { dm::fill(t, 0.01f); }, p);
  dm::tensor<float, L, batch, pixel> x(g);
  dm::tensor<float, L, batch, label> target(g);
  dm::fill(x, 0.5f);
  dm::fill(target, 0.1f);
  const dm::momentum roll{.rate = 1e-3};
  const dm::adam descend{.rate = 1e-3};
  auto m = roll.start(p);
  auto state = descend.start(p);
  float last = 0;
  return beyond_warm_up(5, [&] {
    auto step = dm::complete(dm::value_and_grad(loss{}, p)(x, target));
    last += dm::value(step.value);
    roll(p, step.gradient, m);
    descend(p, step.gradient, state);
  });
}

template <class L> void check_layout(const dm::grid<pod>& g) {
  const allocations a = train<L>(g);
  if (kokkos_makes_none()) CHECK(a.news == 0);
  CHECK(a.kokkos == 0);
  CHECK(a.pool == 0);
}

/// A mesh for any number of ranks: 1 x 1, 1 x 2, 2 x 2.
int rows_of(int ranks) { return ranks % 4 == 0 ? 2 : 1; }

TEST_CASE("a training step allocates nothing after two") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<pod> g(rows{rows_of(ranks)}, cols{ranks / rows_of(ranks)});
  using dm::split;
  check_layout<dm::layout<pod>>(g);
  check_layout<dm::layout<pod, split<batch, rows>, split<hidden, cols>>>(g);
  check_layout<dm::layout<pod, split<pixel, rows>, split<batch, cols>>>(g);
}

TEST_CASE("accumulation, recomputation, overlap, Adafactor and ZeRO allocate nothing after two") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<pod> g(rows{rows_of(ranks)}, cols{ranks / rows_of(ranks)});
  using L = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, cols>>;
  network<L> p = dm::make<network<L>>(g);
  dm::for_each_tensor([](const auto&, auto& t) { dm::fill(t, 0.01f); }, p);
  dm::tensor<float, L, batch, pixel> x(g);
  dm::tensor<float, L, batch, label> target(g);
  dm::fill(x, 0.5f);
  dm::fill(target, 0.1f);
  const auto again = dm::recompute(loss{});
  const dm::adafactor factored;
  const auto spread = dm::sharded<dm::layout<pod, dm::spread<rows>>>(dm::adam{});
  auto state = factored.start(p);
  auto shares = spread.start(p);
  const allocations a = beyond_warm_up(5, [&] {
    auto step = dm::complete(
        dm::accumulate(2, [&](dm::index_t) { return dm::value_and_grad(again, p)(x, target); }));
    dm::clip_by_global_norm(step.gradient, 1);
    factored(p, step.gradient, state);
    spread(p, dm::value_and_grad(loss{}, p)(x, target).gradient, shares);
    (void)dm::value_and_grad_all_reduce(loss{}, p, {.bucket = 4096})(x, target);
  });
  if (kokkos_makes_none()) CHECK(a.news == 0);
  CHECK(a.kokkos == 0);
  CHECK(a.pool == 0);
}

TEST_CASE("collectives and changes of layout allocate nothing after two") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<pod> g(rows{rows_of(ranks)}, cols{ranks / rows_of(ranks)});
  using dm::split;
  dm::tensor<float, dm::layout<pod, split<batch, cols>>, batch, hidden> x(g);
  dm::fill(x, 1.0f);
  const allocations a = beyond_warm_up(5, [&] {
    const auto whole = dm::all_gather<cols>(x);
    const auto other = dm::relayout<dm::layout<pod, split<hidden, cols>>>(x);
    const auto back = dm::all_to_all<hidden, batch, cols>(other);
    const auto addends = dm::einsum<hidden>(x, x);
    const auto scattered = dm::reduce_scatter<hidden, cols>(addends);
  });
  if (kokkos_makes_none()) CHECK(a.news == 0);
  CHECK(a.kokkos == 0);
  CHECK(a.pool == 0);
}

TEST_CASE("the counters see what is allocated") {
  const allocations a = beyond_warm_up(3, [] {
    int* volatile made = new int(1);  // volatile: compilers may leave out a pair of new and delete
    delete made;
  });
  CHECK(a.news == 3);
  const allocations b =
      beyond_warm_up(3, [] { Kokkos::kokkos_free(Kokkos::kokkos_malloc("probe", 64)); });
  CHECK(b.kokkos == 3);
  std::vector<dm::detail::storage> held;
  held.reserve(8);
  const allocations c = beyond_warm_up(
      3, [&] { held.push_back(dm::detail::storage::acquire(std::size_t{1} << 20)); });
  CHECK(c.pool == 3);
}

}  // namespace
