// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// checks: 1043 2086 3129
// compiler: clang
// Slots of experts that hold no token are not multiplied: the products of those that do, under
// every layout, with their transposes and bytes; what lies behind them is not read, though it were
// no number; a layer's results and gradients are those of all slots.
#include <dimesh/dimesh.hpp>

#include <doctest/doctest.h>

#include "dimesh/grad/vjp.hpp"
#include "dimesh/nn/moe/parts/work.hpp"
#include "support/experts.hpp"
#include "support/places.hpp"

namespace {
using namespace test_support;
using namespace test_support::moe;
using dm::layout;
using dm::split;
using dm::uneven;
using dm::detail::list;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// How many slots of an expert and a group are filled: none, some, all.
enum class fill { none, mixed, all };
template <fill F> constexpr std::int32_t filled_of(index_t e, index_t g, index_t slots) {
  if (F != fill::mixed) return F == fill::all ? static_cast<std::int32_t>(slots) : 0;
  return static_cast<std::int32_t>((2 * e + 3 * g) % (slots + 1));
}
/// a[r, p, slot, ..] with `other` in slots that are not filled.
template <fill F> array masked(const array& a, double other = 0) {
  return make(a.dims, a.size, [&](const extents& at) {
    return at[2] < filled_of<F>(at[0], at[1], a.size[2]) ? value_at(a, a.dims, at) : other;
  });
}

// ---- rows and their products ------------------------------------------------------------------

struct wide : dm::dim<> {
  using dm::dim<>::dim;
};
/// Numbers of filled slots beside x[r, p, slot, s].
template <fill F, class L, class X> auto counts_for(const X& v, const extents& n) {
  const index_t slots = n[2];
  return places_beside<L, r, p>(
      v, [slots](index_t e, index_t g) { return filled_of<F>(e, g, slots); }, r{n[0]}, p{n[1]});
}
template <fill F, class L> struct product_of_filled {
  extents n;
  template <class X, class W> auto operator()(const X& v, const W& w) const {
    const auto filled = counts_for<F, L>(v, n);
    return nn::detail::moved_filled<moe::slot, true>(
        nn::detail::filled_einsum<moe::slot, list<r, p, moe::slot, wide>>(
            nn::detail::moved_filled<moe::slot, false>(v, filled), w, filled),
        filled);
  }
};
template <fill F, class L> void check_product(const dm::grid<plane>& g, const extents& n) {
  const array a = masked<F>(numbers({"r", "p", "slot", "s"}, n, 1)),
              b = numbers({"r", "s", "wide"}, {n[0], n[3], 3}, 2);
  const product_of_filled<F, L> f{n};
  const auto w = scattered<dm::tensor<double, L, r, s, wide>>(g, b);
  const array want = einsum({"r", "p", "slot", "wide"}, {a, b});
  CHECK(agrees(f(scattered<dm::tensor<double, L, r, p, moe::slot, s>>(g, masked<F>(a, nan)), w),
               want));
  check_operation(f, {}, {a, b}, scattered<dm::tensor<double, L, r, p, moe::slot, s>>(g, a), w);
}

TEST_CASE("products of filled slots: values, transposes, bytes, whatever splits other dims") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_all_layouts<plane, list<r, p, s>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      for (const extents& n : {extents{3, 4, 3, 2}, extents{4, 1, 2, 5}, extents{2, 0, 2, 1}}) {
        check_product<fill::mixed, L>(g, n);
        check_product<fill::none, L>(g, n);
        check_product<fill::all, L>(g, n);
      }
    });
  });
}

TEST_CASE("rows behind the filled ones are not multiplied, nor weights of an expert without any") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    using L = layout<plane, split<uneven<r>, x>, split<wide, y>>;
    const extents n{4, 1, 3, 2};  // of one group rows stand in front as they are
    const array a = numbers({"r", "p", "slot", "s"}, n, 1),
                b = numbers({"r", "s", "wide"}, {4, 2, 4}, 2);
    static_assert(filled_of<fill::mixed>(0, 0, 3) == 0 && filled_of<fill::mixed>(1, 0, 3) == 2);
    const array some = make(b.dims, b.size, [&](const extents& at) {
      return at[0] == 0 ? nan : value_at(b, b.dims, at);
    });
    auto run = dm::vjp(
        [&](const auto& v, const auto& w) {
          return nn::detail::filled_einsum<moe::slot, list<r, p, moe::slot, wide>>(
              v, w, counts_for<fill::mixed, L>(v, n));
        },
        scattered<dm::tensor<double, L, r, p, moe::slot, s>>(g, masked<fill::mixed>(a, nan)),
        scattered<dm::tensor<double, L, r, s, wide>>(g, some));
    const array zeros = masked<fill::mixed>(a);
    CHECK(agrees(run.value, einsum({"r", "p", "slot", "wide"}, {zeros, b})));
    const array c = numbers({"r", "p", "slot", "wide"}, {4, 1, 3, 4}, 3);
    const auto [v_bar, w_bar] = run.pullback(
        scattered<dm::tensor<double, L, r, p, moe::slot, wide>>(g, masked<fill::mixed>(c, nan)));
    CHECK(
        agrees(dm::complete(v_bar), einsum({"r", "p", "slot", "s"}, {masked<fill::mixed>(c), b})));
    CHECK(agrees(dm::complete(w_bar), einsum({"r", "s", "wide"}, {zeros, c})));
  });
}

TEST_CASE("numbers of filled slots: the last place that is taken, with those before") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    for_all_layouts<plane, list<p>, unevenly>([&](auto t) {
      using L = typename decltype(t)::type;
      const auto place = [](index_t i, index_t t, index_t k) {
        return static_cast<std::int32_t>((5 * i + 3 * t + k) % 11 - 2);  // -2 .. 8, of 0 .. 5
      };
      const array want = make({"r", "p"}, {3, 4}, [&](const extents& at) {
        std::int32_t last = -1;
        for (index_t i = 0; i < 6; ++i)
          if (const auto k = place(at[1], i / 2, i % 2); k >= 0 && k / 2 == at[0])
            last = std::max(last, k % 2);
        return last + 1.;
      });
      const auto slots = dm::generate<dm::tensor<std::int32_t, L, p, q, moe::choice>>(
          g, place, p{4}, q{3}, moe::choice{});
      CHECK(agrees(nn::detail::count_filled<q, moe::choice, r>(slots, 3, 2), want));
    });
  });
}

// ---- a layer ----------------------------------------------------------------------------------

using over_rows = layout<plane, split<moe::expert, x>, split<moe::hidden, y>>;
using over_all = layout<plane, split<moe::expert, x, y>>;
using over_columns = layout<plane, split<p, x>, split<moe::expert, y>>;
using by_model = layout<plane, split<moe::expert, x>, split<uneven<moe::model>, y>>;
using by_slot = layout<plane, split<moe::expert, x>, split<uneven<moe::slot>, y>>;

template <class E, class M>
constexpr bool skips =
    nn::detail::keeps_rows<E, dm::tensor<double, E, moe::expert, p, moe::slot, moe::model>,
                           dm::tensor<double, E, moe::expert, moe::model, moe::hidden>>();
static_assert(skips<over_rows, roomy> && skips<over_all, roomy> && skips<over_columns, roomy> &&
              skips<by_model, roomy> && skips<layout<plane>, roomy>);
static_assert(!skips<by_slot, roomy>);
/// Groups stay whole beside the hidden dim, and nowhere else.
using moved = layout<plane, split<moe::hidden, x>, dm::split_if_free<p, x>>;
static_assert(!skips<moved, roomy>);

/// What is in slots and parameters of a layer.
template <class E, class M> struct slots_and_weights {
  using held_type = dm::tensor<double, E, moe::expert, p, moe::slot, moe::model>;
  using weights_type = nn::mixture_parameters<E, M>;
  BOOST_HANA_DEFINE_STRUCT(slots_and_weights, (held_type, held), (weights_type, w));
};
template <fill F, class E, class M> void check_layer(const dm::grid<plane>& g) {
  const extents n{4, 4, 3, 3};
  const array a = masked<F>(reals({"expert", "p", "slot", "model"}, n, 8));
  const array ones = make({"expert", "p", "slot"}, {4, 4, 3}, [](const extents&) { return 1.; });
  const slots_and_weights<E, M> all{
      scattered<dm::tensor<double, E, moe::expert, p, moe::slot, moe::model>>(g, a),
      parameters_on<E, M>(g)};
  const auto mask = scattered<dm::tensor<double, E, moe::expert, p, moe::slot>>(g, masked<F>(ones));
  const auto filled = dm::generate<dm::tensor<std::int32_t, E, moe::expert, p>>(
      g, [](index_t e, index_t i) { return filled_of<F>(e, i, 3); }, p{4});
  const auto run = [&](const auto& numbers) {
    return dm::complete(dm::value_and_grad(
        [&](const auto& in) {
          const auto y = nn::detail::expert_feed_forward<moe::expert>(nn::model<E, M>{}, in.w,
                                                                      in.held, numbers);
          return dm::complete(dm::sum(y * y * mask));
        },
        all)());
  };
  const auto want = run(nn::detail::all_slots{}), got = run(filled);
  CHECK(dm::value(got.value) == doctest::Approx(dm::value(want.value)).epsilon(1e-12));
  std::vector<double> apart;
  dm::for_each_tensor(
      [&](const auto&, const auto& u, const auto& v) {
        apart.push_back(dm::value(dm::complete(dm::max(dm::abs(u - v)))));
      },
      got.gradient, want.gradient);
  CHECK(apart.size() > 3);
  for (const double d : apart) CHECK(d < 1e-12);
}

TEST_CASE("a layer in filled slots: values and gradients of all of them, biases', too") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    if (4 % g.everyone().size() != 0) return;
    check_layer<fill::mixed, over_rows, roomy>(g);
    check_layer<fill::none, over_rows, roomy>(g);
    check_layer<fill::all, over_rows, roomy>(g);
    check_layer<fill::mixed, over_all, gated_biased>(g);
    check_layer<fill::mixed, over_columns, gated>(g);
    check_layer<fill::mixed, by_model, roomy>(g);
  });
}

TEST_CASE("layouts that part the slots of an expert, or move groups, compute all: equal results") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    using rows = layout<plane, split<p, x>>;
    check_as_alone(outcome<rows, by_slot, over_rows, tight>(g, g));
    check_as_alone(outcome<rows, moved, over_rows, tight>(g, g));
  });
}

}  // namespace
