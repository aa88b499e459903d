// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/core/geometry.hpp"

#include "dimesh/core/typed.hpp"

#include <doctest/doctest.h>

using namespace dimesh;
namespace {

struct batch : dim<8> {};
struct odd : dim<7> {};
struct length : dim<> {};
struct rows : axis<2> {};
struct wide : axis<> {};
struct pod : mesh<rows, wide> {};

template <class L, class... D> using G = detail::geometry<detail::make_spec<float, L, D...>>;
using dims_of_two = shape<batch, length>;

constexpr index_t sizes[] = {2, 3};
constexpr index_t origin[] = {0, 0}, last[] = {1, 2};

using even = G<layout<pod, split<batch, rows>, split<length, wide>>, batch, length>;
static_assert(even(dims_of_two{length{12}}, sizes, last).block<batch>() == block{4, 4});
static_assert(even(dims_of_two{length{12}}, sizes, last).block<length>() == block{8, 4});
static_assert(even(dims_of_two{length{12}}, sizes, last).local_size() == 16);
static_assert(even(dims_of_two{length{12}}, sizes, last).local_bytes() == 64);
static_assert(even(dims_of_two{length{12}}, sizes, origin).extent<length>() == 12);

using ragged = G<layout<pod, split<uneven<length>, wide, rows>>, batch, length>;
static_assert(ragged(dims_of_two{length{7}}, sizes, origin).block<length>() == block{0, 2});
static_assert(ragged(dims_of_two{length{7}}, sizes, last).block<length>() == block{7, 0});
static_assert(ragged(dims_of_two{length{7}}, sizes, last).local_size() == 0);
static_assert(ragged(dims_of_two{length{0}}, sizes, origin).local_size() == 0);

// A halo is stored, but not part of the block.
using haloed = G<layout<pod, split<halo<batch, 1>, rows>>, batch, length>;
static_assert(haloed(dims_of_two{length{5}}, sizes, last).block<batch>() == block{4, 4});
static_assert(haloed(dims_of_two{length{5}}, sizes, last).local<batch>() == 6);
static_assert(haloed(dims_of_two{length{5}}, sizes, last).local_size() == 30);
using one_sided = G<layout<pod, split<halo<batch, 0, 1>, rows>>, batch, length>;
static_assert(one_sided(dims_of_two{length{5}}, sizes, last).block<batch>() == block{4, 4});
static_assert(one_sided(dims_of_two{length{5}}, sizes, last).local_size() == 25);

std::string error_of(index_t n, const index_t* at) {
  try {
    even(dims_of_two{length{n}}, sizes, at);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST_CASE("an extent that does not come out even is refused on every rank, in the same words") {
  const std::string text = error_of(10, origin);
  CHECK(text == error_of(10, last));
  CHECK(text.find(
            "tensor: dim 'length' has 10 elements, which axis 'wide' of size 3 does not divide") ==
        0);
  CHECK(text.find("uneven<length>") != std::string::npos);
  CHECK(error_of(9, last) == "");
  CHECK(error_of(0, last) == "");
}

TEST_CASE("an extent that is missing or negative") {
  CHECK(error_of(dynamic, origin).find("dim 'length' has no extent; give it length{n}") !=
        std::string::npos);
  CHECK(error_of(-6, origin).find("dim 'length' has -6 elements") != std::string::npos);
}

TEST_CASE("along which axes a value is to be counted once is a note on the tensor") {
  even g(dims_of_two{length{3}}, sizes, origin);
  CHECK(g.once() == 0);
  g.set_once(0b10);
  CHECK(even(g).once() == 0b10);
}

}  // namespace
