// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options: -O0
#include "dimesh/plan/probe.hpp"

#include <doctest/doctest.h>

#include "dimesh/dimesh.hpp"
#include "dimesh/grad/cost.hpp"
#include "dimesh/grad/vjp.hpp"
#include "dimesh/op/attention.hpp"
#include "dimesh/op/operation.hpp"
#include "dimesh/op/rotary.hpp"
#include "dimesh/optim/adafactor.hpp"
#include "dimesh/optim/clip.hpp"

namespace dm = dimesh;

namespace {

struct batch : dm::dim<256> {};
struct pixel : dm::dim<768> {};
struct hidden : dm::dim<1024> {};
struct label : dm::dim<10> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
using any = dm::layout<pod, dm::at_run_time>;
using dm::split;
using value = dm::layout_value<pod>;

template <class... Rule> using L = dm::layout<pod, Rule...>;

template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, pixel, hidden>, w1),
                           (dm::tensor<float, L, hidden>, b1),
                           (dm::tensor<float, L, hidden, label>, w2),
                           (dm::tensor<float, L, label>, b2));
};
struct loss {
  template <class P, class X, class T>
  constexpr auto operator()(const P& p, const X& x, const T& target) const {
    constexpr auto activate = [](auto z, auto b) { return dm::relu(z + b); };
    auto h = dm::map(activate, dm::complete(dm::einsum<batch, hidden>(x, p.w1)), p.b1);
    auto y = dm::complete(dm::einsum<batch, label>(h, p.w2)) + p.b2;
    return dm::mean<batch>(dm::log_sum_exp<label>(y) - dm::einsum<batch>(y, target));
  }
};
struct step {
  template <class P, class X, class T>
  constexpr auto operator()(const P& p, const X& x, const T& target) const {
    return dm::complete(dm::value_and_grad(loss{}, p)(x, target));
  }
};

const dm::mesh_sizes<pod> sizes;

dm::ledger<pod> probed_step(const value& l) {
  return dm::count(step{}, dm::probe_of<network<any>>(l, sizes),
                   dm::probe_of<dm::probe<float, pod, batch, pixel>>(l, sizes),
                   dm::probe_of<dm::probe<float, pod, batch, label>>(l, sizes));
}
template <class C> dm::ledger<pod> compiled_step() {
  return dm::count(step{}, network<dm::shaped<C>>{},
                   dm::tensor<float, dm::shaped<C>, batch, pixel>{},
                   dm::tensor<float, dm::shaped<C>, batch, label>{});
}

void check_equal(const dm::ledger<pod>& a, const dm::ledger<pod>& b) {
  CHECK(a.flops() == b.flops());
  CHECK(a.moved() == b.moved());
  CHECK(a.peak() == b.peak());
  CHECK(a.counts.over == b.counts.over);  // bytes, ring bytes and calls of every set of axes
}
template <class C> void check_step() {
  const value l{C{}};
  CAPTURE(l.text());
  check_equal(probed_step(l), compiled_step<C>());
}

template <class T, class C, class... D>
dm::probe<T, pod, D...> probe_like(const dm::shaped_tensor<T, C, D...>&) {
  return dm::probe_of<dm::probe<T, pod, D...>>(value(C{}), sizes);
}
/// What f does to probes and to shapes is the same.
template <class F, class... X> void check_same(const F& f, const X&... x) {
  check_equal(dm::count(f, probe_like(x)...), dm::count(f, x...));
}

std::string what_of(const auto& f) {
  try {
    (void)f();
  } catch (const dm::error& e) {
    return e.what();
  }
  return "";
}
template <class... D> auto under(const value& l) {
  return dm::probe_of<dm::probe<float, pod, D...>>(l, sizes);
}

}  // namespace

static_assert(std::is_same_v<dm::probe<float, pod, batch>, dm::tensor<float, any, batch>>);
static_assert(
    std::is_same_v<decltype(network<dm::gradient<any>>::b1), dm::probe<float, pod, hidden>>,
    "the layout of a gradient is a value, too");

TEST_CASE("probe: a training step costs what the compiled one costs") {
  check_step<L<>>();
  check_step<L<split<batch, rows>>>();
  check_step<L<split<batch, rows>, split<hidden, cols>>>();
  check_step<L<split<pixel, rows>, split<hidden, cols>>>();
  check_step<L<split<hidden, cols, rows>>>();
  check_step<L<dm::placed<rows, 1>, split<batch, cols>>>();
}

TEST_CASE("probe: places") {
  const value here(L<dm::placed<rows, 1>>{}), there(L<dm::placed<rows, 0>>{}), everywhere;
  CHECK(here.text() == "placed<rows, 1>");
  using dm::placed;
  check_same([](const auto& v) { return dm::send<rows, 0>(v); },
             dm::tensor<float, dm::shaped<L<placed<rows, 1>>>, batch>{});
  check_same([](const auto& v) { return dm::broadcast<rows>(v); },
             dm::tensor<float, dm::shaped<L<placed<rows, 1>>>, batch>{});
  check_same([](const auto& v) { return dm::place<rows, 1>(v); },
             dm::tensor<float, dm::shaped<L<split<batch, cols>>>, batch>{});
  check_same([](const auto& v) { return dm::relayout<L<placed<rows, 0>, split<batch, cols>>>(v); },
             dm::tensor<float, dm::shaped<L<placed<rows, 1>>>, batch>{});
  CHECK(what_of([&] { return under<batch>(here) + under<batch>(there); }) ==
        "operator+: placed_elsewhere: the operands live at different places of axis 'rows'");
  CHECK(what_of([&] { return under<batch>(here) * under<batch>(everywhere); }) ==
        "operator*: placed_in_one_operand_only: one operand lives at one place of axis 'rows', the "
        "other one does not");
  CHECK(what_of([&] { return dm::send<rows, 0>(under<batch>(everywhere)); }) ==
        "send: axis_not_placed: the operand does not live at that place of axis 'rows'");
}

TEST_CASE("probe: one program for all layouts of a mesh") {
  int legal = 0, refused = 0;
  for (const value& l : dm::all_layouts<pod, batch, pixel, hidden, label>()) {
    const std::string text = l.text();
    CAPTURE(text);
    bool is_legal = true;
    try {
      (void)probed_step(l);
    } catch (const dm::error&) {
      is_legal = false;
    }
    // The targets, or b2, meet a sum yet to be made; and 4 does not divide 10.
    CHECK(is_legal == (text.find("label") == std::string::npos));
    ++(is_legal ? legal : refused);
  }
  // Each axis splits one of three dims, or none; both one dim, in two orders.
  CHECK(legal == 4 * 4 + 3);
  CHECK(refused == 5 * 5 + 4 - legal);
}

TEST_CASE("probe: what the rules say at run time") {
  const value by_batch(L<split<batch, rows>>{}), none, by_hidden(L<split<hidden, rows>>{});
  CHECK(by_batch.text() == "split<batch, rows>");
  CHECK(what_of([&] { return under<batch, hidden>(by_batch) + under<batch>(none); }) ==
        "operator+: dim_split_in_one_operand_only: dim 'batch' is split over axis 'rows' in one "
        "operand "
        "only");
  CHECK(what_of([&] { return under<batch, pixel>(by_batch) * under<pixel, hidden>(by_hidden); }) ==
        "operator*: no_operand_has_all_dims: neither operand has all dims of the result");
  CHECK(what_of([&] { return dm::relu(dm::sum<batch>(under<batch, hidden>(by_batch))); }) ==
        "relu: partial_operand: an operand is a sum yet to be made along axis 'rows'");
  CHECK(what_of([&] { return dm::all_gather<cols>(under<batch>(by_batch)); }) ==
        "all_gather: axis_splits_nothing: axis 'cols' does not split what it should");
  CHECK(what_of([&] {
          return under<batch, hidden>(value(L<split<batch, rows>, split<hidden, rows>>{}));
        }) ==
        "tensor: dims_share_mesh_axis: dims 'batch' and 'hidden' are both split over axis 'rows'");
  CHECK(what_of([&] { return under<label>(value(L<split<label, rows, cols>>{})); }) ==
        "tensor: extent_not_divisible: the extent of dim 'label' is not a multiple of the size of "
        "axis 'cols'");
  CHECK(what_of([&] { return dm::relayout<any>(under<batch>(none)); }).find("under_layout") !=
        std::string::npos);
}

namespace {
struct halve_op {
  void fill(dm::results, dm::operands) const {}
  constexpr void cost(dm::cost_counter& c, dm::results y, dm::operands) const {
    c.compute(y[0].elements(), 0);
  }
};
}  // namespace

TEST_CASE("probe: an operation without a rule gives no layout, and so no result") {
  const auto x = under<batch, hidden>(value(L<split<batch, rows>>{}));
  const auto by_type = [](const auto& a) {
    return dm::apply_as<dm::spec_of<std::remove_cvref_t<decltype(a)>>>(halve_op{}, a);
  };
  CHECK(what_of([&] { return by_type(x); }).find("halve: an operand is a probe") == 0);
  const auto by_rule = [](const auto& a) {
    return dm::apply_rule<dm::like_rule, float>(halve_op{}, a);
  };
  CHECK(dm::count(by_rule, x).flops() == 128 * 1024);
  CHECK(by_rule(x).block<batch>().length == 128);
}

TEST_CASE("probe: stencils see by types, and say so") {
  const auto x = under<batch, hidden>(value(L<split<batch, rows>>{}));
  const auto twice = [](const auto& a) { return 2.0f * a(); };
  const std::string says = ": an operand is a probe, and how far a stencil sees is said by its ";
  CHECK(what_of([&] { (void)dm::stencil(twice, x); }).find("stencil" + says) == 0);
  CHECK(what_of([&] {
          (void)dm::stencil_exchange(twice, dm::boundary::zero, x);
        }).find("stencil_exchange" + says) == 0);
}

TEST_CASE("probe: a cotangent of another layout is refused") {
  const value by_batch(L<split<batch, rows>>{}), by_hidden(L<split<hidden, rows, cols>>{});
  const auto x = under<batch, hidden>(by_batch), other = under<batch, hidden>(by_hidden);
  const auto f = [](const auto& a) { return relu(a); };
  CHECK(what_of([&] {
          (void)dm::vjp(f, x).pullback(other);
        }).find("vjp: the pullback's argument is no cotangent of the value") == 0);
  // split over rows and replicated along cols: its gradient holds addends along these
  const auto bar = under<batch, hidden>(value(L<split<batch, rows>, dm::partial<cols>>{}));
  CHECK(what_of([&] { (void)dm::vjp(f, x).pullback(bar); }).empty());
}

TEST_CASE("probe: a layout that the run names") {
  const value by_batch(L<split<batch, rows>>{}), by_hidden(L<split<hidden, rows, cols>>{});
  const dm::under_layout outer(by_hidden);
  const auto x = under<batch, hidden>(by_batch);
  CHECK(dm::relayout<any>(x).block<hidden>().length == 256);
  {
    const dm::under_layout inner(by_batch);
    CHECK(dm::relayout<any>(x).block<hidden>().length == 1024);
    CHECK(dm::relayout<any>(x).block<batch>().length == 128);
  }
  CHECK(dm::relayout<any>(x).block<batch>().length == 256);
}

namespace {
using dm::relu;
using hybrid = L<split<batch, rows>, split<hidden, cols>>;
template <class... D> using X = dm::tensor<float, dm::shaped<hybrid>, D...>;
template <class... D> using I = dm::tensor<std::int32_t, dm::shaped<hybrid>, D...>;
struct other : dm::dim<1024> {};
struct all : dm::axis<4> {};
struct long_mesh : dm::mesh<all> {};
struct to_long {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::relayout<dm::layout<long_mesh, split<pixel, all>>>(x, dm::mesh_sizes<long_mesh>{});
  }
};

TEST_CASE("probe: to another mesh, and there under a layout that the run names") {
  using X = dm::probe<float, pod, batch, pixel>;
  const value by_batch = value(L<split<batch, rows, cols>>{});
  const auto x = dm::probe_of<X>(by_batch, sizes);
  CHECK(to_long{}(x).block<pixel>().length == 768 / 4);
  const auto probed = dm::count(to_long{}, x);
  const auto compiled = dm::count(
      to_long{}, dm::tensor<float, dm::shaped<L<split<batch, rows, cols>>>, batch, pixel>{});
  CHECK(probed.bytes<>() == 3 * 64 * 192 * 4);
  check_equal(probed, compiled);
  const dm::under_layout there(
      dm::layout_value<long_mesh>(dm::layout<long_mesh, split<batch, all>>{}));
  const auto y =
      dm::relayout<dm::layout<long_mesh, dm::at_run_time>>(x, dm::mesh_sizes<long_mesh>{});
  CHECK(y.block<batch>().length == 64);
  CHECK(y.block<pixel>().length == 768);
  const auto addends = dm::probe_of<X>(value(L<dm::partial<cols>>{}), sizes);
  check_equal(
      dm::count(to_long{}, addends),
      dm::count(to_long{}, dm::tensor<float, dm::shaped<L<dm::partial<cols>>>, batch, pixel>{}));
}

}  // namespace

TEST_CASE("probe: every operation counts as it does under a type") {
  using dm::random_key;
  const X<batch, hidden> x;
  const X<batch, pixel> y;
  const X<pixel, hidden> w;
  const X<hidden> b;
  const I<batch> ids;
  check_same([](const auto& a, const auto& c) { return relu(a + c) * 2 - c; }, x, b);
  check_same([](const auto& a) { return dm::max<batch>(a); }, x);
  check_same([](const auto& a) { return dm::complete(dm::mean<hidden>(a)); }, x);
  check_same([](const auto& a, const auto& c) { return dm::einsum<hidden, batch>(a, c); }, y, w);
  check_same([](const auto& a, const auto& c, const auto& d) { return dm::einsum<batch>(a, c, d); },
             y, w, b);
  check_same([](const auto& a) { return dm::all_gather<cols>(a); }, x);
  check_same([](const auto& a) { return dm::all_reduce<cols>(dm::sum<hidden>(a)); }, x);
  check_same([](const auto& a) { return dm::reduce_scatter<batch, cols>(dm::sum<hidden>(a)); }, x);
  check_same([](const auto& a) { return dm::all_to_all<batch, pixel, rows>(a); }, y);
  check_same([](const auto& a) { return dm::own<pixel, cols>(a); }, y);
  check_same([](const auto& a) { return dm::broadcast<cols>(a); }, y);
  check_same([](const auto& a) { return dm::whole<hidden>(dm::whole<batch>(dm::whole<batch>(a))); },
             x);
  check_same([](const auto& a) { return dm::relayout<L<split<hidden, rows, cols>>>(a); }, x);
  check_same([](const auto& a) { return dm::relayout<L<split<batch, cols>>>(dm::sum<hidden>(a)); },
             x);
  check_same([](const auto& a) { return dm::exchange<L<split<hidden, rows>>>(a); }, x);
  check_same([](const auto& a) { return dm::permute<hidden, batch>(a); }, x);
  check_same([](const auto& a) { return dm::rename<hidden, other>(a); }, x);
  check_same([](const auto& a) { return dm::cast<double>(a); }, x);
  check_same([](const auto& a) { return dm::one_hot<label>(a); }, ids);
  check_same([](const auto& a) { return dm::argmax<pixel>(a); }, y);
  check_same([](const auto& a, const auto& i) { return dm::take<hidden>(a, i); }, w, ids);
  check_same([](const auto& a, const auto& c) { return dm::layer_norm<hidden>(a, c, c); }, x, b);
  check_same([](const auto& a) { return dm::rms_norm<pixel>(a); }, y);
  check_same([](const auto& a) { return dm::layer_norm<pixel>(a); }, w);
  check_same([](const auto& a) { return dm::softmax<hidden>(a); }, x);
  check_same([](const auto& a, const auto& i) { return dm::softmax_cross_entropy<hidden>(a, i); },
             x, ids);
  check_same([](const auto& a) { return dm::rotary<batch, pixel>(a); }, y);
  check_same([](const auto& a) { return dm::dropout(0.5, random_key(1), a); }, x);
  check_same(
      [](const auto& q, const auto& k) { return dm::attention<batch, other, pixel>(q, k, k); }, y,
      X<other, pixel>{});
}

namespace {
/// A step that cuts its gradients to a norm, and goes along them.
struct clipped_step {
  template <class P, class X, class T> auto operator()(P p, const X& x, const T& target) const {
    auto s = step{}(p, x, target);
    dm::clip_by_global_norm(s.gradient, 1.0);
    const dm::adafactor optimizer;
    auto state = optimizer.start(p);
    optimizer(p, s.gradient, state);
    return s;
  }
};
}  // namespace
TEST_CASE("probe: norms of gradients") {
  const auto x = dm::tensor<float, dm::shaped<hybrid>, batch, pixel>{};
  const auto t = dm::tensor<float, dm::shaped<hybrid>, batch, label>{};
  const value l{hybrid{}};
  check_equal(
      dm::count(clipped_step{}, dm::probe_of<network<any>>(l, sizes), probe_like(x), probe_like(t)),
      dm::count(clipped_step{}, network<dm::shaped<hybrid>>{}, x, t));
  const auto norm = [](const auto& a) { (void)dm::global_norm(a); };
  check_same(norm, x);
  const auto split_only = under<batch, hidden>(value(L<split<batch, rows>>{}));
  CHECK(what_of([&] {
          return dm::count([&](const auto& a) { norm(dm::halo_exchange<1, batch>(a)); },
                           split_only);
        }) ==
        "global_norm: dim_has_halo: blocks of dim 'batch' carry a halo, which would count twice; "
        "take the tensor without it");
  CHECK(what_of([&] {
          return dm::count([&](const auto& a) { norm(dm::sum<batch>(a)); }, split_only);
        }) ==
        "global_norm: gradient_not_complete: a gradient is a sum yet to be made; pass "
        "complete(gradients)");
}

TEST_CASE("probe: adafactor refuses parameters that carry halos") {
  const auto step_of = [](auto p) {
    const dm::adafactor optimizer;
    auto state = optimizer.start(p);
    optimizer(p, p, state);
  };
  const auto split_only = under<batch, hidden>(value(L<split<batch, rows>>{}));
  CHECK(dm::count(step_of, split_only).flops() > 0);
  CHECK(what_of([&] {
          return dm::count([&](const auto& a) { step_of(dm::halo_exchange<1, batch>(a)); },
                           split_only);
        }) ==
        "adafactor: dim_has_halo: blocks of dim 'batch' carry a halo, which would count twice; let "
        "parameters have none, and exchange in the function");
}

TEST_CASE("probe: recorded extremes go where their dims are whole") {
  constexpr auto both = [](const auto& a) {
    constexpr auto extremes = [](const auto& v) {
      const auto most = dm::max<pixel>(v);
      return dm::sum(most + dm::min<pixel>(v));
    };
    return dm::complete(dm::value_and_grad(extremes, a)());
  };
  check_same(both, dm::tensor<float, dm::shaped<L<split<batch, rows>>>, batch, pixel>{});
  check_same(both,
             dm::tensor<float, dm::shaped<L<split<dm::uneven<batch>, rows>>>, batch, pixel>{});
  CHECK(what_of([&] { return both(under<batch, pixel>(value(L<split<pixel, rows>>{}))); }) ==
        "max: dim_is_split: dim 'pixel' is split over axis 'rows'");
}

TEST_CASE("probe: uneven blocks") {
  using dm::uneven;
  constexpr auto product = [](const auto& a, const auto& w) {
    return dm::complete(dm::einsum<batch, label>(a, w));
  };
  using A = dm::tensor<float, dm::shaped<L<split<uneven<batch>, cols>>>, batch, hidden>;
  check_same(product, A{},
             dm::tensor<float, dm::shaped<L<split<uneven<label>, rows>>>, hidden, label>{});
  check_same(
      [&](const auto& a, const auto& w) {
        const auto loss = [&a](const auto& v) {
          return dm::sum(dm::complete(dm::einsum<batch, label>(a, v)));
        };
        return dm::complete(dm::value_and_grad(loss, w)());
      },
      A{}, dm::tensor<float, dm::shaped<L<split<uneven<label>, rows>>>, hidden, label>{});
  check_same([](const auto& a) { return dm::all_gather<cols>(a); }, A{});
  check_same([](const auto& a) { return dm::relayout<L<split<uneven<hidden>, cols>>>(a); }, A{});
}
