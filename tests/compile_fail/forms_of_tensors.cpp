// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dims, meshes, layouts and structs that cannot be, and what they are not filled with.
#include <dimesh/dimesh.hpp>

#include <dimesh/collective/reduce_scatter.hpp>
#include <dimesh/interop/borrow.hpp>
#include <dimesh/nn/block.hpp>
#include <dimesh/plan/probe.hpp>

#include "names.hpp"

struct depth : dm::axis<2> {};
using row = dm::tensor<float, whole, hidden>;
template <class R, class... D> using with = dm::tensor<float, dm::layout<pod, R>, D...>;
using probe = dm::probe<float, pod, batch, hidden>;
template <class L> struct net {
  using weight_type = dm::tensor<float, L, batch, hidden>;
  BOOST_HANA_DEFINE_STRUCT(net, (weight_type, weight));
};
template <class L> struct layers {
  using weights_type = std::vector<dm::tensor<float, L, hidden>>;
  BOOST_HANA_DEFINE_STRUCT(layers, (weights_type, weights));
};

// mistake: forms_of_tensors__extent
// expect: dim: an extent is at least 0; write dim<> for an extent given at run time
// lines: 11
#ifdef COMPILE_FAIL
struct channel : dm::dim<-3> {};
#else
struct channel : dm::dim<> {};
#endif
auto f(const dm::tensor<float, whole, channel>& x) { return dm::sum(x); }

// mistake: forms_of_tensors__axes
// expect: mesh: too many axes; at most max_axes are supported
// lines: 11
template <int> struct nth : dm::axis<2> {};
#ifdef COMPILE_FAIL
struct deep : dm::mesh<nth<0>, nth<1>, nth<2>, nth<3>, nth<4>, nth<5>, nth<6>, nth<7>, nth<8>> {};
#else
struct deep : dm::mesh<nth<0>, nth<1>, nth<2>, nth<3>, nth<4>, nth<5>, nth<6>, nth<7>> {};
#endif
auto f(const dm::tensor<float, dm::layout<deep>, batch>& x) { return dm::sum(x); }

// mistake: forms_of_tensors__halo
// expect: halo: the width is a number from 0 to max_halo; choose one
// lines: 11
#ifdef COMPILE_FAIL
using haloed = with<dm::split<dm::halo<batch, 200>, rows>, batch>;
#else
using haloed = with<dm::split<dm::halo<batch, 2>, rows>, batch>;
#endif
auto f(const haloed& x) { return x.local_size(); }

// mistake: forms_of_tensors__rule_of_nine
// expect: tensor: two rules of the layout use one mesh axis
// expect: axis_used_twice<rows>
#ifdef COMPILE_FAIL
using often = with<dm::split<batch, rows, cols, rows, cols, rows, cols, rows, cols, rows>, batch>;
#else
using often = with<dm::split<batch, rows, cols>, batch>;
#endif
auto f(const often& x) { return x.local_size(); }

// mistake: forms_of_tensors__fill
// expect: fill: the layout is that of a maximum yet to be found; fill a tensor of another layout
// expect: partial_operand<rows>
using greatest = with<dm::partial_max<rows>, batch>;
#ifdef COMPILE_FAIL
void f(greatest& x) { dm::fill(x, 1); }
#else
void f(with<dm::partial<rows>, batch>& x) { dm::fill(x, 1); }
#endif

// mistake: forms_of_tensors__fill_by_greatest
// expect: fill_by: the layout is that of a maximum yet to be found; fill a tensor of another layout
// expect: partial_operand<rows>
using greatest = with<dm::partial_max<rows>, batch>;
struct zero {
  float operator()(dm::index_t) const { return 0; }
};
#ifdef COMPILE_FAIL
void f(greatest& x) { dm::fill_by(x, zero{}); }
#else
void f(with<dm::partial<rows>, batch>& x) { dm::fill_by(x, zero{}); }
#endif

// mistake: forms_of_tensors__fill_by_halo
// expect: fill_by: blocks of this dim carry a halo; fill a tensor without it, then halo_exchange
// expect: dim_has_halo<batch>
using haloed = with<dm::split<dm::halo<batch, 1>, rows>, batch>;
struct zero {
  float operator()(dm::index_t) const { return 0; }
};
#ifdef COMPILE_FAIL
void f(haloed& x) { dm::fill_by(x, zero{}); }
#else
void f(with<dm::split<batch, rows>, batch>& x) { dm::fill_by(x, zero{}); }
#endif

// mistake: forms_of_tensors__fill_from_greatest
// expect: fill_from: the layout is that of a maximum yet to be found; fill a tensor of another layout
// expect: partial_operand<rows>
using greatest = with<dm::partial_max<rows>, batch>;
#ifdef COMPILE_FAIL
void f(greatest& x, std::span<const float> values) { dm::fill_from(x, values); }
#else
void f(with<dm::partial<rows>, batch>& x, std::span<const float> v) { dm::fill_from(x, v); }
#endif

// mistake: forms_of_tensors__fill_from_halo
// expect: fill_from: blocks of this dim carry a halo; fill a tensor without it, then halo_exchange
// expect: dim_has_halo<batch>
using haloed = with<dm::split<dm::halo<batch, 1>, rows>, batch>;
#ifdef COMPILE_FAIL
void f(haloed& x, std::span<const float> values) { dm::fill_from(x, values); }
#else
void f(with<dm::split<batch, rows>, batch>& x, std::span<const float> v) { dm::fill_from(x, v); }
#endif

// mistake: forms_of_tensors__uniform_at
// expect: uniform_at: numbers in [0, 1) are float or double; draw one and convert it
#ifdef COMPILE_FAIL
auto f(dm::random_key key) { return dm::uniform_at<int>(key, 3); }
#else
auto f(dm::random_key key) { return dm::uniform_at<float>(key, 3); }
#endif

// mistake: forms_of_tensors__normal_at
// expect: normal_at: normal numbers are float or double; draw one and convert it
#ifdef COMPILE_FAIL
auto f(dm::random_key key) { return dm::normal_at<int>(key, 3); }
#else
auto f(dm::random_key key) { return dm::normal_at<float>(key, 3); }
#endif

// mistake: forms_of_tensors__value_of_rules
// expect: layout_value: a rule names an axis that the mesh lacks; name one of its axes
#ifdef COMPILE_FAIL
auto f(dm::layout_value<pod>& v) { v.add(dm::layout<pod, dm::split<batch, depth>>{}); }
#else
auto f(dm::layout_value<pod>& v) { v.add(dm::layout<pod, dm::split<batch, rows>>{}); }
#endif

// mistake: forms_of_tensors__no_probe
// expect: probe_of: this tensor's layout is a type; ask for a probe
#ifdef COMPILE_FAIL
using asked = row;
#else
using asked = probe;
#endif
auto f(const dm::layout_value<pod>& rules) {
  return dm::probe_of<asked>(rules, dm::mesh_sizes<pod>());
}

// mistake: forms_of_tensors__no_probes
// expect: probe_of: a tensor's layout is a type; make it one of probes
#ifdef COMPILE_FAIL
using asked = net<whole>;
#else
using asked = net<dm::layout<pod, dm::at_run_time>>;
#endif
auto f(const dm::layout_value<pod>& rules) {
  return dm::probe_of<asked>(rules, dm::mesh_sizes<pod>());
}

// mistake: forms_of_tensors__path_of
// expect: path_of: the struct has vectors, whose lengths only a value knows; pass it too: path_of(params, n)
#ifdef COMPILE_FAIL
auto f(const layers<whole>&) { return dm::path_of<layers<whole>>(0); }
#else
auto f(const layers<whole>& p) { return dm::path_of(p, 0); }
#endif

// mistake: forms_of_tensors__build
// expect: build_tensors: the struct has vectors; say how long they are: build_tensors<S>(f, lengths)
struct made_here {
  template <class Tag> auto operator()(const dm::member_path&, const Tag&) const {
    return typename Tag::type{};
  }
};
#ifdef COMPILE_FAIL
auto f() { return dm::build_tensors<layers<whole>>(made_here{}); }
#else
auto f() { return dm::build_tensors<net<whole>>(made_here{}); }
#endif

// mistake: forms_of_tensors__constructor
// expect: make: a struct of tensors has no constructors and no bases; leave them out
// lines: 18
template <class L> struct built {
  using weight_type = dm::tensor<float, L, hidden>;
  BOOST_HANA_DEFINE_STRUCT(built, (weight_type, weight));
#ifdef COMPILE_FAIL
  built() = default;
  explicit built(int);
#else
  static constexpr int layers = 1;
#endif
};
auto f(const dm::grid<pod>& g) { return dm::make<built<whole>>(g); }

// mistake: forms_of_tensors__view_of
// expect: view_of: Kokkos' Views have up to 8 dimensions; use data() and stride(d)
// lines: 11
template <int> struct nth : dm::dim<2> {};
#ifdef COMPILE_FAIL
using many = dm::tensor<float, whole, nth<0>, nth<1>, nth<2>, nth<3>, nth<4>, nth<5>, nth<6>,
                        nth<7>, nth<8>>;
#else
using many =
    dm::tensor<float, whole, nth<0>, nth<1>, nth<2>, nth<3>, nth<4>, nth<5>, nth<6>, nth<7>>;
#endif
auto f(const many& x) { return dm::view_of(x).data(); }

// mistake: forms_of_tensors__borrow
// expect: borrow: tensors' kernels do not reach the memory space of this View; copy it: from_view<X>(grid, view)
struct far {
  using memory_space = far;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  using device_type = Kokkos::Device<execution_space, far>;
  using size_type = std::size_t;
};
#ifdef COMPILE_FAIL
using lent = Kokkos::View<float*, Kokkos::LayoutRight, far>;
#else
using lent = Kokkos::View<float*, Kokkos::LayoutRight, Kokkos::HostSpace>;
#endif
auto f(const dm::grid<pod>& g, const lent& v) { return dm::borrow<row>(g, v); }

// mistake: forms_of_tensors__sums_by_mpi
// expect: collective: MPI cannot reduce this element type; cast first
struct pair {
  float a, b;
};
#ifdef COMPILE_FAIL
auto f = &dimesh::collective::reduce_scatter<pair>;
#else
auto f = &dimesh::collective::reduce_scatter<float>;
#endif

// mistake: forms_of_tensors__sent_by_mpi
// expect: collective: elements must be trivially copyable; send something else
// lines: 14
#ifdef COMPILE_FAIL
auto f() { return dimesh::collective::element<std::string>::units; }
#else
auto f() { return dimesh::collective::element<float>::units; }
#endif

// mistake: forms_of_tensors__map
// expect: map: elements have 1, 2, 4, 8 or 16 bytes, and there are 8 operands at most; map a function of some, and another one of the results
struct color {
  unsigned char of[3];
};
#ifdef COMPILE_FAIL
using element = color;
#else
using element = float;
#endif
auto f(const dm::tensor<element, whole, hidden>& x) {
  return dm::map([](const element& c) { return c; }, x);
}
