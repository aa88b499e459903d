// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views in one stage, and in another one records that are made anew each time.
// expect: input::mixture: the records that a stage makes are gone before their views are read, which the first stage's records are; map those to values
#include <dimesh/io/data/order.hpp>
#include <dimesh/io/data/transform.hpp>
#include <string>
#include <string_view>

namespace in = dimesh::input;

inline auto words() {
  return in::numbers(3) | in::map([](dimesh::index_t i) { return std::to_string(i); });
}
const in::records<std::string_view> views({"a", "b"});
#ifdef COMPILE_FAIL
auto f() { return in::mixture(7, {1, 1}, views, words()) | in::shuffle(3); }
#else
auto f() { return in::mixture(7, {1, 1}, words(), views) | in::shuffle(3); }
#endif
