// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does part of an array of any steps become rows that a loop can run along? By a copy into a
// small buffer, by element size only: what is common to all kernels need not know their types.
//
//   stage(4, m, n, src, s_m, s_n, dst, d);   // dst[i*d + j] = src[i*s_m + j*s_n], of 4-byte words
//   unstage(4, m, n, src, d, dst, s_m, s_n); // dst[i*s_m + j*s_n] = src[i*d + j]
#pragma once

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/config.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/local/tile.hpp"

#include <cstdint>
#include <cstring>
#include <memory>

namespace dimesh::local::detail {

/// Words stand for elements of any type of their size, so they may alias them.
using word8 [[gnu::may_alias]] = std::uint8_t;
using word16 [[gnu::may_alias]] = std::uint16_t;
using word32 [[gnu::may_alias]] = std::uint32_t;
using word64 [[gnu::may_alias]] = std::uint64_t;
struct [[gnu::may_alias]] word128 {
  std::uint64_t half[2];
};

/// Room behind a staged row, in elements: rows of one value are written in whole vectors.
inline constexpr index_t stage_slack = 16;

/// Each of m values n times. Short rows are overwritten by the next ones where they reach too far.
template <class Word>
void splat_rows(index_t m, index_t n, const Word* src, index_t s_m, Word* dst, index_t d) {
  const dimesh::detail::writes_memory kernel;
  for (index_t i = 0; i < m; ++i) {
    const Word v = src[i * s_m];
    Word* row = dst + i * d;
    for (index_t j = 0; j < n; j += stage_slack) {
#pragma omp simd
      for (index_t l = 0; l < stage_slack; ++l) row[j + l] = v;
    }
  }
}

/// One row over and over, by doubling what is there.
template <class Word> void repeat_row(index_t m, index_t n, const Word* src, Word* dst) {
  const dimesh::detail::writes_memory kernel;
  std::memcpy(dst, src, static_cast<std::size_t>(n) * sizeof(Word));
  for (index_t have = 1; have < m;) {
    const index_t more = have < m - have ? have : m - have;
    std::memcpy(dst + have * n, dst, static_cast<std::size_t>(more * n) * sizeof(Word));
    have += more;
  }
}

template <class Word>
void stage_words(index_t m, index_t n, const Word* src, index_t s_m, index_t s_n, Word* dst,
                 index_t d) {
  const dimesh::detail::writes_memory kernel;
  if (s_n == 0) {
    splat_rows(m, n, src, s_m, dst, d);
  } else if (s_n == 1 && s_m == 0 && d == n) {
    repeat_row(m, n, src, dst);
  } else if (s_n == 1) {
    for (index_t i = 0; i < m; ++i) {
      std::memcpy(dst + i * d, src + i * s_m, static_cast<std::size_t>(n) * sizeof(Word));
    }
  } else if (s_m == 1) {
    transpose_tile<Word>(src, s_n, dst, d, m, n);
  } else {
    for (index_t i = 0; i < m; ++i) {
      for (index_t j = 0; j < n; ++j) dst[i * d + j] = src[i * s_m + j * s_n];
    }
  }
  const dimesh::detail::writes_memory
      punned;  // its elements are read as what they are, not as words
}

template <class Word>
void unstage_words(index_t m, index_t n, const Word* src, index_t d, Word* dst, index_t s_m,
                   index_t s_n) {
  const dimesh::detail::writes_memory kernel;
  if (s_m == 1 && s_n != 1) {
    transpose_tile<Word>(src, d, dst, s_n, n, m);
  } else {
    for (index_t i = 0; i < m; ++i) {
      for (index_t j = 0; j < n; ++j) dst[i * s_m + j * s_n] = src[i * d + j];
    }
  }
  const dimesh::detail::writes_memory
      punned;  // its elements are read as what they are, not as words
}

/// f(Word) for the word of an element size.
template <class F> void with_word(int size, const F& f) {
  switch (size) {
    case 1:
      return f(word8{});
    case 2:
      return f(word16{});
    case 4:
      return f(word32{});
    case 8:
      return f(word64{});
    default:
      return f(word128{});
  }
}

/// dst[i*d + j] = src[i*s_m + j*s_n] for i < m, j < n, of elements of `size` bytes. May write
/// stage_slack elements more.
void stage(int size, index_t m, index_t n, const void* src, index_t s_m, index_t s_n, void* dst,
           index_t d);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void stage(int size, index_t m, index_t n, const void* src, index_t s_m,
                                 index_t s_n, void* dst, index_t d) {
  with_word(size, [&](auto word) {
    using Word = decltype(word);
    stage_words(m, n, static_cast<const Word*>(src), s_m, s_n, static_cast<Word*>(dst), d);
  });
}
#endif

/// dst[i*s_m + j*s_n] = src[i*d + j] for i < m, j < n, of elements of `size` bytes.
void unstage(int size, index_t m, index_t n, const void* src, index_t d, void* dst, index_t s_m,
             index_t s_n);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void unstage(int size, index_t m, index_t n, const void* src, index_t d,
                                   void* dst, index_t s_m, index_t s_n) {
  with_word(size, [&](auto word) {
    using Word = decltype(word);
    unstage_words(m, n, static_cast<const Word*>(src), d, static_cast<Word*>(dst), s_m, s_n);
  });
}
#endif

template <class T>
inline constexpr bool is_stageable =
    sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16;

/// Memory of this thread, kept from call to call: at least so many bytes.
std::byte* thread_scratch(std::size_t bytes);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline std::byte* thread_scratch(std::size_t bytes) {
  struct scratch {
    std::unique_ptr<std::byte[]> room;
    std::size_t size = 0;
  };
  static thread_local scratch s;
  if (s.size < bytes + 64) {
    s.room.reset(new std::byte[bytes + 64]);
    s.size = bytes + 64;
  }
  std::byte* p = s.room.get();
  return p + (64 - reinterpret_cast<std::uintptr_t>(p) % 64) % 64;
}
#endif

}  // namespace dimesh::local::detail
