// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order, and where, are the dims of a block transformed? One after another, the last one
// first: lines that lie together where they are, lines whose elements lie far apart some at a time
// in a buffer. FFTW's heuristic takes such columns as they lie, and a processor's cache holds few
// lines that are a power of two apart: 1024 columns of 2048 numbers took three times as long.
//
//   fft_loops l;  l.along(2048, 1024, 1024);  l.over(1024, 1, 1);
//   fft_dims(l, true, 1.0, x, y)     y[k, j] = sum over n of x[n, j] exp(-2 pi i k n / 2048)
//
// Of blocks that the cache does not hold, parts of the first dim are done with all their dims one
// after another. What is done depends on extents and strides alone.
#pragma once

#include <algorithm>
#include <utility>

#include "dimesh/local/fft.hpp"
#include "dimesh/memory/storage.hpp"

namespace dimesh::local {

namespace detail {

/// A dim of a block: strides in elements.
struct fft_dim {
  index_t extent, from, to;
  bool transformed;
};
/// The dims of a block, in the order of the result's storage.
struct fft_dims_of {
  int rank = 0;
  fft_dim dim[max_dims];

  explicit fft_dims_of(const fft_loops& l) {
    for (int i = 0; i < l.ranks; ++i) add(l.transformed[i], true);
    for (int i = 0; i < l.others; ++i) add(l.repeated[i], false);
  }
  /// The outermost dim that is transformed.
  int first() const {
    int d = 0;
    while (d < rank && !dim[d].transformed) ++d;
    return d;
  }
  int transforms() const {
    int n = 0;
    for (int d = 0; d < rank; ++d) n += dim[d].transformed ? 1 : 0;
    return n;
  }
  index_t elements() const {
    index_t n = 1;
    for (int d = 0; d < rank; ++d) n *= dim[d].extent;
    return n;
  }
  fft_loops loops() const {
    fft_loops l;
    for (int d = 0; d < rank; ++d) {
      const fft_dim& e = dim[d];
      e.transformed ? l.along(e.extent, e.from, e.to) : l.over(e.extent, e.from, e.to);
    }
    return l;
  }
  /// Dim d alone, or all others.
  fft_dims_of with(int d, bool alone) const {
    fft_dims_of b(*this);
    for (int i = 0; i < rank; ++i) b.dim[i].transformed &= (i == d) == alone;
    return b;
  }
  /// The result in the place of the operand.
  fft_dims_of in_place() const {
    fft_dims_of b(*this);
    for (int i = 0; i < rank; ++i) b.dim[i].from = b.dim[i].to;
    return b;
  }

 private:
  void add(const fft_loops::loop& l, bool transformed) {
    int d = rank++;
    for (; d > 0 && dim[d - 1].to < l.to; --d) dim[d] = dim[d - 1];
    dim[d] = {l.extent, l.from, l.to, transformed};
  }
};

/// Columns of one dim of a block that are transformed in a buffer, so many at a time.
struct fft_panels {
  fft_dim along{}, beside{};  // beside: their neighbours, which lie together in the result
  fft_dims_of others;         // has neither
  index_t width = 0;          // how many; 0: they are not
  index_t line = 0;           // from one to the next in the buffer: not a power of two
  bool copies = false;        // they are copied to the buffer, in place of read there by FFTW

  /// Of a block of which one dim is transformed, elements of so many bytes.
  fft_panels(const fft_dims_of& b, index_t size) : others(b) {
    constexpr index_t cache = 32768, room = index_t{1} << 19, same_sets = 1024;
    const int a = b.first(), last = b.rank - 1;
    if (a >= last) return;
    along = b.dim[a], beside = b.dim[last];
    const index_t n = along.extent, apart = std::max(along.from, along.to) * size;
    if (beside.to != 1 || n < 16 || beside.extent < 4 || n * apart <= cache) return;
    if (n <= 128 && apart % same_sets != 0) return;  // FFTW takes these in one pass
    std::copy(b.dim + a + 1, b.dim + last, others.dim + a);
    others.rank = b.rank - 2;
    line = n + (n % 16 == 0 ? 64 / size : 0);
    width = std::clamp<index_t>(room / (line * size), 4, n <= 64 ? 32 : 16);
    copies = beside.from == 1 && n > 256 && apart % same_sets == 0;
  }
};

/// buffer (w, n: lines `line` apart) = x (n: `from` apart, w)
template <class T>
void fft_gather(index_t n, index_t w, const std::complex<T>* x, index_t from,
                std::complex<T>* buffer, index_t line) {
  const dimesh::detail::writes_memory kernel;
  constexpr index_t rows = 4;
  for (index_t i = 0; i < n; i += rows) {
    const index_t r = std::min(rows, n - i);
    for (index_t b = 0; b < w; ++b)
      for (index_t k = 0; k < r; ++k) buffer[b * line + i + k] = x[(i + k) * from + b];
  }
}
/// y (n: `to` apart, w) = buffer (w, n: lines `line` apart), times `by`
template <class T>
void fft_put_back(index_t n, index_t w, const std::complex<T>* buffer, index_t line, T by,
                  std::complex<T>* y, index_t to) {
  const dimesh::detail::writes_memory kernel;
  if (by == 1)
    for (index_t i = 0; i < n; ++i)
      for (index_t b = 0; b < w; ++b) y[i * to + b] = buffer[b * line + i];
  else
    for (index_t i = 0; i < n; ++i)
      for (index_t b = 0; b < w; ++b) y[i * to + b] = buffer[b * line + i] * by;
}

/// body(offset in x, offset in y) at every position of these dims.
template <class Body>
void at_all(const fft_dims_of& b, int d, index_t x, index_t y, const Body& body) {
  if (d == b.rank) return body(x, y);
  for (index_t i = 0; i < b.dim[d].extent; ++i)
    at_all(b, d + 1, x + i * b.dim[d].from, y + i * b.dim[d].to, body);
}

}  // namespace detail

#if defined(FFTW_FORWARD)  // its header was included
namespace detail {

template <class T>
void fft_in_panels(const fft_panels& p, bool forward, T by, const std::complex<T>* x,
                   std::complex<T>* y) {
  using library = fftw<T>;
  using number = std::complex<T>;
  const index_t n = p.along.extent, all = p.beside.extent;
  const dimesh::detail::storage room =
      dimesh::detail::storage::acquire(static_cast<std::size_t>(p.width * p.line) * sizeof(number));
  auto* const buffer = static_cast<number*>(room.data());
  auto* const from = const_cast<number*>(x);
  bool aligned = true;  // all panels, where all of them begin at even elements
  for (int d = 0; d < p.others.rank; ++d) aligned = aligned && p.others.dim[d].from % 2 == 0;
  aligned = aligned && p.beside.from * p.width % 2 == 0 && p.along.from % 2 == 0;
  const auto plan_of = [&](index_t w) {
    fft_loops l;
    l.along(n, p.copies ? 1 : p.along.from, 1);
    l.over(w, p.copies ? p.line : p.beside.from, p.line);
    return fft_plans<T>::all().find(l, forward ? fft_kind::forward : fft_kind::backward,
                                    p.copies ? buffer : from, buffer,
                                    p.copies || aligned || sizeof(number) == 16);
  };
  const auto most = plan_of(std::min(p.width, all));
  const auto rest = all > p.width && all % p.width != 0 ? plan_of(all % p.width) : most;
  at_all(p.others, 0, 0, 0, [&](index_t at_x, index_t at_y) {
    for (index_t j = 0; j < all; j += p.width) {
      const index_t w = std::min(p.width, all - j);
      number* const here = from + at_x + j * p.beside.from;
      if (p.copies) fft_gather(n, w, here, p.along.from, buffer, p.line);
      library::run((w == p.width ? most : rest).get(),
                   library::as_complex(p.copies ? buffer : here), library::as_complex(buffer));
      fft_put_back(n, w, buffer, p.line, by, y + at_y + j, p.along.to);
    }
  });
}

/// The parts of a block along its first dim that the cache holds, or the least ones.
inline index_t fft_part(const fft_dims_of& b, index_t size) {
  constexpr index_t bytes = index_t{1} << 18;
  const index_t each = b.elements() / b.dim[0].extent * size;
  return std::clamp<index_t>(bytes / each, 1, b.dim[0].extent);
}
template <class T>
void fft_one_part(const fft_dims_of& b, bool forward, T by, const std::complex<T>* x,
                  std::complex<T>* y);
/// y = by * the transform of x.
template <class T>
void fft_block(const fft_dims_of& b, bool forward, T by, const std::complex<T>* x,
               std::complex<T>* y) {
  constexpr index_t size = sizeof(std::complex<T>);
  const int many = b.transforms(), first = b.first();
  if (many == 1)
    if (const fft_panels p(b, size); p.width > 0) return fft_in_panels(p, forward, by, x, y);
  if (first > 0 && (many > 1 || by != 1)) {
    const index_t part = fft_part(b, size);
    if (part < b.dim[0].extent) {
      fft_dims_of some(b);
      for (index_t i = 0; i < b.dim[0].extent; i += part) {
        some.dim[0].extent = std::min(part, b.dim[0].extent - i);
        fft_one_part(some, forward, by, x + i * b.dim[0].from, y + i * b.dim[0].to);
      }
      return;
    }
  }
  fft_one_part(b, forward, by, x, y);
}
/// The same of a block that is not cut further along its first dim.
template <class T>
void fft_one_part(const fft_dims_of& b, bool forward, T by, const std::complex<T>* x,
                  std::complex<T>* y) {
  const int first = b.first();
  if (b.transforms() > 1) {
    const fft_dims_of last = b.with(first, true).in_place();
    if (fft_panels(last, sizeof(std::complex<T>)).width > 0) {
      fft_block<T>(b.with(first, false), forward, 1, x, y);
      return fft_block<T>(last, forward, by, y, y);
    }
  }
  fft(b.loops(), forward, x, y);
  if (by != 1) fft_scale(b.elements(), by, y);
}

}  // namespace detail

/// y[k] = by * sum over n of x[n] exp(-+2 pi i k n / N), along all dims that are transformed; y
/// lies without gaps. x is kept unless it is y.
template <class T>
void fft_dims(const fft_loops& l, bool forward, T by, const std::complex<T>* x,
              std::complex<T>* y) {
  const dimesh::detail::writes_memory kernel;
  if (!fft_is_empty(l)) detail::fft_block(detail::fft_dims_of(l), forward, by, x, y);
}
#else
template <class T>
void fft_dims(const fft_loops&, bool, T, const std::complex<T>*, std::complex<T>*) {
  detail::refuse_without_fftw();
}
#endif

}  // namespace dimesh::local
