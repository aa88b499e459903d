// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What files of this folder include from a library.
#pragma once
template <class> inline constexpr bool small = false;
template <> inline constexpr bool small<char> = true;
template <class T> constexpr int keep() {
  static_assert(small<T>, "keep: the type is large; name a small one");
  return 1;
}
int global_name();
