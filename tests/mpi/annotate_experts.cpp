// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 2 4
// A layer of experts in plain operations with six annotations, as GShard writes it (Lepikhin et al.
// 2020, algorithm 2): the layout that follows, what moves by type, and the values, gradients and
// bytes of the layer of nn/, to the bit those of the text with layouts by hand.
#include <dimesh/dimesh.hpp>

#include <doctest/doctest.h>

#include <census.hpp>
#include <vector>

#include "dimesh/create.hpp"
#include "dimesh/nn/initialize.hpp"
#include "dimesh/nn/moe/experts.hpp"
#include "dimesh/plan/annotate.hpp"
#include "support/adjoint.hpp"
#include "support/host.hpp"

namespace {
namespace dm = dimesh;
namespace nn = dimesh::nn;
using dm::index_t;
using dm::split;

struct group : dm::dim<8> {};
struct token : dm::dim<16> {};
struct wide : dm::dim<6> {};
struct inside : dm::dim<10> {};
struct expert : dm::dim<4> {};
struct choice : dm::dim<2> {};
constexpr nn::gating gate{.capacity_factor = 0.75};
struct slot : dm::dim<nn::capacity_of(gate, 2, 16, 4)> {};
static_assert(slot::extent == 6);
struct no_heads : dm::dim<1> {};

struct form : nn::transformer {
  using element = double;
  using batch = group;
  using length = token;
  using model = wide;
  using heads = dm::shape<no_heads>;
  using head = no_heads;
  using hidden = inside;
  using vocab = no_heads;
  using expert = ::expert;
  using choice = ::choice;
  using slot = ::slot;
  using deviation = std::ratio<1, 2>;
  static constexpr int layers = 1;
  static constexpr bool biases = false;
  static constexpr nn::activation act = nn::activation::relu;
  static constexpr nn::gating gate = ::gate;
};

struct rows : dm::axis<> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
template <class M> using any = dm::layout<M, dm::at_run_time>;
template <class L> using weights = nn::mixture_parameters<L, form>;
using tokens = dm::layout<pod, split<group, rows>>;
using experts = dm::layout<pod, split<expert, rows>, split<inside, cols>>;
/// One line for both: no tensor has groups and experts split at a time.
using by_hand = dm::layout<pod, split<expert, rows>, split<group, rows>, split<inside, cols>>;

/// Annotations over axes Rows and Cols.
template <class Rows, class Cols> struct annotated {
  template <class X> static constexpr auto given(const X& x) {
    return dm::shard<split<group, Rows>>(x);
  }
  template <class X> static constexpr auto held(const X& x) {
    return dm::shard<split<expert, Rows>>(x);
  }
  template <class X> static constexpr auto router(const X& x) { return dm::replicate<expert>(x); }
  template <class X> static constexpr auto sent(const X& x) {
    return dm::shard_along<expert, Rows>(x);
  }
  template <class X> static constexpr auto activated(const X& x) {
    return dm::shard<split<inside, Cols>>(x);
  }
  template <class X> static constexpr auto back(const X& x) {
    return dm::shard_along<group, Rows>(x);
  }
};
/// The same in the words of layouts.
struct typed {
  template <class X> static constexpr auto given(const X& x) { return x; }
  template <class X> static constexpr auto held(const X& x) { return x; }
  template <class X> static constexpr auto router(const X& x) {
    return dm::relayout<dm::layout<pod>>(x);
  }
  template <class X> static constexpr auto sent(const X& x) { return dm::relayout<experts>(x); }
  template <class X> static constexpr auto activated(const X& x) { return x; }
  template <class X> static constexpr auto back(const X& x) { return dm::relayout<tokens>(x); }
};

template <class Say> struct layer {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    const auto in = Say::given(x);  // 1
    const auto up = Say::held(p.up);  // 2
    const auto gates = dm::softmax<expert>(  // 3
        dm::einsum<group, token, expert>(in, Say::router(p.router)));
    const auto r = nn::route<token, expert, choice>(gate, gates);
    const auto held = Say::sent(  // 4: to the experts
        nn::to_slots<token, choice, expert, slot>(in, r.slots, expert{}, slot{}));
    const auto h = Say::activated(  // 5
        dm::relu(dm::einsum<expert, group, slot, inside>(held, up)));
    const auto y = Say::back(  // 6: and back to their groups
        dm::complete(dm::einsum<expert, group, slot, wide>(h, p.down)));
    return nn::from_slots<token, choice, expert, slot>(y, r.gates, r.slots);
  }
};
struct of_library {
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    return nn::mixture<experts>(nn::model<tokens, form>{}, p, x).y;
  }
};

using text = layer<annotated<rows, cols>>;
using found = dm::inferred<text, weights<any<pod>>, dm::probe<double, pod, group, token, wide>>;
static_assert(std::is_same_v<found::layout, by_hand>);
static_assert(found::annotations() == 6);

// Where types say how many ranks there are, they say the bytes, too.
struct four : dm::axis<4> {};
struct two : dm::axis<2> {};
struct wall : dm::mesh<four, two> {};
using found_on_wall = dm::inferred<layer<annotated<four, two>>, weights<any<wall>>,
                                   dm::probe<double, wall, group, token, wide>>;
constexpr long router_bytes = 3 * (6 * 4 / 4) * 8;
constexpr long slot_bytes = 3 * (4 * 8 * 6 * 6 / 16) * 8;  // of three other ranks
static_assert(std::is_same_v<
              found_on_wall::moves,
              dm::inserted<
                  dm::moved<3, dm::movement::all_gather, dm::received_bytes<router_bytes>, four>,
                  dm::moved<4, dm::movement::all_to_all, dm::received_bytes<slot_bytes>, four>,
                  dm::moved<6, dm::movement::all_to_all, dm::received_bytes<slot_bytes>, four>>>);
// Beside that, `complete` sums what experts give, of the rank's slots, over the two ranks of a row.
static_assert(found_on_wall::bytes() == 2 * slot_bytes + router_bytes + 4 * 8 * 6 * 6 / 4 * 8,
              "the budget");

/// Numbers of ranks in the place of axes say the same.
struct by_number {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::shard_along<expert, 4>(dm::shard_along<group, 4>(x));
  }
};
using found_by_number = dm::inferred<by_number, dm::probe<double, wall, expert, group>>;
static_assert(std::is_same_v<found_by_number::layout, dm::layout<wall, split<group, four>>>);
struct over_all {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::shard_along<group, 8>(dm::relu(x));
  }
};
static_assert(std::is_same_v<dm::inferred<over_all, dm::probe<double, wall, group, wide>>::layout,
                             dm::layout<wall, split<group, four, two>>>);

TEST_CASE("annotate: what was inferred of a layer of experts, as a table") {
  CHECK(found_by_number::text() ==
        "layout<wall, split<group, four>>\n"
        "  split<group, four>      annotation 1: shard_along<group, four>\n"
        "  1                       double[expert=4, group=8/four:4]\n"
        "  annotation 2            all_to_all over four: " +
            std::to_string(3 * 2 * 8) + " bytes, by shard_along<expert, four>\n");
}

template <class F> struct with_gradient {
  struct loss {
    template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
      return dm::mean(dm::square(x + F{}(p, x)));
    }
  };
  template <class P, class X> constexpr auto operator()(const P& p, const X& x) const {
    return dm::complete(dm::value_and_grad(loss{}, p)(x));
  }
};
struct outcome {
  std::vector<double> values;  // the loss, and the whole gradients
  std::vector<long> bytes;  // over every set of axes, as MPI saw them
  std::string wrong;  // what the types do not say
};
template <class C, class F> outcome run(const dm::grid<pod>& g) {
  auto p = dm::make<weights<C>>(g);
  nn::initialize(p, dm::random_key{5});
  const auto x = dm::generate<dm::tensor<double, tokens, group, token, wide>>(
      g, [](index_t i, index_t j, index_t k) {
        return static_cast<double>((i * 5 + j * 3 + k * 7) % 11) / 5 - 1;
      });
  outcome o;
  census::reset();
  const auto [loss, gradient] = with_gradient<F>{}(p, x);
  const auto seen = census::snapshot();
  o.wrong = test_support::detail::misjudged(seen, dm::count(with_gradient<F>{}, p, x).counts,
                                            g.rank() == 0);
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

TEST_CASE("annotate: a layer of experts is that with layouts by hand, and that of the library") {
  const dm::grid<pod> g;
  const outcome one = run<found::layout, text>(g), hand = run<by_hand, layer<typed>>(g),
                library = run<by_hand, of_library>(g);
  CHECK(one.wrong == "");
  CHECK(one.bytes == hand.bytes);
  CHECK(one.values == hand.values);  // to the bit
  // The layer says how many slots are filled, too: a number for each of 4 experts and 8 groups.
  const long rows_there = g.everyone().size() / 2;
  std::vector<long> with_numbers = one.bytes;
  with_numbers[0] += 4 * 8 * 4 * (rows_there - 1) / (rows_there * rows_there);
  CHECK(with_numbers == library.bytes);
  REQUIRE(one.values.size() == library.values.size());
  for (std::size_t i = 0; i < one.values.size(); ++i)
    REQUIRE(one.values[i] == doctest::Approx(library.values[i]).epsilon(1e-12));
}

}  // namespace
