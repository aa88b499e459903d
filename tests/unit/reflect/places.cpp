// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensors of a struct are where the table of its type says: beside numbers and empty members,
// in arrays and structs within structs, under every modifier of the layout.
#include "dimesh/reflect/places.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <dimesh/dimesh.hpp>
#include <tuple>

namespace dm = dimesh;
using dm::detail::core_list;
using dm::detail::core_of;
using dm::detail::has_places;
using dm::detail::knows_places;

namespace {

struct batch : dm::dim<> {};
struct hidden : dm::dim<> {};
struct rows : dm::axis<> {};
struct line : dm::mesh<rows> {};
using L = dm::layout<line, dm::split<batch, rows>>;

struct nothing {};
template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (nothing, tag), (dm::tensor<float, L, batch, hidden>, w),
                           (bool, is_last), (dm::tensor<double, L, hidden>, b));
};
template <class L> struct network {
  using layers_type = std::array<layer<L>, 3>;
  BOOST_HANA_DEFINE_STRUCT(network, (std::int16_t, version), (dm::tensor<float, L, hidden>, first),
                           (layers_type, layers), (nothing, end),
                           (dm::tensor<float, L, batch>, last));
};
template <class L> struct with_tuple {
  using pair = std::tuple<dm::tensor<float, L, hidden>, dm::tensor<float, L, batch>>;
  BOOST_HANA_DEFINE_STRUCT(with_tuple, (dm::tensor<float, L, hidden>, w), (pair, two));
};

template <class N> void check_network() {
  static_assert(has_places<network<L>, N>);
  N n;
  const void* const expected[] = {&core_of(n.first),       &core_of(n.layers[0].w),
                                  &core_of(n.layers[0].b), &core_of(n.layers[1].w),
                                  &core_of(n.layers[1].b), &core_of(n.layers[2].w),
                                  &core_of(n.layers[2].b), &core_of(n.last)};
  const core_list<network<L>> all(n);
  REQUIRE(all.size == 8);
  for (int i = 0; i < all.size; ++i) CHECK(all.at[i] == expected[i]);
  // A walk knows their types, too.
  int at = 0, doubles = 0;
  dm::for_each_tensor(
      [&](const auto&, const auto& x) {
        CHECK(&core_of(x) == expected[at++]);
        using X = std::remove_cvref_t<decltype(x)>;
        doubles += std::is_same_v<dm::value_of<X>, double>;
        CHECK(core_of(x).facts == &dm::detail::spec_facts<dm::spec_of<X>>);
      },
      n);
  CHECK(at == 8);
  CHECK(doubles == 3);
}

}  // namespace

TEST_CASE("places: beside numbers and empty members") {
  check_network<network<L>>();
  check_network<network<dm::tracked<L>>>();
  check_network<network<dm::gradient<L>>>();
}

TEST_CASE("places: what no table describes is walked") {
  static_assert(!knows_places<with_tuple<L>>(), "elements of tuples lie in any order");
  static_assert(!knows_places<network<dm::shaped<L>>>(), "constant expressions walk");
  with_tuple<L> x;
  const core_list<with_tuple<L>> all(x);
  CHECK(all.at[0] == &core_of(x.w));
  CHECK(all.at[1] == &core_of(std::get<0>(x.two)));
  CHECK(all.at[2] == &core_of(std::get<1>(x.two)));
}
