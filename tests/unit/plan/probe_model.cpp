// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O0
// A training step of a language model through probes: one instance of the program, all layouts. Its
// events are those of the compiled program, one after the other, under the layouts of
// examples/language_model and others.
#include <doctest/doctest.h>

#include "dimesh/grad/cost.hpp"
#include "dimesh/nn/language_model.hpp"
#include "dimesh/plan/probe.hpp"
#include "support/happenings.hpp"

namespace {
namespace dm = dimesh;
namespace nn = dimesh::nn;
using dm::split;
using test_support::what_happens;

struct batch : dm::dim<8> {};
struct length : dm::dim<32> {};
struct model : dm::dim<64> {};
struct heads : dm::dim<4> {};
struct head : dm::dim<16> {};
struct hidden : dm::dim<256> {};
struct vocab : dm::dim<128> {};
struct form : nn::transformer {
  using batch = ::batch;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 2;
};
/// Whose sequences do not divide over two ranks.
struct odd_length : dm::dim<31> {};
struct odd_form : form {
  using length = odd_length;
};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
using any = dm::layout<pod, dm::at_run_time>;
using value = dm::layout_value<pod>;
template <class... Rule> using L = dm::layout<pod, Rule...>;

/// Computed under C; the parameters may be stored under another layout.
template <class C, class Form> struct step {
  struct loss {
    template <class P, class I> constexpr auto operator()(const P& p, const I& i) const {
      return nn::language_model<C, Form>{}.loss(p, i, i);
    }
  };
  template <class P, class I> constexpr auto operator()(const P& p, const I& i) const {
    return dm::complete(dm::value_and_grad(loss{}, p)(i));
  }
};

const dm::mesh_sizes<pod> sizes;

/// Calls f(program, parameters, tokens) of probes.
template <class Form, class F> auto probed(const value& compute, const value& stored, const F& f) {
  const dm::under_layout here(compute);
  return f(step<any, Form>{}, dm::probe_of<nn::language_model_parameters<any, Form>>(stored, sizes),
           dm::probe_of<nn::tokens<any, Form>, vocab>(compute, sizes));
}
dm::ledger<pod> cost_under(const value& layout) {
  return probed<form>(layout, layout, [](const auto&... all) { return dm::count(all...); });
}
template <class C, class S = C, class Form = form> void check_step() {
  const value compute{C{}}, stored{S{}};
  const std::string text = compute.text();
  CAPTURE(text);
  const std::string foreseen =
      probed<Form>(compute, stored, [](const auto&... all) { return what_happens(all...); });
  const std::string compiled =
      what_happens(step<C, Form>{}, nn::language_model_parameters<dm::shaped<S>, Form>{},
                   dm::rebind_layout<nn::tokens<C, Form>, dm::shaped>{});
  CHECK(test_support::first_difference(foreseen, compiled) == "");
  CHECK(foreseen.find("flops") != std::string::npos);
}

}  // namespace

TEST_CASE("probe: what the step of a language model does is what the compiled one does") {
  using parts = L<split<heads, cols>, split<hidden, cols>, split<vocab, cols>>;
  check_step<L<>>();
  check_step<L<split<batch, rows>>>();
  check_step<parts>();
  check_step<L<split<batch, rows>, split<heads, cols>, split<hidden, cols>, split<vocab, cols>>>();
  check_step<L<split<heads, cols>, split<hidden, cols>, split<vocab, cols>,
               dm::split_if_free<length, cols>>>();
  check_step<L<split<batch, rows>>, L<dm::spread<rows>>>();
  check_step<parts, L<split<model, rows>>>();
  using odd = L<split<batch, rows>, split<dm::uneven<odd_length>, cols>>;
  check_step<odd, odd, odd_form>();
}

TEST_CASE("probe: a language model under every layout of a mesh") {
  int legal = 0, refused = 0;
  const auto whole = cost_under(value());
  for (const value& l : dm::all_layouts<pod, batch, length, model, heads, head, hidden, vocab>()) {
    const std::string text = l.text();
    CAPTURE(text);
    try {
      const auto c = cost_under(l);
      ++legal;
      CHECK(c.flops() <= whole.flops());
      // Of split sequences the first rank has the beginnings, which see least.
      if (text.find("split<length") == std::string::npos) CHECK(4 * c.flops() >= whole.flops());
    } catch (const dm::error& e) {
      ++refused;
      CHECK(std::string(e.what()).starts_with("attention: dim_is_split: dim 'head' is split"));
    }
  }
  // Seven dims or none for each axis, two orders where they share one; but 'head' stays whole.
  CHECK(legal == 7 * 7 + 6);
  CHECK(legal + refused == 8 * 8 + 7);
}
