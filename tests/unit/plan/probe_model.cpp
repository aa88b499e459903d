// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O0
// A training step of a language model through probes: one instance of the program, all layouts.
#include <doctest/doctest.h>

#include "dimesh/grad/cost.hpp"
#include "dimesh/nn/language_model.hpp"
#include "dimesh/plan/probe.hpp"

namespace {
namespace dm = dimesh;
namespace nn = dimesh::nn;
using dm::split;

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
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
using any = dm::layout<pod, dm::at_run_time>;
using value = dm::layout_value<pod>;
template <class... Rule> using L = dm::layout<pod, Rule...>;

/// Computed under C; the parameters may be stored under another layout.
template <class C> struct step {
  struct loss {
    template <class P, class I> constexpr auto operator()(const P& p, const I& i) const {
      return nn::language_model<C, form>{}.loss(p, i, i);
    }
  };
  template <class P, class I> constexpr auto operator()(const P& p, const I& i) const {
    return dm::complete(dm::value_and_grad(loss{}, p)(i));
  }
};

const dm::mesh_sizes<pod> sizes;

dm::ledger<pod> probed(const value& compute, const value& stored) {
  const dm::under_layout here(compute);
  return dm::count(step<any>{},
                   dm::probe_of<nn::language_model_parameters<any, form>>(stored, sizes),
                   dm::probe_of<nn::tokens<any, form>, vocab>(compute, sizes));
}
template <class C, class S = C> void check_step() {
  const value compute{C{}}, stored{S{}};
  const std::string text = compute.text();
  CAPTURE(text);
  const auto a = probed(compute, stored);
  const auto b = dm::count(step<C>{}, nn::language_model_parameters<dm::shaped<S>, form>{},
                           dm::rebind_layout<nn::tokens<C, form>, dm::shaped>{});
  CHECK(a.flops() == b.flops());
  CHECK(a.moved() == b.moved());
  CHECK(a.peak() == b.peak());
  CHECK(a.counts.over == b.counts.over);
}

}  // namespace

TEST_CASE("probe: the step of a language model costs what the compiled one costs") {
  using parts = L<split<heads, cols>, split<hidden, cols>, split<vocab, cols>>;
  check_step<L<split<batch, rows>>>();
  check_step<L<split<batch, rows>, split<heads, cols>, split<hidden, cols>, split<vocab, cols>>>();
  check_step<L<split<heads, cols>, split<hidden, cols>, split<vocab, cols>,
               dm::split_if_free<length, cols>>>();
  check_step<L<split<batch, rows>>, L<dm::spread<rows>>>();
  check_step<parts, L<split<model, rows>>>();
}

TEST_CASE("probe: a language model under every layout of a mesh") {
  int legal = 0;
  const auto whole = probed(value(), value());
  for (const value& l : dm::all_layouts<pod, batch, length, heads, hidden, vocab>()) {
    const std::string text = l.text();
    CAPTURE(text);
    const auto c = probed(l, l);
    CHECK(c.flops() <= whole.flops());
    ++legal;
  }
  CHECK(legal ==
        6 * 6 + 6 - 1);  // five dims or none for each axis; two orders where they share one
}
