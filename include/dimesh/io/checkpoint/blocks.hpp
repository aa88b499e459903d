// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do the elements of this rank's block stand in a file of the whole tensor, row-major? As
// MPI's types say it, for the file and for the memory, which may have halos.
//
//   block_in_file(core_of(x), 8)    -> its first byte, and a type of all its bytes from there
//   writes(core_of(x))              -> does this rank write its block? One of all replicas does
#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "dimesh/collective/communicator.hpp"
#include "dimesh/core/replicas.hpp"
#include "dimesh/core/tensor_core.hpp"

namespace dimesh::detail::checkpoint {

/// Owns a type of MPI's.
class mpi_type {
 public:
  mpi_type() = default;
  explicit mpi_type(MPI_Datatype t) : type_(t) {}
  mpi_type(mpi_type&& o) noexcept : type_(std::exchange(o.type_, MPI_DATATYPE_NULL)) {}
  mpi_type& operator=(mpi_type&& o) noexcept {
    std::swap(type_, o.type_);
    return *this;
  }
  ~mpi_type() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  MPI_Datatype get() const { return type_; }
  void commit() { check(MPI_Type_commit(&type_), "checkpoint"); }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// n of a type, `stride` bytes from one to the next; n may be more than an int holds.
inline mpi_type repeated(const mpi_type& of, index_t n, index_t stride) {
  constexpr index_t most = std::numeric_limits<int>::max();
  const auto hvector = [](MPI_Datatype type, index_t count, index_t step) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    check(MPI_Type_create_hvector(static_cast<int>(count), 1, static_cast<MPI_Aint>(step), type,
                                  &made),
          "checkpoint");
    return mpi_type(made);
  };
  if (n <= most) return hvector(of.get(), n, stride);
  constexpr index_t run = index_t{1} << 30;
  const mpi_type runs = hvector(hvector(of.get(), run, stride).get(), n / run, run * stride);
  const mpi_type rest = hvector(of.get(), n % run, stride);
  int lengths[2] = {1, 1};
  MPI_Aint places[2] = {0, static_cast<MPI_Aint>(n / run * run * stride)};
  MPI_Datatype types[2] = {runs.get(), rest.get()}, made = MPI_DATATYPE_NULL;
  check(MPI_Type_create_struct(2, lengths, places, types, &made), "checkpoint");
  return mpi_type(made);
}

/// A block of a row-major array: where it begins, in bytes, and its bytes.
struct placed_block {
  index_t at = 0;
  mpi_type type;
};
/// Of an array of elements of so many bytes whose dim d has step(d), in elements, and first(d) of
/// which come before.
template <class Step, class First>
placed_block block_of(const tensor_core& x, index_t element, const Step& step, const First& first) {
  MPI_Datatype one = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(static_cast<int>(element), MPI_BYTE, &one), "checkpoint");
  placed_block b{0, mpi_type(one)};
  for (int d = x.rank(); d-- > 0;) {
    b.type = repeated(b.type, x.own(d).length, step(d) * element);
    b.at += first(d) * step(d) * element;
  }
  b.type.commit();
  return b;
}

/// How many elements of x this rank has, halos not counted.
inline index_t own_elements(const tensor_core& x) {
  index_t n = x.away != 0 ? 0 : 1;
  for (int d = 0; d < x.rank(); ++d) n *= x.own(d).length;
  return n;
}
/// Calls f(first, n, k) until all own elements were in turn: n of them are side by side in this
/// rank's block from `first` on, halos counted, and k own ones come before them, row-major.
template <class F> void for_each_own_run(const tensor_core& x, const F& f) {
  const index_t all = own_elements(x);
  if (all == 0) return;
  if (all == x.elements()) return f(index_t{0}, all, index_t{0});
  const int last = x.rank() - 1;
  const index_t run = x.own(last).length;
  for (index_t k = 0; k < all; k += run) {
    index_t rest = k / run, first = x.layout().halo[last].before, stride = x.local(last);
    for (int d = last; d-- > 0;) {
      first += (rest % x.own(d).length + x.layout().halo[d].before) * stride;
      rest /= x.own(d).length;
      stride *= x.local(d);
    }
    f(first, run, k);
  }
}

/// Of a tensor of bool: what one of this rank's bytes is that is neither 0 nor 1, the first in its
/// order; -1 if all are truths. Halos hold whatever they held.
inline int find_no_truth(const tensor_core& x) {
  if (own_elements(x) == 0) return -1;
  int found = -1;
  const std::vector<std::byte> all = bytes_on_host(x);
  for_each_own_run(x, [&](index_t first, index_t n, index_t) {
    for (index_t i = first; found < 0 && i < first + n; ++i)
      if (const std::byte b = all[static_cast<std::size_t>(i)]; b > std::byte{1})
        found = std::to_integer<int>(b);
  });
  return found;
}
/// Of all ranks that hold a block, the first along each axis that replicates writes it.
inline bool writes(const tensor_core& x) {
  return own_elements(x) > 0 && x.grid->is_first(x.layout().mask(use::replicated));
}

/// Stands for the bytes of a run where there is but one, or none.
inline constexpr index_t one_run = std::numeric_limits<index_t>::max();
/// Bytes of this rank's block that are side by side in the whole tensor.
inline index_t run_of(const tensor_core& x) {
  index_t run = x.facts->element;
  int d = x.rank();
  while (d-- > 0) {
    run *= x.own(d).length;
    if (x.own(d).length != x.extent(d)) break;
  }
  while (d-- > 0)
    if (x.own(d).length != 1) return run;
  return one_run;
}

/// Steps of the dims of a whole tensor, row-major.
inline std::vector<index_t> steps_in_file(const tensor_core& x) {
  std::vector<index_t> step(static_cast<std::size_t>(x.rank()), 1);
  for (std::size_t d = step.size(); d-- > 1;) step[d - 1] = step[d] * x.extent(static_cast<int>(d));
  return step;
}
/// Where the dims have these steps.
inline placed_block block_in_file(const tensor_core& x, index_t element,
                                  const std::vector<index_t>& step) {
  return block_of(
      x, element, [&step](int d) { return step[static_cast<std::size_t>(d)]; },
      [&x](int d) { return x.own(d).offset; });
}
inline placed_block block_in_file(const tensor_core& x, index_t element) {
  return block_in_file(x, element, steps_in_file(x));
}
inline placed_block block_in_memory(const tensor_core& x) {
  return block_of(
      x, x.facts->element, [&x](int d) { return x.stride(d); },
      [&x](int d) { return index_t{x.layout().halo[d].before}; });
}

}  // namespace dimesh::detail::checkpoint
