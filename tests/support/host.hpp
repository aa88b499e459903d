// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a test look at elements where they lie? It says so, since closed pages are closed to it
// (memory/closed.hpp); the library's own tests of devices stand and fall with that. Of tensors on a
// device it sees a copy, which goes back at the end of the statement where it may be written.
//
//   CHECK(on_host(x)[3] == 2);          // to the end of the statement
//   std::equal(on_host(x).data(), ...)
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>

#include "dimesh/memory/space.hpp"

namespace test_support {

/// Elements in place, and the right to touch them as long as it lives.
template <class T> class open_elements {
 public:
  open_elements(T* at, std::size_t count) : there_(at), bytes_(count * sizeof(T)) {
    if (reached) return;
    std::weak_ptr<std::byte[]>& known = copies()[there_];
    copy_ = known.lock();  // begin and end of one range are of one copy
    if (copy_ == nullptr) {
      copy_ = std::shared_ptr<std::byte[]>(new std::byte[bytes_]);
      known = copy_;
      if (bytes_ > 0) facts().copy_out(copy_.get(), there_, bytes_);
    }
  }
  open_elements(const open_elements&) = delete;
  open_elements& operator=(const open_elements&) = delete;
  ~open_elements() {
    if constexpr (!reached && !std::is_const_v<T>)
      if (bytes_ > 0) facts().copy_in(there_, copy_.get(), bytes_);
  }
  T* data() const { return reached ? there_ : reinterpret_cast<T*>(copy_.get()); }
  template <class I> T& operator[](I i) const { return data()[i]; }
  T& operator*() const { return *data(); }

 private:
  static constexpr bool reached = dimesh::detail::on_host;
  static const dimesh::detail::space_facts& facts() {
    return dimesh::detail::facts_of_space(dimesh::detail::space_now);
  }
  static std::map<const void*, std::weak_ptr<std::byte[]>>& copies() {
    thread_local std::map<const void*, std::weak_ptr<std::byte[]>> all;
    return all;
  }
  T* there_;
  std::size_t bytes_;
  std::shared_ptr<std::byte[]> copy_;
  dimesh::detail::opened memory_;
};
/// Of a tensor, or of anything else with data().
template <class X> auto on_host(X&& x) {
  using T = std::remove_pointer_t<decltype(x.data())>;
  if constexpr (requires { x.local_size(); })
    return open_elements<T>(x.data(), static_cast<std::size_t>(x.local_size()));
  else
    return open_elements<T>(x.data(), static_cast<std::size_t>(x.size()));
}

}  // namespace test_support
