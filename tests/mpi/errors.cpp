// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// Extents that do not divide, are missing or do not match: exceptions whose texts name the call,
// the dim, the axis and the sizes, after which the program can go on.
#include "dimesh/op/arithmetic.hpp"
#include "dimesh/op/einsum.hpp"
#include "dimesh/op/rename.hpp"

#include <doctest/doctest.h>

namespace {
using namespace dimesh;

struct length : dim<> {};
struct depth : dim<> {};
struct seven : dim<7> {};
struct rows : axis<> {};
struct cols : axis<> {};
struct pod : mesh<rows, cols> {};

template <class F> std::string error_of(const F& f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("an extent that its axes do not divide") {
  const grid<pod> g(cols{1});
  const index_t n = g.ranks();
  using even = tensor<float, layout<pod, split<length, rows>>, length>;
  const std::string text = error_of([&] { even x(g, length{n + 1}); });
  if (n == 1) {
    CHECK(text == "");
  } else {
    CHECK(has(text, "tensor: dim 'length' has " + std::to_string(n + 1) + " elements"));
    CHECK(has(text, "axis 'rows' of size " + std::to_string(n)));
    CHECK(has(text, "does not divide"));
    CHECK(has(text, "uneven<length>"));
  }
  CHECK(even(g, length{3 * n}).local_size() == 3);
  CHECK(even(g, length{0}).local_size() == 0);
  using both = tensor<float, layout<pod, split<length, cols, rows>>, length>;
  if (n > 1)
    CHECK(has(error_of([&] { both x(g, length{n + 1}); }),
              "axis 'cols' of size 1 x axis 'rows' of size"));
  // A static extent over an axis whose size only the run can tell.
  using fixed = tensor<float, layout<pod, split<seven, rows>>, seven>;
  CHECK(has(error_of([&] { fixed x(g); }), "dim 'seven' has 7 elements") == (7 % n != 0));
}

TEST_CASE("an extent that nobody gives, or a negative one") {
  const grid<pod> g(cols{1});
  using X = tensor<float, layout<pod>, length, depth>;
  CHECK(has(error_of([&] { X x(g, length{3}); }),
            "tensor: dim 'depth' has no extent; give it depth{n}"));
  CHECK(has(error_of([&] { X x(g); }), "dim 'length' has no extent"));
  CHECK(has(error_of([&] { X x(g, length{3}, depth{-2}); }), "dim 'depth' has -2 elements"));
  CHECK(error_of([&] { X x(g, depth{2}, length{3}); }) == "");
}

TEST_CASE("operands that disagree") {
  const grid<pod> g(cols{1});
  using X = tensor<double, layout<pod>, length, depth>;
  using Y = tensor<double, layout<pod>, depth>;
  const X x(g, length{2}, depth{3});
  const Y y(g, depth{4});
  const std::string sum = error_of([&] { (void)(x + y); });
  CHECK(has(sum, "dim 'depth'"));
  CHECK(has(sum, "3 elements"));
  CHECK(has(sum, "4"));
  CHECK(has(error_of([&] { (void)einsum<length>(x, y); }), "dim 'depth'"));
  CHECK(has(error_of([&] { (void)rename<depth, seven>(x); }),
            "rename: dim 'depth' has 3 elements, 'seven' has 7"));
  CHECK(error_of([&] { (void)(x + Y(g, depth{3})); }) == "");
}

}  // namespace
