// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a test look at elements where they lie? It says so, since closed pages are closed to it
// (memory/closed.hpp); the library's own tests of devices stand and fall with that.
//
//   CHECK(on_host(x)[3] == 2);          // to the end of the statement
//   std::equal(on_host(x).data(), ...)
#pragma once

#include <utility>

#include "dimesh/memory/closed.hpp"

namespace test_support {

/// Elements in place, and the right to touch them as long as it lives.
template <class T> class open_elements {
 public:
  explicit open_elements(T* at) : at_(at) {}
  T* data() const { return at_; }
  template <class I> T& operator[](I i) const { return at_[i]; }
  T& operator*() const { return *at_; }

 private:
  T* at_;
  dimesh::detail::opened memory_;
};
/// Of a tensor, or of anything else with data().
template <class X> auto on_host(X&& x) {
  return open_elements<std::remove_pointer_t<decltype(x.data())>>(x.data());
}

}  // namespace test_support
