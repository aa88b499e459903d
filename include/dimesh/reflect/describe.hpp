// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a tensor's type said in one short line? Element, dims with their extents, what splits
// them, and what is partial. Local: nothing but the type (and, of a tensor, its shape) is read.
//
//   describe<tensor<float, L, batch, hidden>>()  -> "float[batch=256/rows:2, hidden] partial<cols>"
//   describe(x)                                  -> the same with the extents and sizes of this run
//   describe_mesh(g)                             -> "2x4"
//   describe_axes<pod>(0b11)                     -> "rows+cols"
#pragma once

#include <string>
#include <vector>

#include "dimesh/shaped.hpp"

namespace dimesh {

/// A tensor's type and shape as plain data: what pictures and texts are made from.
struct layout_facts {
  std::string element;
  std::vector<std::string> dims, axes;
  std::vector<index_t> extent;  ///< of each dim; `dynamic` where not known
  std::vector<index_t> size;  ///< of each mesh axis; `dynamic` where not known
  detail::table table;  ///< dims and axes by place
  /// Of each dim that is ragged where blocks begin, and its extent; empty of others, and where not
  /// known.
  std::vector<std::vector<index_t>> cuts;
};

namespace detail {

template <class... N> std::vector<std::string> texts_of(list<N...>) {
  return {std::string(name_of<N>())...};
}
template <class... D> std::vector<index_t> static_extents(list<D...>) {
  return {static_extent<D>...};
}

template <class S> layout_facts type_facts() {
  using mesh = typename S::mesh;
  layout_facts f{std::string(name_of<typename S::value_type>()),
                 texts_of(typename S::dims{}),
                 texts_of(typename mesh::axes{}),
                 static_extents(typename S::dims{}),
                 {mesh::static_sizes.begin(), mesh::static_sizes.end()},
                 spec_facts<S>.layout,
                 {}};
  f.cuts.resize(f.dims.size());
  return f;
}
/// Where each of some blocks begins, of cuts of which each has several, and the extent.
inline std::vector<index_t> begin_of_blocks(const std::vector<index_t>& cuts, index_t blocks) {
  const std::size_t each = (cuts.size() - 1) / static_cast<std::size_t>(blocks);
  std::vector<index_t> begin;
  for (std::size_t i = 0; i < cuts.size(); i += each) begin.push_back(cuts[i]);
  return begin;
}
template <class S>
layout_facts shape_facts(const typename S::shape_type& shape, const index_t* sizes,
                         const cut_list& cuts, const table& layout = spec_facts<S>.layout) {
  constexpr index_t origin[max_axes] = {};
  (void)geometry<S>(shape, sizes, origin, cuts);  // refuses what cannot stand there
  layout_facts f = type_facts<S>();
  f.table = layout;
  const auto extents = shape.extents();
  f.extent.assign(extents.begin(), extents.end());
  f.size.assign(sizes, sizes + f.axes.size());
  for (std::size_t d = 0; d < f.dims.size(); ++d)
    if (f.table.ragged[d])
      f.cuts[d] = begin_of_blocks(cuts_of_dim(cuts.first(), spec_facts<S>.dim[d])->begin,
                                  ranks_over(f.table, static_cast<int>(d), sizes));
  return f;
}

inline std::string size_text(const std::string& name, index_t n, const char* mark) {
  return n == dynamic ? name : name + mark + std::to_string(n);
}
/// "rows:2" or, of several axes, "rows:2*cols:4", major first.
inline std::string splitters_text(const layout_facts& f, int d) {
  std::string text;
  for (int level = 0, a = 0; (a = f.table.axis_at(d, level)) >= 0; ++level) {
    const auto place = static_cast<std::size_t>(a);
    if (level > 0) text += '*';
    text += size_text(f.axes[place], f.size[place], ":");
  }
  return text;
}
/// " 3 0 5"
inline std::string lengths_text(const std::vector<index_t>& begin) {
  std::string text;
  for (std::size_t i = 1; i < begin.size(); ++i)
    text += ' ' + std::to_string(begin[i] - begin[i - 1]);
  return text;
}
inline std::string halo_text(const halo_widths& h) {
  if (!h.any()) return "";
  const std::string before = " halo " + std::to_string(h.before);
  return h.is_even() ? before : before + " before and " + std::to_string(h.after) + " after";
}
inline std::string text_of(const layout_facts& f) {
  std::string text = f.element + "[";
  for (std::size_t d = 0; d < f.dims.size(); ++d) {
    const auto place = static_cast<int>(d);
    const std::string over = splitters_text(f, place);
    text += (d > 0 ? ", " : "") + size_text(f.dims[d], f.extent[d], "=") +
            (over.empty() ? "" : "/" + over) +
            (f.table.ragged[d]   ? " ragged" + lengths_text(f.cuts[d])
             : f.table.uneven[d] ? " uneven"
                                 : "") +
            halo_text(f.table.halo[d]);
  }
  text += "]";
  for (std::size_t a = 0; a < f.axes.size(); ++a) {
    const use what = f.table.axis[a].what;
    if (what == use::partial) text += " partial<" + f.axes[a] + ">";
    if (what == use::partial_max) text += " partial_max<" + f.axes[a] + ">";
    if (what == use::placed)
      text += " placed<" + f.axes[a] + ", " + std::to_string(f.table.axis[a].at) + ">";
    if (what == use::partial_min) text += " partial_min<" + f.axes[a] + ">";
  }
  return text;
}

}  // namespace detail

/// The facts of a tensor type, or of a tensor: then with all extents and sizes.
template <Tensor X> layout_facts facts_of() { return detail::type_facts<spec_of<X>>(); }
template <Tensor X> layout_facts facts_of(const X& x) {
  const detail::tensor_core& core = detail::core_of(x);
  if constexpr (!detail::is_shaped<X>)
    if (!core.is_shape) detail::require_grid("describe", core);  // else it stands for its cost
  return detail::shape_facts<spec_of<X>>(x.shape(), core.sizes(), core.cuts, core.layout());
}
/// The facts of a tensor that would stand on a grid, or on a mesh of these sizes.
template <Tensor X, Extents... E>
layout_facts facts_of(const grid<typename X::mesh_type>& g, const E&... extents) {
  return detail::shape_facts<spec_of<X>>(typename X::shape_type(shape<>{}, extents...),
                                         g.state().sizes(), detail::cuts_among(extents...));
}
template <Tensor X, Extents... E>
layout_facts facts_of(const mesh_sizes<typename X::mesh_type>& sizes, const E&... extents) {
  return detail::shape_facts<spec_of<X>>(typename X::shape_type(shape<>{}, extents...),
                                         sizes.size.data(), detail::cuts_among(extents...));
}

/// One line on a tensor type.
template <Tensor X> [[nodiscard]] std::string describe() { return detail::text_of(facts_of<X>()); }
/// One line on a tensor.
template <Tensor X> [[nodiscard]] std::string describe(const X& x) {
  return detail::text_of(facts_of(x));
}

/// Of poison there is nothing to say.
template <class X>
  requires is_poison<X>
[[nodiscard]] std::string describe() {
  return {};
}
template <class X>
  requires is_poison<X>
[[nodiscard]] std::string describe(const X&) {
  return {};
}

/// The sizes of a mesh: "2x4", or "1" for a mesh without axes.
template <Mesh M> std::string describe_mesh(const grid<M>& g) {
  std::string text;
  for (int a = 0; a < M::rank; ++a)
    text += (a > 0 ? "x" : "") + std::to_string(g.state().sizes()[a]);
  return text.empty() ? "1" : text;
}

/// The axes of a set of them, as ledgers and counters have it: bit a is the mesh's axis a.
template <Mesh M> std::string describe_axes(unsigned set) {
  const std::vector<std::string> names = detail::texts_of(typename M::axes{});
  std::string text;
  for (std::size_t a = 0; a < names.size(); ++a)
    if ((set >> a & 1u) != 0) text += (text.empty() ? "" : "+") + names[a];
  return text;
}

}  // namespace dimesh
