// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where are sums formed whose result has fewer digits than they need? In floats beside it, which
// are rounded to their places when the sums are done. Where T has the digits, in place.
//
//   rounded_sums<bfloat16> sums(y.data(), y.local_size());
//   ... sums.data() is a float*, not yet filled ...
//   sums.finish();   // y = the sums, rounded
#pragma once

#include "dimesh/local/map.hpp"
#include "dimesh/memory/storage.hpp"

namespace dimesh::detail {

/// Sums of elements T. InPlace: each is written once, and so may go straight to its place.
template <class T, bool InPlace = !is_storage_only<T>> class rounded_sums {
 public:
  rounded_sums(T* to, index_t) : to_(to) {}
  T* data() const { return to_; }
  void finish() const {}

 private:
  T* to_;
};

/// The last step of a sum: to T from what sums of T are formed in.
template <class T> struct round_function {
  KOKKOS_INLINE_FUNCTION T operator()(const computed<T>& sum) const { return static_cast<T>(sum); }
};

template <class T> class rounded_sums<T, false> {
 public:
  rounded_sums(T* to, index_t n)
      : to_(to),
        n_(n),
        sums_(storage::acquire(static_cast<std::size_t>(n) * sizeof(computed<T>))) {}
  computed<T>* data() const { return static_cast<computed<T>*>(sums_.data()); }
  void finish() const {
    local::map(n_, round_function<T>{}, to_, static_cast<const computed<T>*>(data()));
  }

 private:
  T* to_;
  index_t n_;
  storage sums_;
};

}  // namespace dimesh::detail
