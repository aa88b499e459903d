// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/memory/slab.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "dimesh/memory/storage.hpp"

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

TEST_CASE("a large one has its own slab and leaves the others where they are") {
  if (!slabs::serves) return;
  slabs s;
  auto* const before = static_cast<std::byte*>(s.take(slabs::least));
  constexpr std::size_t bytes = std::size_t{80} << 20;
  auto* const p = static_cast<std::byte*>(s.take(bytes));
  p[0] = p[bytes - 1] = std::byte{1};
  CHECK(s.take(slabs::least) == before + slabs::least);
  CHECK((p + bytes <= before || p >= before + 2 * slabs::least));
  s.give_back();
}

TEST_CASE("a full slab is followed by another") {
  if (!slabs::serves) return;
  slabs s;
  constexpr std::size_t bytes = std::size_t{6} << 20;
  std::vector<unsigned char*> held;
  for (unsigned char i = 0; i < 12; ++i) {
    held.push_back(static_cast<unsigned char*>(s.take(bytes)));
    std::memset(held.back(), i, bytes);
  }
  for (unsigned char i = 0; i < 12; ++i) {
    CHECK(held[i][0] == i);
    CHECK(held[i][bytes - 1] == i);
  }
  s.give_back();
}

TEST_CASE("small ones are not served") {
  slabs s;
  CHECK(s.take(slabs::least - 1) == nullptr);
}

TEST_CASE("the pool serves big buffers from slabs, again and again") {
  if (!slabs::serves) return;
  // Sizes that nothing else in this program asks for: both are made here, side by side.
  constexpr std::size_t bytes = slabs::least * 5;
  const auto at = [](const storage& x) { return static_cast<const std::byte*>(x.data()); };
  const std::byte *first, *second;
  {
    const storage a = storage::acquire(bytes), b = storage::acquire(bytes);
    first = at(a), second = at(b);
    CHECK(second == first + bytes);
  }
  const storage b = storage::acquire(bytes), a = storage::acquire(bytes);
  CHECK((at(a) == first || at(a) == second));
  CHECK((at(b) == first || at(b) == second));
}

}  // namespace
