// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do a tensor's extents and this rank's blocks stand? In the tensor, up to six dims of them:
// these are copied whole, since a loop over those that are there costs more. Beyond, on the heap.
//
//   dim_runs r;   r.resize(2);   r.extents()[1] = 8;   r.own()[1] = {4, 4};
#pragma once

#include "dimesh/detail/config.hpp"
#include "dimesh/layout/block.hpp"

namespace dimesh::detail {

/// Extents and blocks of the dims of a tensor.
class dim_runs {
  template <int N> struct runs {
    index_t extent[N];
    block own[N];
  };

 public:
  static constexpr int in_place = 6;
  using few_runs = runs<in_place>;

  // (Zeros are a string instruction, 11 ns. Of a union they would be stores, but g++ 12 then takes
  // constant tensors for const while they are made.)
  constexpr dim_runs() = default;
  constexpr dim_runs(const dim_runs& x) : few_(x.few_) {
    if (x.more_ != nullptr) [[unlikely]]
      more_ = new runs<max_dims>(*x.more_);
  }
  constexpr dim_runs& operator=(const dim_runs& x) {
    if (more_ != nullptr || x.more_ != nullptr) [[unlikely]]
      take_more(x);
    few_ = x.few_;
    return *this;
  }
  constexpr ~dim_runs() { delete more_; }

  constexpr void resize(int size) {
    if (size > in_place && more_ == nullptr) more_ = new runs<max_dims>{};
  }
  constexpr index_t* extents() { return more_ != nullptr ? more_->extent : few_.extent; }
  constexpr const index_t* extents() const {
    return more_ != nullptr ? more_->extent : few_.extent;
  }
  constexpr block* own() { return more_ != nullptr ? more_->own : few_.own; }
  constexpr const block* own() const { return more_ != nullptr ? more_->own : few_.own; }
  constexpr bool same_extents(const dim_runs& x, int rank) const {
    const index_t *a = extents(), *b = x.extents();
    for (int d = 0; d < rank; ++d)
      if (a[d] != b[d]) return false;
    return true;
  }
  /// Are they all in place? As long as they are:
  constexpr bool are_few() const { return more_ == nullptr; }
  constexpr const few_runs& few() const { return few_; }
  constexpr void become(const few_runs& f) { few_ = f; }

 private:
  constexpr void take_more(const dim_runs& x) {
    if (x.more_ == nullptr) {
      delete more_;
      more_ = nullptr;
    } else if (more_ == nullptr) {
      more_ = new runs<max_dims>(*x.more_);
    } else {
      *more_ = *x.more_;
    }
  }
  few_runs few_{};
  runs<max_dims>* more_ = nullptr;
};

}  // namespace dimesh::detail
