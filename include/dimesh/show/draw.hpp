// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which rank holds which block? A picture of a layout, for the terminal or the browser: one tensor
// type on one mesh. Local: every rank can draw it alone.
//
//   draw_text<tensor<float, L, batch, hidden>>(g)                -> lines of at most 80 columns
//   draw_svg<tensor<float, L, batch, length>>(g, length{37})     -> the text of an SVG file
//   draw_svg<X>(mesh_sizes<pod>{cols{4}})                        -> without ranks to run it on
#pragma once

#include "dimesh/show/picture_svg.hpp"
#include "dimesh/show/picture_text.hpp"

namespace dimesh {

/// The layout as lines of text. `where`: a grid or mesh_sizes; extents that the type leaves open
/// follow, as in a tensor's constructor. Of more than two dims, two are drawn: split ones first.
template <Tensor X, class Where, Extents... E>
std::string draw_text(const Where& where, const E&... extents) {
  return detail::text_picture(detail::picture(facts_of<X>(where, extents...)));
}
template <Tensor X> std::string draw_text(const X& x) {
  return detail::text_picture(detail::picture(facts_of(x)));
}

/// The layout as an SVG file's text: blocks to scale, a colour for each rank.
template <Tensor X, class Where, Extents... E>
std::string draw_svg(const Where& where, const E&... extents) {
  const layout_facts f = facts_of<X>(where, extents...);
  return detail::svg_picture(detail::picture(f), detail::text_of(f));
}
template <Tensor X> std::string draw_svg(const X& x) {
  const layout_facts f = facts_of(x);
  return detail::svg_picture(detail::picture(f), detail::text_of(f));
}

/// Of poison there is nothing to draw.
template <class X, class... Where>
  requires is_poison<X>
std::string draw_text(const Where&...) {
  return {};
}
template <class X>
  requires is_poison<X>
std::string draw_text(const X&) {
  return {};
}
template <class X, class... Where>
  requires is_poison<X>
std::string draw_svg(const Where&...) {
  return {};
}
template <class X>
  requires is_poison<X>
std::string draw_svg(const X&) {
  return {};
}

}  // namespace dimesh
