// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O0
// Operations take sketches, and what follows from annotations before and after them is a layout
// under which they compile. Not these: stencil, which refuses probes, as types say how far it sees;
// operations that name an axis (merge_exchange and cut_exchange among them, in the split of what is
// new); and ragged ones (dispatch), whose blocks only the run knows.
#define DIMESH_WITH_FFTW 0  // transforms are counted, and none is run
#include <doctest/doctest.h>

#include "dimesh/dimesh.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/op/attention.hpp"
#include "dimesh/op/batch_norm.hpp"
#include "dimesh/op/concat_exchange.hpp"
#include "dimesh/op/fft_exchange.hpp"
#include "dimesh/op/gather.hpp"
#include "dimesh/op/grouped_einsum.hpp"
#include "dimesh/op/masked_mean.hpp"
#include "dimesh/op/pooling_exchange.hpp"
#include "dimesh/op/reductions.hpp"
#include "dimesh/op/rotary.hpp"
#include "dimesh/op/scan.hpp"
#include "dimesh/op/shuffle_exchange.hpp"
#include "dimesh/op/slice_exchange.hpp"
#include "dimesh/op/sort_all_to_all.hpp"
#include "dimesh/op/split_into_exchange.hpp"
#include "dimesh/op/top_k_all_gather.hpp"
#include "dimesh/plan/annotate.hpp"

namespace {
namespace dm = dimesh;
using dm::split;

struct batch : dm::dim<16> {};
struct pixel : dm::dim<8> {};
struct hidden : dm::dim<12> {};
struct other : dm::dim<12> {};
struct label : dm::dim<8> {};
struct best : dm::dim<4> {};
struct both : dm::dim<16> {};
struct half : dm::dim<5> {};
struct pair : dm::dim<2> {};
struct joined : dm::dim<24> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
using any = dm::layout<pod, dm::at_run_time>;
template <class T, class... D> struct given {
  using sketched = dm::probe<T, pod, D...>;
  template <class L> using typed = dm::tensor<T, dm::shaped<L>, D...>;
};
template <class... D> using X = given<float, D...>;
template <class... D> using I = given<std::int32_t, D...>;

/// F of operands of which the first one is annotated.
template <class F, class... Rule> struct annotated {
  template <class A, class... B> constexpr auto operator()(const A& a, const B&... b) const {
    return F{}(dm::shard<Rule...>(a), b...);
  }
};
template <class... Rule> struct by {
  template <class... G, class F> static bool check(F) {
    using found = dm::inferred<annotated<F, Rule...>, typename G::sketched...>;
    using L = typename found::layout;
    (void)dm::count(annotated<F, Rule...>{}, typename G::template typed<L>{}...);
    return std::is_same_v<typename found::moves, dm::inserted<>>;
  }
};
using by_batch = by<split<batch, rows>>;
using by_pixel = by<split<pixel, cols>>;
using by_both = by<split<batch, rows>, split<hidden, cols>>;

TEST_CASE("annotate: operations join dims as their rules say") {
  using dm::random_key;
  CHECK(by_both::check<X<batch, hidden>, X<hidden>>(
      [](const auto& a, const auto& c) { return relu(a + c) * 2 - c; }));
  CHECK(by_both::check<X<batch, hidden>>([](const auto& a) { return dm::max<batch>(a); }));
  CHECK(by_both::check<X<batch, hidden>>(
      [](const auto& a) { return dm::complete(dm::mean<hidden>(a)); }));
  CHECK(by_batch::check<X<batch, pixel>, X<pixel, hidden>>(
      [](const auto& a, const auto& c) { return dm::einsum<hidden, batch>(a, c); }));
  CHECK(by_pixel::check<X<batch, pixel>, X<pixel, hidden>, X<hidden>>(
      [](const auto& a, const auto& c, const auto& d) { return dm::einsum<batch>(a, c, d); }));
  CHECK(by_both::check<X<batch, hidden>>(
      [](const auto& a) { return dm::whole<hidden>(dm::whole<batch>(dm::whole<batch>(a))); }));
  CHECK(by_both::check<X<batch, hidden>>(
      [](const auto& a) { return dm::relayout<dm::layout<pod, split<hidden, rows>>>(a); }));
  CHECK(by_both::check<X<batch, hidden>>(
      [](const auto& a) { return dm::permute<hidden, batch>(a); }));
  CHECK(by_both::check<X<batch, hidden>, X<other>>(
      [](const auto& a, const auto& c) { return dm::rename<hidden, other>(a) * c; }));
  CHECK(by_both::check<X<batch, hidden>>([](const auto& a) { return dm::cast<double>(a); }));
  CHECK(by_batch::check<I<batch>>([](const auto& a) { return dm::one_hot<label>(a); }));
  CHECK(by_batch::check<X<batch, pixel>>([](const auto& a) { return dm::argmax<pixel>(a); }));
  CHECK(by<split<hidden, cols>>::check<X<hidden, pixel>, I<batch>>(
      [](const auto& a, const auto& i) { return dm::complete(dm::take<hidden>(a, i)); }));
  CHECK(by_both::check<X<batch, hidden>, X<hidden>>(
      [](const auto& a, const auto& c) { return dm::layer_norm<hidden>(a, c, c); }));
  CHECK(by_pixel::check<X<batch, pixel>>([](const auto& a) { return dm::rms_norm<pixel>(a); }));
  CHECK(by_both::check<X<batch, hidden>>([](const auto& a) { return dm::softmax<hidden>(a); }));
  CHECK(by_both::check<X<batch, hidden>, I<batch>>(
      [](const auto& a, const auto& i) { return dm::softmax_cross_entropy<hidden>(a, i); }));
  CHECK(
      by_batch::check<X<batch, pixel>>([](const auto& a) { return dm::rotary<batch, pixel>(a); }));
  CHECK(by_both::check<X<batch, hidden>>(
      [](const auto& a) { return dm::dropout(0.5, random_key(1), a); }));
  CHECK(by_batch::check<X<batch, pixel>, X<other, pixel>>(
      [](const auto& q, const auto& k) { return dm::attention<batch, other, pixel>(q, k, k); }));
}

TEST_CASE("annotate: operations that pick, order and join elements") {
  CHECK(by_batch::check<X<batch, pixel>, I<batch, label>>(
      [](const auto& a, const auto& i) { return dm::gather<pixel, label>(a, i); }));
  CHECK(by_batch::check<X<batch, pixel>, I<batch, pixel>>(
      [](const auto& a, const auto& i) { return dm::scatter_add<pixel, label>(a, i); }));
  CHECK(by_batch::check<X<batch, pixel>>([](const auto& a) {
    return dm::gather<pixel, pixel>(dm::sort<pixel>(a), dm::argsort<pixel>(a));
  }));
  CHECK(by_batch::check<X<batch, pixel>>(
      [](const auto& a) { return dm::top_k<pixel, best>(a).values; }));
  CHECK(by_batch::check<X<batch, pixel>>(
      [](const auto& a) { return dm::linear_recurrence<pixel>(a, dm::cumsum<pixel>(a)); }));
  CHECK(by_batch::check<X<batch, pixel>, X<batch, label>>([](const auto& a, const auto& c) {
    return dm::stack<pair>(dm::concat<both, pixel, label>(a, c),
                           dm::concat<both, pixel, label>(a, c));
  }));
  CHECK(by_batch::check<X<batch, hidden>, X<batch, other>>([](const auto& a, const auto& c) {
    return dm::pad<pixel, other>(dm::slice<hidden, pixel>(dm::flip<hidden>(a), 2), 1) + c;
  }));
  CHECK(by_batch::check<X<batch, pixel>>([](const auto& a) { return dm::pick<pixel>(a, 3); }));
  CHECK(by_batch::check<X<batch, pixel>>(
      [](const auto& a) { return dm::shuffle<pixel>(dm::random_key(1), a); }));
  CHECK(by_batch::check<X<batch, hidden>>([](const auto& a) {
    const auto [one, two] = dm::split_into<hidden, best, pixel>(a);
    return dm::sum<best>(one) + dm::unstack<pixel>(two)[1];
  }));
}

TEST_CASE("annotate: transforms take their dims whole") {
  CHECK(by_batch::check<X<batch, pixel>, X<pixel>>([](const auto& a, const auto& c) {
    return dm::real(dm::ifft<pixel>(dm::fft<pixel>(a))) * c;
  }));
  CHECK(by_batch::check<X<batch, pixel>>(
      [](const auto& a) { return dm::irfft<half, pixel>(dm::rfft<pixel, half>(a)); }));
}

TEST_CASE("annotate: operations of groups, windows and statistics") {
  CHECK(by_batch::check<X<batch, pixel>, X<label, pixel, other>, I<label>>(
      [](const auto& a, const auto& w, const auto& n) {
        return dm::grouped_einsum<batch, label, batch, other>(a, w, n);
      }));
  CHECK(by<split<hidden, cols>>::check<X<batch, hidden>, X<hidden>>(
      [](const auto& a, const auto& c) { return dm::batch_norm<hidden>(a, c, c).y; }));
  CHECK(by_both::check<X<batch, hidden>, X<hidden>>(
      [](const auto& a, const auto& c) { return dm::batch_norm_all_reduce<hidden>(a, c, c).y; }));
  CHECK(by_both::check<X<batch, hidden>, X<batch, hidden>>(
      [](const auto& a, const auto& c) { return dm::complete(dm::masked_mean(a, c != 0.f)); }));
  CHECK(by_batch::check<X<batch, hidden>>([](const auto& a) {
    return dm::mean_pool(a, dm::pool_window<hidden, best>{.size = 3, .stride = 3});
  }));
}

TEST_CASE("annotate: what communicates by its name, along a dim that is split") {
  CHECK(
      by_both::check<X<batch, hidden>>([](const auto& a) { return dm::cumsum_exscan<batch>(a); }));
  CHECK(by_batch::check<X<batch>>([](const auto& a) { return dm::sort_all_to_all<batch>(a); }));
  CHECK(by_both::check<X<batch, hidden>>(
      [](const auto& a) { return dm::top_k_all_gather<batch, best>(a).values; }));
  CHECK(by_both::check<X<batch, hidden>>(
      [](const auto& a) { return dm::slice_exchange<batch, label>(a, 3); }));
  CHECK(by_both::check<X<batch, hidden>>(
      [](const auto& a) { return std::get<1>(dm::split_into_exchange<batch, label, pixel>(a)); }));
  CHECK(by_both::check<X<batch, hidden>>(
      [](const auto& a) { return dm::shuffle_exchange<batch>(dm::random_key{1}, a); }));
  CHECK(by_both::check<X<batch, hidden>>(
      [](const auto& a) { return dm::prod_all_reduce<batch>(a); }));
  CHECK(by_both::check<X<batch, hidden>>([](const auto& a) {
    return dm::real(dm::ifft_exchange<batch>(dm::fft_exchange<batch>(a)));
  }));
  CHECK(by_batch::check<X<batch, hidden>, X<label, hidden>>([](const auto& a, const auto& c) {
    return dm::concat_exchange<joined, batch, label>(a, c);
  }));
  CHECK(by_batch::check<X<batch, hidden>>([](const auto& a) {
    return dm::mean_pool_exchange(a, dm::pool_window<batch, label>{.size = 2, .stride = 2});
  }));
}

/// A sketch has no blocks yet, so that none change places; that is said as of a gather.
template <class A> struct swapped {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::permute_along<A>(dm::shard<split<batch, A>>(x), std::array{1, 0});
  }
};
struct many : dm::axis<> {};
struct line : dm::mesh<many> {};
template <class A, class M>
using swap_fault =
    typename dm::detail::inference_from<swapped<A>, dm::probe<float, M, batch, hidden>>::fault;
static_assert(std::is_same_v<swap_fault<rows, pod>, dm::text_takes_no_layout<swapped<rows>>>);
static_assert(std::is_same_v<swap_fault<many, line>, dm::text_takes_no_layout<swapped<many>>>);

}  // namespace
