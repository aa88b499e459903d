// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user's own functions have names that operations have, too: calls without angle brackets, which
// find both because the arguments are tensors, are the user's.
#include <complex>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/is_legal.hpp>
#include <dimesh/op/parts/misuse.hpp>
#include <dimesh/op/shuffle.hpp>
#include <dimesh/op/slice.hpp>
#include <dimesh/op/sort.hpp>

namespace dm = dimesh;

namespace app {
struct time : dm::dim<8> {};
struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
using reals = dm::tensor<double, dm::layout<line>, time>;

double pick(const reals& x, std::size_t at);
reals shuffle(const reals& x, unsigned seed);
reals top_k(const reals& x, long k);
reals sort(reals x, bool up);
reals slice(const reals& x, long begin, long end);

template <class X>
inline constexpr bool all_are_users = requires(const X& x) {
  { pick(x, 3) } -> std::same_as<double>;
  { shuffle(x, 1) } -> std::same_as<reals>;
  { top_k(x, 3) } -> std::same_as<reals>;
  { sort(x, true) } -> std::same_as<reals>;
  { slice(x, 0, 4) } -> std::same_as<reals>;
};
static_assert(all_are_users<reals>);

using complexes = dm::tensor<std::complex<double>, dm::layout<line>, time>;
static_assert(dm::is_mappable<complexes> && !dm::is_real_mappable<complexes>);
static_assert(dm::is_mappable<reals> && dm::is_real_mappable<reals>);
}  // namespace app
