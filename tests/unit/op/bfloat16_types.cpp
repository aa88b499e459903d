// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which element types do operations on bfloat16 give? bfloat16 where nothing else went in, float
// where some operand has it or the caller asks for it.
#include "dimesh/element/bfloat16.hpp"

#include <doctest/doctest.h>

#include "dimesh/op/argmax.hpp"
#include "dimesh/op/cast.hpp"
#include "dimesh/op/einsum.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/softmax.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct hidden : dm::dim<6> {};
struct label : dm::dim<10> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
template <class... R> using L = dm::layout<pod, R...>;
using hybrid = L<dm::split<batch, rows>, dm::split<hidden, cols>>;
template <class T, class... D> using X = dm::tensor<T, dm::shaped<hybrid>, D...>;
using dm::bfloat16;
using std::is_same_v;

using narrow = X<bfloat16, batch, hidden>;
using wide = X<float, batch, hidden>;
using weights = X<bfloat16, hidden, label>;
constexpr narrow x{};
constexpr wide y{};
constexpr weights w{};
constexpr X<bfloat16, hidden> b{};
constexpr X<int, hidden> n{};
template <class Y> using element = typename Y::value_type;

// Elementwise.
static_assert(is_same_v<decltype(x + x), narrow> && is_same_v<decltype(x * b - x), narrow>);
static_assert(is_same_v<decltype(x + y), wide> && is_same_v<decltype(y * x), wide>);
static_assert(is_same_v<decltype(0.5 * x), narrow> && is_same_v<decltype(1 / x), narrow>);
static_assert(is_same_v<decltype(dm::gelu(x)), narrow> && is_same_v<decltype(-x), narrow>);
static_assert(is_same_v<decltype(x * n), narrow>);
static_assert(is_same_v<element<decltype(x > 0.5)>, bool>);
static_assert(is_same_v<decltype(dm::select(x > y, x, x)), narrow>);
static_assert(is_same_v<decltype(dm::select(x > y, x, y)), wide>);
constexpr auto product = [](auto u, auto v) {
  static_assert(is_same_v<decltype(u), float>);  // what f sees
  return u * v;
};
static_assert(is_same_v<decltype(dm::map(product, x, b)), narrow>);
static_assert(is_same_v<decltype(dm::map<float>(product, x, b)), wide>);
static_assert(is_same_v<decltype(dm::map<bfloat16>(product, y, y)), narrow>);
static_assert(is_same_v<decltype(dm::cast<bfloat16>(y)), narrow>);
static_assert(is_same_v<decltype(dm::cast<float>(x)), wide>);

// Reductions and products.
static_assert(is_same_v<element<decltype(dm::sum<hidden>(x))>, bfloat16>);
static_assert(is_same_v<element<decltype(dm::sum<float, hidden>(x))>, float>);
static_assert(is_same_v<decltype(dm::sum<float>(x)), decltype(dm::sum(y))>);
static_assert(is_same_v<element<decltype(dm::mean(x))>, bfloat16>);
static_assert(is_same_v<element<decltype(dm::mean<double, batch>(x))>, double>);
static_assert(is_same_v<element<decltype(dm::max<hidden>(x))>, bfloat16>);
static_assert(is_same_v<decltype(dm::softmax<hidden>(x)), narrow>);
static_assert(is_same_v<element<decltype(dm::argmax<label>(w))>, std::int32_t>);
static_assert(is_same_v<element<decltype(dm::einsum<batch, label>(x, w))>, bfloat16>);
static_assert(is_same_v<decltype(dm::einsum<float, batch, label>(x, w)),
                        decltype(dm::einsum<batch, label>(y, dm::cast<float>(w)))>);
static_assert(is_same_v<element<decltype(dm::einsum<double, batch, label>(x, w))>, double>);
static_assert(
    is_same_v<element<decltype(dm::einsum<bfloat16, batch, label>(y, dm::cast<float>(w)))>,
              bfloat16>);

// A product of bfloat16 and float is for the caller to decide.
template <class Out, class... A>
using fault = dm::detail::spec_fault<dm::detail::einsum_rule<Out>, dm::spec_of<A>...>;
static_assert(is_same_v<fault<dm::detail::list<batch, label>, wide, weights>,
                        dm::elements_differ<float, bfloat16>>);
// The element type comes before the dims.
template <class... A> concept sums = requires { dm::sum<A...>(x); };
static_assert(sums<float, hidden> && sums<hidden> && sums<> && !sums<hidden, float>);

// Addends stay addends in either type: rounding is relative.
using addends = dm::tensor<float, dm::shaped<L<dm::partial<rows>>>, batch>;
static_assert(is_same_v<decltype(dm::cast<bfloat16>(addends{})),
                        dm::tensor<bfloat16, dm::shaped<L<dm::partial<rows>>>, batch>>);

}  // namespace

TEST_CASE("bfloat16: half of float's bytes move") {
  constexpr auto moved = [](auto u, auto v) {
    dm::detail::tally t;
    [[maybe_unused]] const auto c = dm::einsum<batch, label>(u.counted_by(&t), v.counted_by(&t));
    return t.moved;
  };
  static_assert(2 * moved(x, w) == moved(y, X<float, hidden, label>{}));
  CHECK(moved(x, w) == 2 * (4 * 3 + 3 * 10 + 4 * 10));
}
