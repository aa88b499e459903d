// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is something going on in an object that may be moved? A flag that moves along, and is down in
// what is left.
//
//   flag_of_one begun;   begun = true;   if (begun.take()) end();
#pragma once

#include <utility>

namespace dimesh::detail {

/// True of one object: not of what is left where it is moved.
class flag_of_one {
 public:
  flag_of_one() = default;
  flag_of_one(flag_of_one&& f) noexcept : on_(std::exchange(f.on_, false)) {}
  flag_of_one& operator=(flag_of_one&& f) noexcept {
    on_ = std::exchange(f.on_, false);
    return *this;
  }
  flag_of_one& operator=(bool on) {
    on_ = on;
    return *this;
  }
  operator bool() const { return on_; }  // NOLINT
  /// Was it so? Not any more.
  bool take() { return std::exchange(on_, false); }

 private:
  bool on_ = false;
};

}  // namespace dimesh::detail
