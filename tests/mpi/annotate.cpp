// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 2 4
// Programs with annotations compute, under the layout that follows from these, the bits of the same
// programs without them under the layout written by hand, with the same messages; and what
// annotations move, moves as the types say.
#include <doctest/doctest.h>

#include <census.hpp>
#include <vector>

#include "dimesh/dimesh.hpp"
#include "dimesh/nn/initialize.hpp"
#include "dimesh/nn/language_model.hpp"
#include "dimesh/op/shard.hpp"
#include "dimesh/plan/annotate.hpp"
#include "support/adjoint.hpp"
#include "support/host.hpp"
#include "support/small_form.hpp"

namespace {
namespace dm = dimesh;
namespace nn = dimesh::nn;
using dimesh::index_t;
using dm::split;

struct batch : dm::dim<8> {};
struct some : dm::dim<> {};  // as many rows as the run says
struct length : dm::dim<8> {};
struct model : dm::dim<8> {};
struct heads : dm::dim<8> {};
struct head : dm::dim<2> {};
struct hidden : dm::dim<16> {};
struct vocab : dm::dim<24> {};
struct form : test_support::small_form<batch, length, model, heads, head, hidden, vocab> {
  using element = double;
  using deviation = std::ratio<2, 10>;
};
struct rows : dm::axis<> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
using any = dm::layout<pod, dm::at_run_time>;
using hybrid = dm::layout<pod, split<batch, rows>, split<heads, cols>, split<hidden, cols>,
                          split<vocab, cols>>;

using test_support::said;

template <class L> struct network {
  using weight = nn::parameter<nn::normal<std::ratio<1, 2>>, double, L, model, hidden>;
  using second = nn::parameter<nn::normal<std::ratio<1, 2>>, double, L, hidden, vocab>;
  using bias = nn::parameter<nn::normal<std::ratio<1, 2>>, double, L, hidden>;
  BOOST_HANA_DEFINE_STRUCT(network, (weight, w1), (bias, b1), (second, w2));
};
template <bool Annotated> struct mlp {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    const auto z =
        dm::complete(dm::einsum<some, hidden>(said<Annotated, split<some, rows>>(x), p.w1));
    const auto h = said<Annotated, split<hidden, cols>>(dm::relu(z + p.b1));
    return dm::mean(dm::square(dm::complete(dm::einsum<some, vocab>(h, p.w2))));
  }
};

/// The language model of nn/ in plain operations.
template <bool Annotated> struct transformer {
  template <class P, class I> constexpr auto operator()(const P& p, const I& ids) const {
    return dm::mean(
        dm::square(test_support::plain_transformer<form, Annotated, rows, cols>{}(p, ids)));
  }
};
struct library {
  template <class P, class I> constexpr auto operator()(const P& p, const I& ids) const {
    return dm::mean(dm::square(nn::language_model<hybrid, form>{}.logits(p, ids)));
  }
};

template <class F> struct with_gradient {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    return dm::complete(dm::value_and_grad(F{}, p)(x));
  }
};

struct outcome {
  std::vector<double> values;  // the loss, and the whole gradients
  std::vector<long> bytes;  // over every set of axes, as MPI saw them
  std::string wrong;  // what the types do not say
};
template <class F, class P, class X> outcome run(const P& p, const X& x) {
  outcome o;
  census::reset();
  const auto [loss, gradient] = with_gradient<F>{}(p, x);
  const auto seen = census::snapshot();
  o.wrong = test_support::detail::misjudged(seen, dm::count(with_gradient<F>{}, p, x).counts,
                                            x.grid().rank() == 0);
  for (unsigned axes = 1; axes < 4; ++axes)
    o.bytes.push_back(static_cast<long>(seen.bytes_on(axes)));
  o.values.push_back(dm::value(loss));
  dm::for_each_tensor(
      [&o](const auto&, const auto& v) {
        const auto whole = dm::relayout<dm::layout<pod>>(v);
        o.values.insert(o.values.end(), test_support::on_host(whole).data(),
                        test_support::on_host(whole).data() + whole.local_size());
      },
      gradient);
  return o;
}
void check_equal(const outcome& a, const outcome& b) {
  CHECK(a.wrong == "");
  CHECK(a.bytes == b.bytes);
  CHECK(a.values == b.values);  // to the bit
}

using found_mlp =
    dm::inferred<mlp<true>, network<any>, dm::probe<double, pod, some, model>>::layout;
using found_transformer = dm::inferred<transformer<true>, nn::language_model_parameters<any, form>,
                                       dm::probe<std::int32_t, pod, batch, length>>::layout;

TEST_CASE("annotate: a network, whose batch has an open extent") {
  using by_hand = dm::layout<pod, split<some, rows>, split<hidden, cols>>;
  const dm::grid<pod> g;
  const auto run_under = [&g]<class C, bool Annotated>(dm::detail::tag<C>,
                                                       std::bool_constant<Annotated>) {
    auto p = dm::make<network<C>>(g);
    nn::initialize(p, dm::random_key{5});
    const auto x = dm::generate<dm::tensor<double, C, some, model>>(
        g, [](index_t i, index_t j) { return static_cast<double>((i * 5 + j * 3) % 7) - 3; },
        some{12});
    return run<mlp<Annotated>>(p, x);
  };
  check_equal(run_under(dm::detail::tag<found_mlp>{}, std::true_type{}),
              run_under(dm::detail::tag<by_hand>{}, std::false_type{}));
}

TEST_CASE("annotate: a Transformer") {
  const dm::grid<pod> g;
  const auto run_under = [&g]<class C, class F>(dm::detail::tag<C>, F) {
    auto p = dm::make<nn::language_model_parameters<C, form>>(g);
    nn::initialize(p, dm::random_key{5});
    const auto ids = dm::generate<nn::tokens<C, form>>(
        g, [](index_t i, index_t j) { return static_cast<std::int32_t>((i * 5 + j * 3) % 24); });
    return run<F>(p, ids);
  };
  const outcome annotated = run_under(dm::detail::tag<found_transformer>{}, transformer<true>{});
  check_equal(annotated, run_under(dm::detail::tag<hybrid>{}, transformer<false>{}));
  const outcome of_library = run_under(dm::detail::tag<hybrid>{}, library{});
  CHECK(annotated.bytes == of_library.bytes);
  REQUIRE(annotated.values.size() == of_library.values.size());
  for (std::size_t i = 0; i < annotated.values.size(); ++i)
    REQUIRE(annotated.values[i] == doctest::Approx(of_library.values[i]).epsilon(1e-10));
}

// ---- annotations that move ----------------------------------------------------------------------

struct moving {
  template <class X, class W> constexpr auto operator()(const X& x, const W& w) const {
    const auto in = dm::shard<split<length, cols>>(x);
    const auto all = dm::replicate<length>(in * 2.0);
    const auto h = dm::shard<split<hidden, cols>>(dm::einsum<length, hidden>(all, w));
    return dm::shard<split<length, cols>>(dm::einsum<length, model>(h, w));
  }
};
using found_moving = dm::inferred<moving, dm::probe<double, pod, length, model>,
                                  dm::probe<double, pod, model, hidden>>;
static_assert(std::is_same_v<found_moving::layout,
                             dm::layout<pod, split<length, cols>, split<hidden, cols>>>);
static_assert(
    std::is_same_v<
        found_moving::moves,
        dm::inserted<
            dm::moved<2, dm::movement::all_gather, dm::received_bytes<4 * 8 * 8>, cols>,
            dm::moved<4, dm::movement::reduce_scatter, dm::received_bytes<4 * 8 * 8>, cols>>>);

TEST_CASE("annotate: what is listed is what MPI carries") {
  const dm::grid<pod> g;
  using C = found_moving::layout;
  const auto at = [](index_t i, index_t j) { return static_cast<double>((i * 5 + j * 3) % 7) - 3; };
  const auto x = dm::generate<dm::tensor<double, C, length, model>>(g, at);
  const auto w = dm::generate<dm::tensor<double, C, model, hidden>>(g, at);
  census::reset();
  const auto y = moving{}(x, w);
  const auto seen = census::snapshot();
  CHECK(seen.calls_on(2) == 2);
  CHECK(seen.calls_on(1) == 0);
  static_assert(
      std::is_same_v<dm::spec_of<decltype(y)>::layout, dm::layout<pod, split<length, cols>>>);
  const auto whole = dm::relayout<dm::layout<pod>>(y);
  for (index_t i = 0; i < 8; ++i)
    for (index_t j = 0; j < 8; ++j) {
      double sum = 0;
      for (index_t h = 0; h < 16; ++h)
        for (index_t k = 0; k < 8; ++k) sum += 2 * at(i, k) * at(k, h) * at(j, h);
      CHECK(test_support::on_host(whole)[i * 8 + j] == doctest::Approx(sum));
    }
}

}  // namespace
