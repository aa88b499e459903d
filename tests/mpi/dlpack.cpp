// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DLPack's structs, out and in: the same memory, and who lets go of it when.
// ranks: 1 2 4
// labels: sanitize
#include "dimesh/interop/dlpack.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "dimesh/create.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/to_rank.hpp"
#include "support/host.hpp"
#include "support/scratch.hpp"

namespace {
namespace dm = dimesh;
using test_support::thrown;

// As DLPack's own header has them, on 64 bits.
static_assert(sizeof(void*) != 8 || sizeof(dm::dlpack::tensor_view) == 48);
static_assert(sizeof(void*) != 8 || sizeof(dm::dlpack::managed_tensor) == 64);

struct rows : dm::axis<> {};
struct band : dm::mesh<rows> {};
struct batch : dm::dim<> {};
struct pixel : dm::dim<4> {};
using image = dm::tensor<float, dm::layout<band, dm::split<dm::uneven<batch>, rows>>, batch, pixel>;

/// Another library's array, which counts how often it is given back.
struct foreign {
  std::vector<float> data;
  std::int64_t extents[2], strides[2];
  int given_back = 0;
  dm::dlpack::managed_tensor m;
  explicit foreign(dm::index_t n)
      : data(static_cast<std::size_t>(n * 4 + 1)), extents{n, 4}, strides{4, 1} {
    m.view = {data.data(), {}, 2, {2, 32, 1}, extents, nullptr, sizeof(float)};
    m.context = this;
    m.deleter = [](dm::dlpack::managed_tensor* t) {
      ++static_cast<foreign*>(t->context)->given_back;
    };
  }
};

TEST_CASE("out: the tensor's own memory, alive until it is given back") {
  const dm::grid<band> g;
  dm::dlpack::managed_tensor* m = nullptr;
  const void* data = nullptr;
  dm::index_t first = 0;
  {
    const auto x =
        dm::generate<image>(g, [](auto i, auto j) { return float(4 * i + j); }, batch{6});
    m = dm::to_dlpack(x);
    data = x.data();
    first = dm::detail::core_of(x).own(0).offset;
  }
  CHECK(m->view.data == data);
  CHECK(m->view.rank == 2);
  CHECK(m->view.type == dm::dlpack::data_type{2, 32, 1});
  CHECK(m->view.extents[1] == 4);
  CHECK(m->view.strides[0] == 4);
  CHECK(m->view.strides[1] == 1);
  const dm::detail::opened elements;  // of the one who takes it
  for (std::int64_t i = 0; i < m->view.extents[0] * 4; ++i)
    CHECK(static_cast<float*>(m->view.data)[i] == float(4 * first + i));
  m->deleter(m);
}

TEST_CASE("out: of a sum that each rank holds whole, addends") {
  const dm::grid<band> g;
  using sum = dm::tensor<float, dm::layout<band, dm::partial<rows>>, pixel>;
  const auto x = dm::from_rank<sum>(g, {7, 8, 9, 10});
  REQUIRE(x.once() == 1);
  const auto y = dm::from_dlpack<sum>(g, dm::to_dlpack(x));
  CHECK(dm::to_rank(dm::complete(y)) == dm::to_rank(dm::complete(x)));
}

TEST_CASE("in: a tensor over the array, given back once, after the last copy") {
  const dm::grid<band> g;
  const auto like =
      dm::generate<image>(g, [](auto i, auto j) { return float(4 * i + j); }, batch{6});
  const dm::index_t n = dm::detail::core_of(like).own(0).length;
  foreign f(n);
  for (std::size_t i = 1; i < f.data.size(); ++i) f.data[i] = test_support::on_host(like)[i - 1];
  {
    const auto x = dm::from_dlpack<image>(g, &f.m, batch{6});
    CHECK(x.data() == f.data.data() + 1);
    CHECK(dm::to_rank(x) == dm::to_rank(like));
    const auto y = x;
    CHECK(f.given_back == 0);
  }
  CHECK(f.given_back == 1);
  const auto refused = [&](const char* why) {
    CHECK(thrown([&] { (void)dm::from_dlpack<image>(g, &f.m, batch{6}); }) == why);
  };
  f.m.view.on.type = 2;
  refused("from_dlpack: the array is on a device; copy it to the host");
  f.m.view.on.type = 1, f.m.view.type.bits = 64;
  refused("from_dlpack: the array's elements are not those of the tensor");
  f.m.view.type.bits = 32, f.m.view.byte_offset += 2;
  refused("from_dlpack: the array begins between two elements' places in memory; copy it");
  f.m.view.byte_offset -= 2;
  void* const there = std::exchange(f.m.view.data, nullptr);
  if (n > 0) refused("from_dlpack: the array has elements, but no memory");
  f.m.view.data = there, f.m.view.rank = 1;
  refused("from_dlpack: the array has another number of dims");
  f.m.view.rank = 2, f.extents[1] = 5;
  refused("from_dlpack: the array is not as long as this rank's block");
  f.extents[1] = 4, f.m.view.strides = f.strides, f.strides[1] = n + 2;
  if (n > 0)
    CHECK(thrown([&] { (void)dm::from_dlpack<image>(g, &f.m, batch{6}); }).find("from_dlpack: ") ==
          0);
  CHECK(f.given_back == 1);
}
}  // namespace
