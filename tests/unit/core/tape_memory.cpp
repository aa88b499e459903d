// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/core/tape_memory.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <set>

namespace {

using dimesh::detail::tape_memory;

TEST_CASE("places are aligned and apart") {
  tape_memory m;
  std::byte* last = nullptr;
  for (std::size_t bytes = 1; bytes < 3000; bytes += 37) {
    auto* const at = static_cast<std::byte*>(m.take(bytes));
    CHECK(reinterpret_cast<std::uintptr_t>(at) % 64 == 0);
    std::memset(at, 0x5a, bytes);
    if (last != nullptr) CHECK(*last == std::byte{0x5a});
    last = at;
  }
}

TEST_CASE("what is larger than a chunk has one of its own") {
  tape_memory m;
  constexpr std::size_t large = std::size_t{1} << 20;
  auto* const small = static_cast<unsigned char*>(m.take(8));
  *small = 7;
  auto* const big = static_cast<unsigned char*>(m.take(large));
  std::memset(big, 1, large);
  auto* const behind = static_cast<unsigned char*>(m.take(8));
  *behind = 9;
  CHECK(*small == 7);
  CHECK(big[0] == 1);
  CHECK(big[large - 1] == 1);
}

/// Where a tape's places lie.
std::set<void*> places(int count, std::size_t bytes) {
  tape_memory m;
  std::set<void*> at;
  for (int i = 0; i < count; ++i) at.insert(m.take(bytes));
  return at;
}

TEST_CASE("a tape takes the chunks of those that have ended") {
  const auto first = places(100, 4096);
  CHECK(first.size() == 100);
  const auto second = places(100, 4096);
  std::size_t shared = 0;
  for (void* const p : second) shared += first.count(p);
  CHECK(shared > 50);
}

TEST_CASE("tapes that live side by side do not share places, in whatever order they end") {
  auto* const a = new tape_memory;
  auto* const b = new tape_memory;
  auto* const x = static_cast<int*>(a->take(sizeof(int)));
  auto* const y = static_cast<int*>(b->take(sizeof(int)));
  *x = 1;
  *y = 2;
  delete a;
  tape_memory c;
  *static_cast<int*>(c.take(sizeof(int))) = 3;
  CHECK(*y == 2);
  delete b;
}

}  // namespace
