// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// alone: another header's `half` is in its way
#include "dimesh/memory/storage.hpp"

#include <doctest/doctest.h>
#if defined(__linux__)
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <atomic>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "dimesh/element/bfloat16.hpp"
#include "dimesh/element/half.hpp"

namespace {
using namespace dimesh;
using detail::pool;
using detail::storage;

index_t allocations() { return pool::instance().figures().allocations; }
index_t live() { return pool::instance().figures().live; }

TEST_CASE("a buffer that was given back serves the next request of its size") {
  const dimesh::detail::opened elements;
  const void* first = nullptr;
  {
    const storage s = storage::acquire(5000);
    first = s.data();
    std::memset(s.data(), 1, 5000);
  }
  const index_t before = allocations();
  const storage t = storage::acquire(5000);
  CHECK(t.data() == first);
  CHECK(allocations() == before);
  const storage u = storage::acquire(5000);  // the first is taken
  CHECK(u.data() != first);
  CHECK(allocations() == before + 1);
}

TEST_CASE("every size is served, aligned, with room for all of it, wasting a quarter at most") {
  const dimesh::detail::opened elements;
  for (std::size_t bytes = 0; bytes < 3000; ++bytes) {
    const storage s = storage::acquire(bytes);
    REQUIRE(s.data() != nullptr);
    REQUIRE(reinterpret_cast<std::uintptr_t>(s.data()) % 64 == 0);
    if (bytes > 0) std::memset(s.data(), 0xab, bytes);
  }
  for (std::size_t power = 12; power < 24; ++power)
    for (const std::size_t bytes :
         {(std::size_t{1} << power) - 1, std::size_t{1} << power, (std::size_t{1} << power) + 1}) {
      const storage s = storage::acquire(bytes);
      static_cast<char*>(s.data())[bytes - 1] = 1;
    }
}

TEST_CASE("a fresh buffer is spoilt where the pool is told so, and as it was left where not") {
  const dimesh::detail::opened elements;
  const auto write_and_return = [] {
    const storage s = storage::acquire(9000);
    std::memset(s.data(), 1, 9000);
  };
  const auto first = [] { return *static_cast<const double*>(storage::acquire(9000).data()); };
  write_and_return();
  pool::instance().spoil_fresh(true);
  CHECK(first() != first());  // NaN
  pool::instance().spoil_fresh(false);
  write_and_return();
  CHECK(first() == first());
  pool::instance().spoil_fresh(true);
}

/// What spoilt memory is as an element: NaN for numbers that have one, -1 for integers.
template <class T> bool is_spoilt() {
  const storage s = storage::acquire(10 * sizeof(T));
  T x[10];
  std::memcpy(x, s.data(), sizeof x);
  bool all = true;
  for (const T& v : x) {
    if constexpr (std::is_integral_v<T>)
      all = all && v == static_cast<T>(-1);
    else
      all = all && v != v;
  }
  return all;
}
TEST_CASE("fresh memory is no number of any type") {
  const dimesh::detail::opened elements;
  pool::instance().spoil_fresh(true);
  CHECK(is_spoilt<float>());
  CHECK(is_spoilt<double>());
  CHECK(is_spoilt<long double>());
  CHECK(is_spoilt<bfloat16>());
  CHECK(is_spoilt<half>());
  CHECK(is_spoilt<std::complex<float>>());
  CHECK(is_spoilt<std::complex<double>>());
  CHECK(is_spoilt<std::int8_t>());
  CHECK(is_spoilt<std::int16_t>());
  CHECK(is_spoilt<std::int32_t>());
  CHECK(is_spoilt<std::int64_t>());
  CHECK(is_spoilt<std::uint8_t>());
  CHECK(is_spoilt<std::uint16_t>());
  CHECK(is_spoilt<std::uint32_t>());
  CHECK(is_spoilt<std::uint64_t>());
}

TEST_CASE("after a first round nothing more is asked of the system") {
  const std::vector<std::size_t> sizes = {100, 4096, 100, 77777, 1, 64, 65, 4097};
  const auto round = [&] {
    std::vector<storage> held;
    for (const std::size_t bytes : sizes) held.push_back(storage::acquire(bytes));
  };
  round();
  const index_t before = allocations();
  for (int i = 0; i < 10; ++i) round();
  CHECK(allocations() == before);
}

TEST_CASE("handles count their owners") {
  const index_t before = live();
  storage s = storage::acquire(1000);
  CHECK(live() == before + 1000);
  CHECK(s.alone());
  {
    const storage t = s;
    CHECK(!s.alone());
    CHECK(t.data() == s.data());
    const storage part = s.at(256);
    CHECK(static_cast<std::byte*>(part.data()) == static_cast<std::byte*>(s.data()) + 256);
    CHECK(live() == before + 1000);
  }
  CHECK(s.alone());
  {
    const storage part = s.at(256);
    CHECK(!s.alone());
  }
  CHECK(s.alone());
  storage moved = std::move(s);
  CHECK(!s);  // NOLINT: a moved-from handle holds nothing
  CHECK(moved.alone());
  const storage part = moved.at(512);
  moved = storage{};
  CHECK(part.alone());  // the part keeps the whole buffer alive
  CHECK(live() == before + 1000);
  storage& same = moved;
  moved = storage::acquire(8);
  moved = same;
  CHECK(moved.alone());
}

TEST_CASE("parts have owners of their own, and keep the buffer") {
  const index_t before = live();
  storage s = storage::acquire(1000);
  storage first = s.part(0), second = s.part(512);
  CHECK(static_cast<std::byte*>(second.data()) == static_cast<std::byte*>(s.data()) + 512);
  CHECK(!s.alone());
  s = {};
  CHECK(first.alone());
  CHECK(second.alone());
  CHECK(live() == before + 1000);
  {
    const storage copy = first;
    CHECK(!first.alone());
    CHECK(second.alone());
    const storage inner = second.part(64);
    CHECK(inner.alone());
    CHECK(!second.alone());
  }
  CHECK(second.alone());
  first = {};
  CHECK(live() == before + 1000);
  second = {};
  CHECK(live() == before);
}

TEST_CASE("figures: what is live, and the most that was") {
  const index_t before = live();
  pool::instance().restart_peak();
  { const storage a = storage::acquire(300), b = storage::acquire(200); }
  const storage c = storage::acquire(100);
  CHECK(pool::instance().figures().peak == before + 500);
  CHECK(live() == before + 100);
}

TEST_CASE("threads that make buffers for others find them again: nothing grows") {
  constexpr std::size_t size = 77777;
  for (const bool spoilt : {false, true}) {
    pool::instance().spoil_fresh(spoilt);
    const index_t before = live();
    index_t made = 0;
    for (int round = 0; round < 20; ++round) {
      storage theirs;
      std::thread([&theirs] { theirs = storage::acquire(size); }).join();
      CHECK(live() == before + static_cast<index_t>(size));
      const storage mine = storage::acquire(size);
      CHECK(mine.data() != theirs.data());
      std::thread([gone = std::move(theirs)]() mutable { gone = {}; }).join();
      CHECK(live() == before + static_cast<index_t>(size));
      if (round == 1) made = allocations();
    }
    for (int round = 0; round < 20; ++round) {
      storage mine = storage::acquire(size), theirs;
      std::thread([&] { theirs = storage::acquire(size), mine = {}; }).join();
      theirs = {};
      CHECK(live() == before);
      if (round == 1) made = allocations() - made;
    }
    CHECK(made <= 2);
    made = allocations();
    for (int round = 0; round < 20; ++round) {
      const storage mine = storage::acquire(size);
      std::thread([] { const storage theirs = storage::acquire(size); }).join();
    }
    CHECK(allocations() == made);
  }
  pool::instance().spoil_fresh(true);
}

TEST_CASE(
    "the lists of a thread that ends are everybody's, and only one that computes has its own") {
  using dimesh::detail::buffer;
  constexpr std::size_t size = 77777;
  static pool& fresh = *new pool(nullptr);  // Kokkos' end asks for it
  fresh.spoil_fresh(false);
  const auto turn = [](bool computes) {
    if (computes) dimesh::detail::this_thread_computes();
    buffer* const a = fresh.acquire(size);
    buffer* const b = fresh.acquire(size);
    CHECK(a != b);
    CHECK(a->of_owner == computes);
    fresh.release(a);
    fresh.release(b);
  };
  buffer* left = nullptr;
  std::thread(turn, false).join();
  std::thread(turn, true).join();
  std::thread([&] { turn(true), left = fresh.acquire(size); }).join();
  CHECK(fresh.figures().live == size);
  std::thread([&] { turn(true), fresh.release(left); }).join();
  std::thread(turn, false).join();
  CHECK(fresh.figures().live == 0);
  CHECK(fresh.figures().peak == 3 * size);
  CHECK(fresh.figures().allocations == 3);
}

TEST_CASE("threads that take buffers at once get each its own") {
  const index_t before = live();
  std::vector<std::thread> all;
  std::atomic<int> wrong{0};
  const auto work = [&wrong](int number) {
    for (int i = 0; i < 2000; ++i) {
      const storage a = storage::acquire(64), b = storage::acquire(64);
      const storage shared = a;
      const dimesh::detail::opened elements;
      auto* const p = static_cast<volatile int*>(a.data());
      auto* const q = static_cast<volatile int*>(b.data());
      *p = number;
      *q = number;
      if (*p != number || p == q) ++wrong;
    }
  };
  for (int number = 1; number < 4; ++number) all.emplace_back(work, number);
  work(0);
  for (std::thread& t : all) t.join();
  CHECK(wrong == 0);
  CHECK(live() == before);
}

/// A space with little room.
struct narrow {
  static inline std::size_t left = std::size_t{1} << 20;
  static inline std::map<void*, std::size_t> taken;
  static void* take(std::size_t n) {
    if (n > left) throw std::bad_alloc();
    void* const at = std::aligned_alloc(64, n);
    left -= n, taken[at] = n;
    return at;
  }
  static void give_back(void* at) {
    left += taken.extract(at).mapped();
    std::free(at);
  }
};
TEST_CASE(
    "where a space has no room left, free buffers make some, and an error says that none is") {
  static constexpr detail::space_facts facts = [] {
    detail::space_facts f = detail::facts_of_memory<Kokkos::HostSpace>;
    f.name = "narrow", f.take = &narrow::take, f.give_back = &narrow::give_back;
    return f;
  }();
  auto* const buffers = new pool(&facts);  // drained when Kokkos ends
  buffers->release(buffers->acquire(600'000));
  detail::buffer* const held = buffers->acquire(100'000);
  detail::buffer* const large = buffers->acquire(700'000);
  CHECK(large->capacity >= 700'000);
  CHECK_THROWS_WITH_AS((void)buffers->acquire(2'000'000),
                       "tensor: narrow has no 2097152 bytes left; of this process 800000 bytes are "
                       "in use there, and 0 were freed in vain",
                       dimesh::error);
  CHECK(buffers->figures().live == 800'000);
  CHECK(buffers->figures().allocations == 3);
  buffers->release(held);
  buffers->release(large);
}

#if defined(__linux__) && !defined(DIMESH_CHECKED)  // which would write all of it
/// Bytes of addresses that this process has.
std::size_t addresses() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}
TEST_CASE("the same of the host's memory, whose large buffers have slabs of their own") {
  if (!detail::slabs::serves) return;
  const std::size_t mib = std::size_t{1} << 20;
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit narrow{addresses() + 1024 * mib, before.rlim_max};
  setrlimit(RLIMIT_AS, &narrow);
  { const storage s = storage::acquire(600 * mib); }
  { const storage s = storage::acquire(800 * mib); }  // there is room for one of them
  std::string said;
  try {
    const storage s = storage::acquire(2000 * mib);
  } catch (const dimesh::error& e) {
    said = e.what();
  }
  setrlimit(RLIMIT_AS, &before);
  CHECK(said.find("bytes left; of this process") != std::string::npos);
}
#endif

TEST_CASE("an empty handle") {
  const storage none;
  CHECK(!none);
  CHECK(none.data() == nullptr);
  CHECK(!none.alone());
  const storage copy = none;
  CHECK(!copy);
}

}  // namespace
