// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do functions that also run while compiling keep what they count? In an array of a length
// that is fixed when it is made. (std::vector<int>(n) of g++ 12's library is no constant expression
// for clang.)
//
//   numbered<int> places(8, -1);  places[3] = 1;
#pragma once

#include <cstddef>
#include <utility>

namespace dimesh::detail {

template <class T> class numbered {
 public:
  constexpr numbered() = default;
  constexpr explicit numbered(std::size_t size, const T& value = T())
      : values_(size > 0 ? new T[size]{} : nullptr), size_(size) {
    for (T& v : *this) v = value;
  }
  constexpr numbered(const numbered& o) : numbered(o.size_) {
    for (std::size_t i = 0; i < size_; ++i) values_[i] = o.values_[i];
  }
  constexpr numbered(numbered&& o) noexcept { swap(o); }
  constexpr numbered& operator=(numbered o) noexcept {
    swap(o);
    return *this;
  }
  constexpr ~numbered() { delete[] values_; }

  constexpr std::size_t size() const { return size_; }
  constexpr T* begin() { return values_; }
  constexpr T* end() { return values_ + size_; }
  constexpr const T* begin() const { return values_; }
  constexpr const T* end() const { return values_ + size_; }
  constexpr T& operator[](std::size_t i) { return values_[i]; }
  constexpr const T& operator[](std::size_t i) const { return values_[i]; }

 private:
  constexpr void swap(numbered& o) noexcept {
    std::swap(values_, o.values_);
    std::swap(size_, o.size_);
  }
  T* values_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace dimesh::detail
