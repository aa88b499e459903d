// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O0
#include "dimesh/plan/annotate.hpp"

#include <doctest/doctest.h>

#include "dimesh/dimesh.hpp"
#include "dimesh/nn/language_model.hpp"
#include "dimesh/op/merge.hpp"
#include "dimesh/op/softmax.hpp"
#include "support/small_form.hpp"

namespace dm = dimesh;
namespace nn = dimesh::nn;
using dm::split;

namespace {

struct batch : dm::dim<8> {};
struct length : dm::dim<32> {};
struct model : dm::dim<64> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<16> {};
struct hidden : dm::dim<256> {};
struct vocab : dm::dim<128> {};
struct wide : dm::dim<256> {};
struct form : test_support::small_form<batch, length, model, heads, head, hidden, vocab> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
using any = dm::layout<pod, dm::at_run_time>;
template <class... Rule> using L = dm::layout<pod, Rule...>;
template <class... D> using X = dm::probe<float, pod, D...>;
template <class A, class B> inline constexpr bool same = std::is_same_v<A, B>;

// ---- a small network ----------------------------------------------------------------------------

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, model, hidden>, w1),
                           (dm::tensor<float, L, hidden>, b1),
                           (dm::tensor<float, L, hidden, vocab>, w2),
                           (dm::tensor<float, L, vocab>, b2));
};
struct two_annotations {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    const auto z = dm::complete(dm::einsum<batch, hidden>(dm::shard<split<batch, rows>>(x), p.w1));
    const auto h = dm::shard<split<hidden, cols>>(dm::relu(z + p.b1));
    return dm::complete(dm::einsum<batch, vocab>(h, p.w2)) + p.b2;
  }
};
using two = dm::inferred<two_annotations, network<any>, X<batch, model>>;
static_assert(same<two::layout, L<split<batch, rows>, split<hidden, cols>>>);
static_assert(same<two::fault, dm::no_fault> && same<two::moves, dm::inserted<>>);
static_assert(two::annotations() == 2);
static_assert(two::bytes() == (8 / 2) * vocab::extent * 4, "the sum that the text completes");
static_assert(same<decltype(network<two::layout>::w2),
                   dm::tensor<float, L<split<hidden, cols>>, hidden, vocab>>);

// ---- where annotations flow ---------------------------------------------------------------------

struct renamed {
  template <class X, class W> constexpr auto operator()(const X& x, const W& w) const {
    return dm::rename<hidden, wide>(x) * dm::shard<split<wide, cols, rows>>(w);
  }
};
static_assert(same<dm::inferred<renamed, X<batch, hidden>, X<wide>>::layout,
                   L<split<hidden, cols, rows>, split<wide, cols, rows>>>);
struct backward_through_sums {
  template <class X, class W> constexpr auto operator()(const X& x, const W& w) const {
    return dm::shard<split<batch, rows>>(dm::complete(dm::einsum<batch>(x, w)));
  }
};
static_assert(same<dm::inferred<backward_through_sums, X<batch, hidden>, X<hidden>>::layout,
                   L<split<batch, rows>>>);
struct merged {
  template <class X, class Y> constexpr auto operator()(const X& x, const Y& y) const {
    return dm::merge<model, heads, head>(x) + dm::shard<split<model, cols>>(y);
  }
};
static_assert(same<dm::inferred<merged, X<batch, heads, head>, X<model>>::layout,
                   L<split<heads, cols>, split<model, cols>>>,
              "the major one of the merged dims");
struct said_of_nothing {
  template <class X> constexpr auto operator()(const X& x) const { return dm::relu(x); }
};
static_assert(same<dm::inferred<said_of_nothing, X<batch>>::layout, L<>>);
struct uneven_rows {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::shard<split<dm::uneven<batch>, rows>>(x);
  }
};
static_assert(same<dm::inferred<uneven_rows, X<batch>>::layout, L<split<dm::uneven<batch>, rows>>>);
/// A softmax over a split dim is composed of sums, which know what to do.
struct softmax_of {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::softmax<vocab>(dm::shard<split<vocab, cols>>(x));
  }
};
using found_softmax = dm::inferred<softmax_of, X<batch, vocab>>;
static_assert(same<found_softmax::layout, L<split<vocab, cols>>>);

// ---- what annotations move ----------------------------------------------------------------------

using dm::inserted, dm::moved, dm::movement, dm::received_bytes;
struct gathered {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::replicate<hidden>(dm::relu(dm::shard<split<hidden, cols>, split<batch, rows>>(x)));
  }
};
using found_gather = dm::inferred<gathered, X<batch, hidden>>;
static_assert(same<found_gather::layout, L<split<batch, rows>, split<hidden, cols>>>);
static_assert(same<found_gather::moves,
                   inserted<moved<2, movement::all_gather, received_bytes<4 * 128 * 4>, cols>>>);
static_assert(found_gather::bytes() == 4 * 128 * 4);

// No annotation moves anything, and a softmax makes a maximum and a sum of each line.
static_assert(same<found_softmax::moves, inserted<>>);
constexpr dm::index_t lines = batch::extent * 4;
static_assert(found_softmax::cost().bytes<cols> == 2 * lines &&
              found_softmax::cost().calls<cols> == 2 && found_softmax::cost().bytes<rows> == 0);
static_assert(found_softmax::bytes() == 2 * (2 * lines / 2), "of two ranks, in a ring");

struct turned {
  template <class X> constexpr auto operator()(const X& x) const {
    const auto y = dm::relu(dm::shard<split<batch, cols>>(x));
    return dm::replicate(dm::shard<split<hidden, cols>>(dm::replicate<batch>(y)));
  }
};
using found_turn = dm::inferred<turned, X<batch, hidden>>;
static_assert(same<found_turn::layout, L<split<batch, cols>>>,
              "hidden is split where batch no longer is, and not before");
static_assert(same<found_turn::moves,
                   inserted<moved<2, movement::all_gather, received_bytes<4 * 256 * 4>, cols>,
                            moved<4, movement::all_gather, received_bytes<8 * 128 * 4>, cols>>>);
struct summed {
  template <class X, class W> constexpr auto operator()(const X& x, const W& w) const {
    const auto y = dm::einsum<batch, vocab>(dm::shard<split<hidden, cols>>(x), w);
    (void)dm::shard<split<batch, cols>>(y);
    return dm::replicate(y);
  }
};
using found_sum = dm::inferred<summed, X<batch, hidden>, X<hidden, vocab>>;
static_assert(same<found_sum::moves,
                   inserted<moved<2, movement::reduce_scatter, received_bytes<4 * 128 * 4>, cols>,
                            moved<3, movement::all_reduce, received_bytes<8 * 128 * 4>, cols>>>);

/// There and back a hundred times: as many moves, all of which are listed.
struct to_and_fro {
  template <class X> constexpr auto operator()(const X& x) const {
    auto y = dm::replicate(dm::shard<split<batch, rows>>(x));
    for (int i = 1; i < 100; ++i) y = dm::replicate(dm::shard<split<batch, rows>>(y));
    return y;
  }
};
using found_many = dm::inferred<to_and_fro, X<batch>>;
template <class... M> constexpr std::size_t number_of(inserted<M...>*) { return sizeof...(M); }
static_assert(number_of(static_cast<found_many::moves*>(nullptr)) == 100);
static_assert(found_many::bytes() == 100 * (batch::extent / 2) * 4);
static_assert(found_many::cost().calls<rows> == 100);

// ---- a Transformer ------------------------------------------------------------------------------

using parameters = nn::language_model_parameters<any, form>;
using hybrid = L<split<batch, rows>, split<heads, cols>, split<hidden, cols>, split<vocab, cols>>;

using plain_model = test_support::plain_transformer<form, true, rows, cols>;
using found_plain =
    dm::inferred<plain_model, parameters, dm::probe<std::int32_t, pod, batch, length>>;
static_assert(
    same<found_plain::layout,
         L<split<batch, rows>, split<vocab, cols>, split<heads, cols>, split<hidden, cols>>>);
static_assert(found_plain::annotations() == 4 + 2 * 2 && same<found_plain::moves, inserted<>>);
/// A struct's tensors under a layout.
template <class C>
using tensors_under = dm::detail::leaves<nn::language_model_parameters<C, form>>::type;
static_assert(same<tensors_under<found_plain::layout>, tensors_under<hybrid>>,
              "the types of the layout that is written by hand");
static_assert(same<decltype(nn::language_model_parameters<found_plain::layout, form>::layers[0]
                                .attention.query),
                   dm::tensor<float, L<split<heads, cols>>, model, heads, head>>);

/// The model of nn/ itself: it brings every tensor to one line of rules, so that four annotations
/// of arguments say all; a fifth lets the length give way (sequence parallelism).
template <class C, bool Sequence, class Form = form> struct library_model {
  using batch = typename Form::batch;
  using length = typename Form::length;
  template <class P, class I> constexpr auto operator()(P p, const I& ids) const {
    p.embedding = dm::shard<split<vocab, cols>>(p.embedding);
    p.layers[0].attention.query = dm::shard<split<heads, cols>>(p.layers[0].attention.query);
    p.layers[0].feed_forward.up = dm::shard<split<hidden, cols>>(p.layers[0].feed_forward.up);
    if constexpr (Sequence) p.positions = dm::shard<dm::split_if_free<length, cols>>(p.positions);
    return nn::language_model<C, Form>{}.logits(p, dm::shard<split<batch, rows>>(ids));
  }
};
template <bool Sequence>
using found_library = dm::inferred<library_model<any, Sequence>, parameters,
                                   dm::probe<std::int32_t, pod, batch, length>>;
static_assert(same<found_library<false>::layout, found_plain::layout>);
using sequence = found_library<true>::layout;
static_assert(same<tensors_under<sequence>,
                   tensors_under<L<split<batch, rows>, split<heads, cols>, split<hidden, cols>,
                                   split<vocab, cols>, dm::split_if_free<length, cols>>>>);

template <class C> struct by_hand {
  template <class P, class I> constexpr auto operator()(const P& p, const I& ids) const {
    return nn::language_model<C, form>{}.logits(p, ids);
  }
};
template <class F> struct with_gradient {
  struct loss {
    template <class P, class I> constexpr auto operator()(const P& p, const I& ids) const {
      return dm::mean(dm::square(F{}(p, ids)));
    }
  };
  template <class P, class I> constexpr auto operator()(const P& p, const I& ids) const {
    return dm::complete(dm::value_and_grad(loss{}, p)(ids));
  }
};
template <class C, class F> dm::ledger<pod> cost(const F& f) {
  return dm::count(f, nn::language_model_parameters<dm::shaped<C>, form>{},
                   dm::rebind_layout<nn::tokens<C, form>, dm::shaped>{});
}
template <class C, class F, class G> void check_same_messages(const F& f, const G& g) {
  const auto a = cost<C>(f), b = cost<C>(g);
  CHECK(a.counts.over == b.counts.over);  // bytes, ring bytes and calls of every set of axes
}

}  // namespace

TEST_CASE("annotate: an annotated Transformer costs what the one with layouts by hand costs") {
  using found = found_plain::layout;
  check_same_messages<found>(plain_model{}, by_hand<hybrid>{});
  check_same_messages<found>(with_gradient<plain_model>{}, with_gradient<by_hand<hybrid>>{});
  check_same_messages<found>(library_model<found, false>{}, by_hand<hybrid>{});
  using hand = L<split<batch, rows>, split<heads, cols>, split<hidden, cols>, split<vocab, cols>,
                 dm::split_if_free<length, cols>>;
  check_same_messages<hand>(with_gradient<library_model<sequence, true>>{},
                            with_gradient<by_hand<hand>>{});
}

namespace {

// ---- what can be pasted -------------------------------------------------------------------------

using dm::layout, dm::uneven, dm::split_if_free;
#define AS_WRITTEN(...) #__VA_ARGS__
#define AS_TEXT(...) AS_WRITTEN(__VA_ARGS__)
#define TWO layout<pod, split<batch, rows>, split<hidden, cols>>
#define OTHERS \
  layout<large, split<uneven<batch>, rows>, split<hidden, cols, cells>, split_if_free<length, rows>>

struct cells : dm::axis<2> {};
struct large : dm::mesh<rows, cols, cells> {};
struct of_all_kinds {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::shard<split<uneven<batch>, rows>, split<hidden, cols, cells>,
                     split_if_free<length, rows>>(x);
  }
};
using others = dm::inferred<of_all_kinds, dm::probe<float, large, batch, length, hidden>>;
static_assert(same<two::layout, TWO> && same<others::layout, OTHERS>);

}  // namespace

TEST_CASE("annotate: the first line can be pasted") {
  CHECK(two::text().starts_with(AS_TEXT(TWO) "\n"));
  CHECK(others::text().starts_with(AS_TEXT(OTHERS) "\n"));
}

TEST_CASE("annotate: what was inferred, as a table") {
  CHECK(two::text() ==
        "layout<pod, split<batch, rows>, split<hidden, cols>>\n"
        "  split<batch, rows>      annotation 1: shard<split<batch, rows>>\n"
        "  split<hidden, cols>     annotation 2: shard<split<hidden, cols>>\n"
        "  1.w1                    float[model=64, hidden=256/cols:2]\n"
        "  1.b1                    float[hidden=256/cols:2]\n"
        "  1.w2                    float[hidden=256/cols:2, vocab=128]\n"
        "  1.b2                    float[vocab=128]\n"
        "  2                       float[batch=8/rows:2, model=64]\n");
  CHECK(found_gather::text() ==
        "layout<pod, split<batch, rows>, split<hidden, cols>>\n"
        "  split<batch, rows>      annotation 1: shard<split<hidden, cols>, split<batch, rows>>\n"
        "  split<hidden, cols>     annotation 1: shard<split<hidden, cols>, split<batch, rows>>\n"
        "  1                       float[batch=8/rows:2, hidden=256/cols:2]\n"
        "  annotation 2            all_gather over cols: 2048 bytes, by replicate<hidden>\n");
  CHECK(found_many::text().ends_with(
      "  annotation 198          all_gather over rows: 16 bytes, by replicate\n"
      "  annotation 200          all_gather over rows: 16 bytes, by replicate\n"));
}

namespace {

// ---- axes whose sizes only the run knows --------------------------------------------------------

struct many : dm::axis<> {};
struct open_mesh : dm::mesh<many> {};
struct gathered_open {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::replicate(dm::shard<split<batch, many>>(x));
  }
};
using found_open = dm::inferred<gathered_open, dm::probe<float, open_mesh, batch>>;
static_assert(same<found_open::layout, dm::layout<open_mesh, split<batch, many>>>);
static_assert(
    same<found_open::moves, inserted<moved<2, movement::all_gather, dm::bytes_of_the_run, many>>>);

}  // namespace

TEST_CASE("annotate: bytes that only the run knows are not made up") {
  CHECK(found_open::text() ==
        "layout<open_mesh, split<batch, many>>\n"
        "  split<batch, many>      annotation 1: shard<split<batch, many>>\n"
        "  1                       float[batch=8/many]\n"
        "  annotation 2            all_gather over many: bytes that the run knows, by replicate\n");
}

namespace {

// ---- extents that only the run knows ------------------------------------------------------------

struct some : dm::dim<> {};  // rows of a batch
struct long_text : dm::dim<> {};
struct open_network {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    const auto z = dm::complete(dm::einsum<some, hidden>(dm::shard<split<some, rows>>(x), p.w1));
    const auto h = dm::shard<split<hidden, cols>>(dm::relu(z + p.b1));
    return dm::replicate<some>(dm::complete(dm::einsum<some, vocab>(h, p.w2)) + p.b2);
  }
};
using open_two = dm::inferred<open_network, network<any>, X<some, model>>;
static_assert(same<open_two::layout, L<split<some, rows>, split<hidden, cols>>>);
static_assert(
    same<open_two::moves, inserted<moved<3, movement::all_gather, dm::bytes_of_the_run, rows>>>);

/// Means, and open dims that become static ones or several.
struct open_shapes {
  template <class X, class Y> constexpr auto operator()(const X& x, const Y& y) const {
    const auto a = dm::shard<split<some, rows>>(x);
    const auto flat = dm::merge<wide, some, model>(a) * dm::rename<long_text, wide>(y);
    return dm::complete(dm::mean<model>(dm::cut<wide, heads, model>(flat))) +
           dm::mean<head>(dm::cut<long_text, heads, head>(y)) + dm::complete(dm::mean(a));
  }
};
using open_parts = dm::inferred<open_shapes, X<some, model>, X<long_text>>;
static_assert(same<open_parts::layout, L<split<some, rows>, split<long_text, rows>>>);

/// The Transformer, of any batch and any length.
struct open_form : test_support::small_form<some, long_text, model, heads, head, hidden, vocab> {};
using open_model = test_support::plain_transformer<open_form, true, rows, cols>;
using found_open_model = dm::inferred<open_model, nn::language_model_parameters<any, open_form>,
                                      dm::probe<std::int32_t, pod, some, long_text>>;
static_assert(
    same<found_open_model::layout,
         L<split<some, rows>, split<vocab, cols>, split<heads, cols>, split<hidden, cols>>>);
using found_open_library =
    dm::inferred<library_model<any, true, open_form>, nn::language_model_parameters<any, open_form>,
                 dm::probe<std::int32_t, pod, some, long_text>>;
static_assert(
    same<found_open_library::layout, L<split<some, rows>, split<vocab, cols>, split<heads, cols>,
                                       split<hidden, cols>, split_if_free<long_text, cols>>>);
static_assert(found_open_model::annotations() == 8 && same<found_open_model::moves, inserted<>>);

}  // namespace

TEST_CASE("annotate: open extents stay open") {
  CHECK(open_two::text() ==
        "layout<pod, split<some, rows>, split<hidden, cols>>\n"
        "  split<some, rows>       annotation 1: shard<split<some, rows>>\n"
        "  split<hidden, cols>     annotation 2: shard<split<hidden, cols>>\n"
        "  1.w1                    float[model=64, hidden=256/cols:2]\n"
        "  1.b1                    float[hidden=256/cols:2]\n"
        "  1.w2                    float[hidden=256/cols:2, vocab=128]\n"
        "  1.b2                    float[vocab=128]\n"
        "  2                       float[some/rows:2, model=64]\n"
        "  annotation 3            all_gather over rows: bytes that the run knows, by "
        "replicate<some>\n");
}

TEST_CASE("annotate: what was inferred, as a picture") {
  const auto count = [](const std::string& text, const std::string& part) {
    int n = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  const std::string drawn = found_gather::svg();
  CHECK(drawn.starts_with("<svg "));
  CHECK(drawn.ends_with("</svg>\n"));
  CHECK(count(drawn, ">layout&lt;pod, split&lt;batch, rows&gt;, split&lt;hidden, cols&gt;&gt;<") ==
        1);
  CHECK(count(drawn,
              ">annotation 1: shard&lt;split&lt;hidden, cols&gt;, split&lt;batch, rows&gt;"
              "&gt;<") == 2);
  CHECK(count(drawn, ">batch=8<") == 1);
  CHECK(count(drawn, ">/rows:2<") == 1);
  CHECK(count(drawn, ">/cols:2<") == 1);
  CHECK(count(drawn, ">all_gather over cols: 2048 bytes, by replicate&lt;hidden&gt;<") == 1);
  CHECK(count(drawn, "fill-opacity") == 2 + 2);  // rules, and boxes of dims
  CHECK(count(drawn, "stroke=\"#ffffff\"") == 2);  // each cut once
  // A dim over two axes has the colours of both, and is cut in four; an open one is cut in two.
  CHECK(count(others::svg(), "stroke=\"#ffffff\"") == 1 + 3);
  CHECK(count(found_open::svg(), ">/many<") == 1);
  CHECK(count(found_open::svg(), "stroke=\"#ffffff\"") == 1);
}
