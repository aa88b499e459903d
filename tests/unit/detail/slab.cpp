// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/detail/slab.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>

#include "dimesh/detail/pool.hpp"

namespace {
using dimesh::detail::slabs;
using dimesh::detail::storage;

TEST_CASE("what slabs hand out is aligned, apart, and as long as it was asked for") {
  if (!slabs::serves) return;
  slabs s;
  for (int round = 0; round < 2; ++round) {
    unsigned char* held[8];
    for (int i = 0; i < 8; ++i) {
      const std::size_t bytes = slabs::least * std::size_t(i + 1) + std::size_t(i);
      held[i] = static_cast<unsigned char*>(s.take(bytes));
      REQUIRE(held[i] != nullptr);
      CHECK(reinterpret_cast<std::uintptr_t>(held[i]) % 64 == 0);
      std::memset(held[i], i, bytes);
    }
    for (int i = 0; i < 8; ++i) {
      CHECK(held[i][0] == i);
      CHECK(held[i][slabs::least * std::size_t(i + 1) + std::size_t(i) - 1] == i);
    }
    s.give_back();
  }
}

TEST_CASE("one that is larger than a slab has its own") {
  if (!slabs::serves) return;
  slabs s;
  constexpr std::size_t bytes = std::size_t{80} << 20;
  auto* const p = static_cast<unsigned char*>(s.take(bytes));
  p[0] = 1, p[bytes - 1] = 2;
  CHECK(s.take(slabs::least) != nullptr);
  s.give_back();
}

TEST_CASE("small ones are not served") {
  slabs s;
  CHECK(s.take(slabs::least - 1) == nullptr);
}

TEST_CASE("the pool serves big buffers from slabs, again and again") {
  const void* first = nullptr;
  {
    const storage a = storage::acquire(slabs::least);
    first = a.data();
    std::memset(a.data(), 1, slabs::least);
  }
  const storage b = storage::acquire(slabs::least);
  CHECK(b.data() == first);
}

}  // namespace
