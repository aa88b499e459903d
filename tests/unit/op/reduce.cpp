// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/op/reduce.hpp"

#include <doctest/doctest.h>

#include "dimesh/op/complete.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<8> {};
struct hidden : dm::dim<6> {};
struct label : dm::dim<10> {};
struct length : dm::dim<> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
template <class... R> using L = dm::layout<pod, R...>;
template <class T, class La, class... D> using X = dm::tensor<T, dm::shaped<La>, D...>;
using std::is_same_v;

using both = X<float, L<dm::split<batch, rows>, dm::split<hidden, cols>>, batch, hidden>;
using addends = X<float, L<dm::partial<rows>>, batch, hidden>;
using whole = X<float, L<>, batch, hidden>;

// Summing a split dim leaves addends; the other dims stay as they are.
static_assert(is_same_v<decltype(dm::sum<hidden>(both{})),
                        X<float, L<dm::split<batch, rows>, dm::partial<cols>>, batch>>);
static_assert(is_same_v<decltype(dm::sum<batch>(both{})),
                        X<float, L<dm::partial<rows>, dm::split<hidden, cols>>, hidden>>);
static_assert(
    is_same_v<decltype(dm::sum(both{})), X<float, L<dm::partial<rows>, dm::partial<cols>>>>);
static_assert(is_same_v<decltype(dm::sum<batch, hidden>(both{})), decltype(dm::sum(both{}))>);
static_assert(is_same_v<decltype(dm::sum<hidden>(whole{})), X<float, L<>, batch>>);
static_assert(
    is_same_v<decltype(dm::sum<hidden>(addends{})), X<float, L<dm::partial<rows>>, batch>>);
// A dim over two axes leaves addends over both.
using deep = X<float, L<dm::split<batch, cols, rows>>, batch, hidden>;
static_assert(is_same_v<decltype(dm::sum<batch>(deep{})),
                        X<float, L<dm::partial<rows>, dm::partial<cols>>, hidden>>);
static_assert(
    is_same_v<decltype(dm::sum<hidden>(deep{})), X<float, L<dm::split<batch, cols, rows>>, batch>>);

static_assert(is_same_v<decltype(dm::max<hidden>(both{})),
                        X<float, L<dm::split<batch, rows>, dm::partial_max<cols>>, batch>>);
static_assert(is_same_v<decltype(dm::min<batch>(both{})),
                        X<float, L<dm::partial_min<rows>, dm::split<hidden, cols>>, hidden>>);

// Elements: truths are counted, whole numbers have fractional means.
static_assert(is_same_v<decltype(dm::sum(X<bool, L<>, batch>{})), X<dm::index_t, L<>>>);
static_assert(is_same_v<decltype(dm::sum(X<int, L<>, batch>{})), X<int, L<>>>);
static_assert(is_same_v<decltype(dm::mean(X<int, L<>, batch>{})), X<double, L<>>>);
static_assert(is_same_v<decltype(dm::mean<batch>(both{})), decltype(dm::sum<batch>(both{}))>);

// Faults, by name.
template <bool Addends, class T, class... D>
using fault = typename dm::detail::over_dims_fault<Addends, T, D...>::type;
static_assert(is_same_v<fault<true, both, label>, dm::dim_not_in_tensor<label>>);
static_assert(is_same_v<fault<true, both, batch, batch>, dm::dim_repeated<batch>>);
static_assert(is_same_v<fault<false, addends, batch>, dm::partial_operand<rows>>);
static_assert(
    is_same_v<fault<true, decltype(dm::max<hidden>(both{})), batch>, dm::partial_operand<cols>>);
static_assert(is_same_v<fault<true, X<float, L<dm::split<dm::halo<batch, 1>, rows>>, batch>, batch>,
                        dm::dim_has_halo<batch>>);
static_assert(is_same_v<decltype(dm::sum<batch>(dm::poison{})), dm::poison>);
static_assert(is_same_v<decltype(dm::max(dm::poison{})), dm::poison>);

// The transpose of a sum gives the cotangent of what was summed.
constexpr bool transposes() {
  dm::detail::tape tape;
  const both x;
  const auto recorded = dm::detail::recorded_on(tape, x);
  auto* const start = tape.last();
  const auto y = dm::sum<hidden>(recorded);
  y.cell()->add(
      dm::tensor<float, dm::gradient<dm::shaped<L<dm::split<batch, rows>, dm::partial<cols>>>>,
                 batch>{});
  tape.backward(start);
  const dm::detail::tensor_core& bar = recorded.cell()->bar;
  const dm::detail::tensor_facts& own = dm::detail::spec_facts<dm::spec_of<both>>;
  return bar.layout() == own.layout &&
         bar.facts->same_dims(own);  // split on both axes: its own dual
}
static_assert(transposes());

// What it costs: one pass over the block.
constexpr dm::index_t counted(bool flops) {
  dm::detail::tally t;
  const auto y = dm::sum<hidden>(both{}.counted_by(&t));
  return flops ? t.flops : t.moved;
}
static_assert(counted(true) == 4 * 3);
static_assert(counted(false) == 4 * (4 * 3 + 4));

}  // namespace

TEST_CASE("mean: divides by extents that only the run knows") {
  const X<double, L<>, length> x(dm::mesh_sizes<pod>{}, length{7});
  CHECK(dm::mean(x).local_size() == 1);
  CHECK(dm::detail::count_list(x, dm::detail::list<length>{}) == 7);
}
