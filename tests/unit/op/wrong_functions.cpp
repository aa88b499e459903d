// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which arguments are taken for a function in the wrong place? None that are right.
#include "dimesh/op/refusals/wrong_functions.hpp"

#include <cmath>

#include "dimesh/op/functions.hpp"
#include "support/ops.hpp"

namespace {
using namespace test_support::ops;

using A = X<float, L<>, batch>;
struct twice {
  template <class T> T operator()(T v) const { return 2 * v; }
};
template <class... T> inline constexpr bool misplaced = dm::detail::function_misplaced<T...>;

static_assert(!misplaced<twice, A> && !misplaced<twice, A, A> && !misplaced<twice, dm::poison>);
static_assert(misplaced<A, twice> && misplaced<A, A> && misplaced<twice, A, float>);
static_assert(!misplaced<int, int>, "map(1, 2) is another function's business");
static_assert(is_same_v<decltype(dm::map(twice{}, A{})), A>);

/// A tensor's function is found by its argument, whatever of std is in sight.
template <class Y> auto in_sight_of_std(const Y& x) {
  using namespace std;
  return exp(x) + log(x) + tanh(x) + sqrt(x) + sin(x) + cos(x) + abs(x);
}
static_assert(is_same_v<decltype(in_sight_of_std(A{})), A>);

}  // namespace
