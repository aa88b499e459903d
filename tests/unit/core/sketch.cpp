// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O0
#include "dimesh/core/sketch.hpp"

#include "dimesh/core/sketch_rule.hpp"
#include "dimesh/op/argmax.hpp"
#include "dimesh/op/einsum.hpp"
#include "dimesh/op/rename.hpp"

namespace dm = dimesh;
using namespace dimesh::detail;

namespace {

struct batch : dm::dim<8> {};
struct pixel : dm::dim<12> {};
struct hidden : dm::dim<6> {};
struct other : dm::dim<6> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<4> {};
struct pod : dm::mesh<rows, cols> {};
template <class... D> using S = dm::spec<float, dm::layout<pod>, D...>;

constexpr layout_rule over(int axis) {
  layout_rule r;
  r.kind = rule_kind::split;
  r.axis[0] = static_cast<signed char>(axis);
  r.axes = 1;
  return r;
}

// ---- slots --------------------------------------------------------------------------------------

constexpr bool what_is_said_reaches_all_that_are_joined() {
  sketch_slot a, b, c;
  const bool free = sketch::join(a, b) && sketch::join(b, c);
  sketch::say(a.root(), over(1), 3, nullptr);
  return free && c.root().is_said && c.root().by == 3 && c.root().rule.axis[0] == 1;
}
static_assert(what_is_said_reaches_all_that_are_joined());

constexpr bool two_that_differ_do_not_join() {
  sketch_slot a, b, c;
  sketch::say(a, over(0), 1, nullptr);
  sketch::say(b, over(1), 2, nullptr);
  sketch::say(c, over(0), 3, nullptr);
  return !sketch::join(a, b) && sketch::join(a, c);
}
static_assert(two_that_differ_do_not_join());
static_assert(says_the_same(over(1), over(1)) && !says_the_same(over(0), over(1)));
static_assert(!says_the_same(over(0), layout_rule{}));

constexpr bool arguments_share_the_line() {
  sketch s;
  sketch_value& x = s.given(spec_facts<S<batch, pixel>>);
  sketch_value& y = s.given(spec_facts<S<hidden, batch>>);
  return &x.slot[0].root() == &y.slot[1].root() && &x.slot[1].root() != &y.slot[0].root();
}
static_assert(arguments_share_the_line());

constexpr layout_rule of_batch(int axis) {
  layout_rule r = over(axis);
  r.dim = &facts_of_dim<batch>;
  return r;
}
constexpr bool the_first_annotation_flows_back_the_second_moves() {
  sketch s;
  sketch_value& x = s.given(spec_facts<S<batch, pixel>>);
  const layout_rule first = of_batch(0), second = of_batch(1);
  sketch_value& y = s.annotate(x, {&first, 1, 2, nullptr}, nullptr);
  sketch_value& z = s.annotate(y, {&second, 1, 2, nullptr}, nullptr);
  return &x.slot[0].root() == &y.slot[0].root() && x.slot[0].root().by == 1 &&
         &z.slot[0].root() != &y.slot[0].root() && z.slot[0].root().by == 2 &&
         &z.slot[1].root() == &x.slot[1].root() && s.annotations == 2;
}
static_assert(the_first_annotation_flows_back_the_second_moves());

// ---- what rules join ----------------------------------------------------------------------------

using product = links_by_rule<einsum_rule<list<batch, hidden>>, S<batch, pixel>, S<pixel, hidden>>;
constexpr const rule_links::link& product_of(const dim_facts& d) {
  return product::value.at[product::value.place_of(&d)];
}
static_assert(product_of(facts_of_dim<batch>).is_free && product_of(facts_of_dim<batch>).to == 0);
static_assert(product_of(facts_of_dim<hidden>).is_free && product_of(facts_of_dim<hidden>).to == 1);
static_assert(product_of(facts_of_dim<pixel>).is_free && product_of(facts_of_dim<pixel>).to == -1);
static_assert(product_of(facts_of_dim<pixel>).is_summed &&
              !product_of(facts_of_dim<batch>).is_summed);
static_assert(product::value.place_of(&facts_of_dim<other>) < 0);

using renaming = links_by_rule<rename_rule<hidden, other>, S<batch, hidden>>;
static_assert(renaming::value.at[renaming::value.place_of(&facts_of_dim<hidden>)].to == 1);
using best = links_by_rule<argmax_rule<hidden>, S<batch, hidden>>;
static_assert(!best::value.at[best::value.place_of(&facts_of_dim<hidden>)].is_free,
              "it must be whole");
static_assert(best::value.at[best::value.place_of(&facts_of_dim<batch>)].is_free);
static_assert(!links_by_rule<argmax_rule<pixel>, S<batch, hidden>>::value.plain.ok());

}  // namespace
