// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a program get that asks for a whole tensor on one rank? A vector, which says so where
// it is asked for elements on another.
//
//   auto all = to_rank(x);      // rank_values<float>
//   all[3]                      // on rank 0; elsewhere dimesh::error
#pragma once

#include <utility>
#include <vector>

#include "dimesh/detail/words.hpp"

namespace dimesh {

/// What to_rank gives: a vector of all elements on one rank, empty on others, where asking for an
/// element throws dimesh::error. (A plain std::vector made of it does not.)
template <class T> class [[nodiscard]] rank_values : public std::vector<T> {
  using base = std::vector<T>;

 public:
  rank_values(base&& values, int here, int root)
      : base(std::move(values)), here_(here), root_(root) {}

  typename base::const_reference operator[](std::size_t i) const {
    require(i);
    return base::operator[](i);
  }
  typename base::reference operator[](std::size_t i) {
    require(i);
    return base::operator[](i);
  }
  typename base::const_reference front() const { return (*this)[0]; }
  typename base::const_reference back() const { return (*this)[this->size() - 1]; }
  typename base::reference front() { return (*this)[0]; }
  typename base::reference back() { return (*this)[this->size() - 1]; }

 private:
  void require(std::size_t i) const {
    if (i >= this->size()) [[unlikely]]
      refuse(i);
  }
  [[noreturn, gnu::noinline]] void refuse(std::size_t i) const {
    detail::words w;
    if (this->empty() && here_ != root_)
      w << "to_rank: rank " << here_ << " of the grid has none of the elements; they are on rank "
        << root_ << ", so use them there, or broadcast_element(x, {...})";
    else
      w << "to_rank: element " << static_cast<index_t>(i) << " is none of the "
        << static_cast<index_t>(this->size());
    w.raise();
  }
  int here_, root_;  // ranks of the grid
};

}  // namespace dimesh
