// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 3 4
// labels: device
// A layer of experts beside the same on one rank: experts over two axes by two all-to-alls, experts
// on a mesh of their own, beside attention on another one, from a dense layer, in chunks; weights
// split along each of their dims, and sharded; uneven groups and experts; a rank with other extents
// than the rest.
#include <dimesh/dimesh.hpp>

#include <doctest/doctest.h>

#include "dimesh/nn/initialize.hpp"
#include "dimesh/nn/moe/upcycle.hpp"
#include "dimesh/nn/multi_head.hpp"
#include "support/experts.hpp"

namespace {
using namespace test_support;
using namespace test_support::moe;
using dm::layout;
using dm::split;
using dm::uneven;

/// Is every axis' number of ranks a divisor of 4: of the groups and experts?
template <class Grid> bool divides_four(const Grid& g) { return 4 % g.everyone().size() == 0; }

struct node : dm::axis<> {};
struct core : dm::axis<> {};
struct flat : dm::mesh<node, core> {};
struct tower : dm::mesh<node, core> {
  static constexpr bool moves_by_axis = true;
};
template <class M> using tokens_on = layout<M, split<p, node, core>>;
template <class M> using experts_on = layout<M, split<moe::expert, core, node>>;
template <class M>
using held_on = dm::tensor<double, tokens_on<M>, moe::expert, p, moe::slot, moe::model>;

using dm::all_to_all_step;
using dm::steps;
static_assert(std::is_same_v<
              dm::relayout_plan<held_on<tower>, experts_on<tower>>::steps,
              steps<all_to_all_step<p, moe::expert, core>, all_to_all_step<p, moe::expert, node>>>);

/// The messages of all-to-alls that a rank sends, and their bytes.
struct messages final : dm::event_sink {
  const index_t* sizes;
  index_t count = 0, bytes = 0;
  explicit messages(const index_t* s) : sizes(s) {}
  constexpr void take(const dm::event& e) override {
    if (e.kind != dm::event_kind::all_to_all) return;
    count += dm::detail::group_size(e.axes, sizes) - 1;
    bytes += e.bytes;
  }
};

TEST_CASE("experts over two axes: two all-to-alls, in fewer and larger messages") {
  for_each_grid<tower>([](const dm::grid<tower>& g) {
    if (!divides_four(g)) return;
    check_as_alone(outcome<tokens_on<tower>, experts_on<tower>, experts_on<tower>, tight>(g, g));
    const index_t nodes = g.state().sizes()[0], cores = g.state().sizes()[1];
    const dm::grid<flat> f(node{nodes}, core{cores});
    const array a = numbers({"expert", "p", "slot", "model"}, {4, 4, 2, 3}, 2);
    const auto by_axis = scattered<held_on<tower>>(g, a);
    const auto at_once = scattered<held_on<flat>>(f, a);
    messages few(g.state().sizes()), many(g.state().sizes());
    const auto there = [&] {
      const dm::watch all(few);
      return dm::relayout<experts_on<tower>>(by_axis);
    }();
    const auto same = [&] {
      const dm::watch all(many);
      return dm::relayout<experts_on<flat>>(at_once);
    }();
    CHECK(agrees(there, a));
    CHECK(agrees(same, a));
    CHECK(agrees(dm::relayout<tokens_on<tower>>(there), a));
    CHECK(few.count == nodes + cores - 2);
    CHECK(many.count == nodes * cores - 1);
    const index_t block = by_axis.local_size() * index_t{sizeof(double)};
    CHECK(few.bytes == block - block / cores + block - block / nodes);
    CHECK(many.bytes == block - block / (nodes * cores));
    check_operation([](const auto& v) { return dm::relayout<experts_on<tower>>(v); }, {}, {a},
                    by_axis);
  });
}

struct etp : dm::axis<> {};
struct ep : dm::axis<> {};
struct edp : dm::axis<> {};
struct island : dm::mesh<etp, ep, edp> {};
using attended = layout<plane, split<p, x>>;  // y: the heads of the attention beside it
using folded = layout<island, split<moe::expert, ep>, split<moe::hidden, etp>, split<p, edp>>;

TEST_CASE("experts on a mesh of their own over the same ranks") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    if (!divides_four(g)) return;
    for_each_grid<island>([&](const dm::grid<island>& h) {
      check_as_alone(outcome<attended, folded, folded, tight>(g, h));
    });
  });
}

struct four_heads : dm::dim<4> {};
struct of_two : dm::dim<2> {};
/// Attention and experts, each with its parameters.
template <class M> struct with_heads : M {
  using heads = dm::shape<four_heads>;
  using head = of_two;
};
template <class T, class C, class E, class M> struct layer {
  using tokens_type = dm::tensor<double, T, p, q, moe::model>;
  using attention_type = nn::attention_parameters<C, M>;
  using experts_type = nn::mixture_parameters<E, M>;
  BOOST_HANA_DEFINE_STRUCT(layer, (tokens_type, in), (attention_type, attention),
                           (experts_type, experts));
};
/// Heads split over y beside experts on their own mesh: the loss of a layer, and its gradient.
template <class T, class C, class E, class M, class G, class H>
auto folded_layer(const G& g, const H& h) {
  const nn::model<C, M> m{{.key = dm::random_key{11}}};
  layer<T, C, E, M> all;
  all.in = scattered<dm::tensor<double, T, p, q, moe::model>>(g, tokens);
  all.attention = dm::make<nn::attention_parameters<C, M>>(g);
  nn::initialize(all.attention, dm::random_key{5});
  all.experts = parameters_on<E, M>(h);
  const auto f = [&](const auto& in) {
    const auto y = in.in + nn::self_attention(m, in.attention, in.in);
    const auto out = y + nn::mixture<E>(m, in.experts, y).y;
    return dm::complete(dm::mean(out * out));
  };
  return dm::complete(dm::value_and_grad(f, all)());
}
struct chunked : tight {
  static constexpr int expert_chunks = 2;
};
template <class M, class G, class H> void check_folded(const G& g, const H& h) {
  static const auto alone = [] {
    using none = layout<plane>;
    const dm::grid<plane> one(MPI_COMM_SELF, x{1}, y{1});
    const auto of = folded_layer<none, none, none, with_heads<tight>>(one, one);
    std::vector<array> all;
    dm::for_each_tensor([&](const auto&, const auto& v) { all.push_back(whole(v)); }, of.gradient);
    return std::pair{dm::value(of.value), all};
  }();
  using heads_too = layout<plane, split<p, x>, split<four_heads, y>>;
  const auto got = folded_layer<attended, heads_too, folded, with_heads<M>>(g, h);
  CHECK(dm::value(got.value) == doctest::Approx(alone.first).epsilon(1e-12));
  std::size_t at = 0;
  dm::for_each_tensor(
      [&](const auto&, const auto& v) { CHECK(agrees(v, alone.second.at(at++), 1e-11)); },
      got.gradient);
  CHECK(at == alone.second.size());
}

TEST_CASE("attention on one mesh, experts on another one over the same ranks, in chunks, too") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    if (!divides_four(g)) return;
    for_each_grid<island>([&](const dm::grid<island>& h) {
      check_folded<tight>(g, h);
      if (h.state().sizes()[1] <= 2) check_folded<chunked>(g, h);
    });
  });
}

TEST_CASE("a dense layer becomes one with experts on another mesh, with a gate, too") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    if (!divides_four(g)) return;
    for_each_grid<island>([&](const dm::grid<island>& h) {
      using columns = layout<plane, split<p, x>, split<moe::hidden, y>>;
      auto dense = dm::make<nn::feed_forward_parameters<columns, gated>>(g);
      nn::initialize(dense, dm::random_key{5});
      auto w = dm::make<nn::mixture_parameters<folded, gated>>(h);
      nn::initialize(w, dm::random_key{6});
      nn::upcycle(dense, w);
      const auto in = scattered<dm::tensor<double, attended, p, q, moe::model>>(g, tokens);
      const auto want = nn::feed_forward(nn::model<columns, gated>{}, dense, in);
      const auto got = nn::mixture<folded>(nn::model<attended, gated>{}, w, in).y;
      CHECK(dm::value(dm::complete(dm::max(dm::abs(want - got)))) < 1e-12);
      CHECK(dm::value(dm::complete(dm::max(dm::abs(got)))) > 0);
    });
  });
}

using by_rows = layout<plane, split<p, x>>;
using over_rows = layout<plane, split<moe::expert, x>, split<moe::hidden, y>>;

TEST_CASE("experts in chunks: the same bits, on the way back, too") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    if (!divides_four(g)) return;
    if (g.state().sizes()[0] == 4) {
      CHECK_THROWS_WITH_AS((void)(outcome<by_rows, over_rows, over_rows, chunked>(g, g)),
                           "mixture: the 4 experts of 4 ranks cannot be cut into 2 chunks; let "
                           "chunks divide the experts of a rank",
                           dm::error);
      return;
    }
    const auto a = outcome<by_rows, over_rows, over_rows, chunked>(g, g);
    const auto b = outcome<by_rows, over_rows, over_rows, tight>(g, g);
    // Pieces of a kernel share a sum over many rows by how many these are.
    const double apart =
        dimesh::local::detail::runs_as_call<Kokkos::DefaultExecutionSpace> ? 0 : 1e-12;
    const auto same = [apart](const auto& u, const auto& v) {
      return dm::value(dm::complete(dm::max(dm::abs(u - v)))) <= apart;
    };
    const auto& da = a.gradient;
    const auto& db = b.gradient;
    CHECK(dm::value(a.value) == dm::value(b.value));
    CHECK(same(da.x, db.x));
    CHECK(same(da.w.router, db.w.router));
    CHECK(same(da.w.up, db.w.up));
    CHECK(same(da.w.up_bias, db.w.up_bias));
    CHECK(same(da.w.down, db.w.down));
    CHECK(same(da.w.down_bias, db.w.down_bias));
    check_as_alone(a);
  });
}

TEST_CASE("weights split along the model's dim, or stored in shards; uneven groups and experts") {
  for_each_grid<plane>([](const dm::grid<plane>& g) {
    if (!divides_four(g)) return;
    using by_model = layout<plane, split<moe::expert, x>, split<uneven<moe::model>, y>>;
    check_as_alone(outcome<by_rows, by_model, by_model, tight>(g, g));
    using experts = layout<plane, split<moe::expert, x>>;
    check_as_alone(outcome<by_rows, experts, over_rows, tight>(g, g));
  });
  for_each_grid<line>([](const dm::grid<line>& g) {
    using groups = layout<line, split<uneven<p>, x>>;
    using experts = layout<line, split<uneven<moe::expert>, x>>;
    check_as_alone(outcome<groups, experts, experts, tight>(g, g));
  });
}

TEST_CASE("a rank with another length: an error on all ranks") {
  const dm::grid<line> g;
  if (g.everyone().size() == 1) return;
  using here = layout<line, split<uneven<p>, x>>;
  const auto w = parameters_on<here, tight>(g);
  const dm::tensor<double, here, p, q, moe::model> tokens(g, p{4}, q{g.rank() == 1 ? 6 : 5});
#ifdef DIMESH_CHECKED  // what compares operands says it first
  constexpr const char* said = "elements";
#else
  constexpr const char* said =
      "extents_all_reduce: dim 'q' has 5 elements on one rank and 6 on another; all ranks give a "
      "dim one extent";
#endif
  CHECK_THROWS_WITH_AS((void)nn::mixture(nn::model<here, tight>{}, w, tokens),
                       doctest::Contains(said), dm::error);
}

}  // namespace
