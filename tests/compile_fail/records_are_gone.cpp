// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views of records that a stage makes anew each time.
// expect: input::any_stage: the records that the stage makes are gone before their views are read; let the any_stage have values, or those records themselves
#include <dimesh/io/data/any_stage.hpp>
#include <dimesh/io/data/order.hpp>
#include <dimesh/io/data/transform.hpp>
#include <string>
#include <string_view>

namespace in = dimesh::input;

inline auto words() {
  return in::numbers(3) | in::map([](dimesh::index_t i) { return std::to_string(i); });
}
#ifdef COMPILE_FAIL
void f() { const in::any_stage<std::string_view> all = words(); }
#else
void f() { const in::any_stage<std::string> all = words(); }
#endif
