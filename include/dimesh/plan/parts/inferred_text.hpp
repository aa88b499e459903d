// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one read what annotations imply? As a table: who said which rule, how every tensor of
// the arguments lies, and what is moved. The rows are those of the picture, too (inferred_svg.hpp).
//
//   layout<pod, split<hidden, cols>>
//     split<hidden, cols>   annotation 2: shard<split<hidden, cols>>
//     1.w1                  float[pixel=784, hidden=1024/cols:2]
//     annotation 3          all_gather over cols: 4096 bytes, by replicate<hidden>
#pragma once

#include "dimesh/op/shard.hpp"
#include "dimesh/plan/parts/settle.hpp"
#include "dimesh/reflect/describe.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh::detail {

/// The layout as it is written.
template <class M, class... Rule> std::string layout_line(layout<M, Rule...>) {
  std::string all = "layout<" + std::string(name_of<M>());
  ((all += ", " + text_of_rule(Rule{})), ...);
  return all + ">";
}
/// An annotation's text, without what it is called with.
inline std::string annotation_text(int number, const annotation_note& note) {
  return number == 0 ? "an operation" : "annotation " + std::to_string(number) + ": " + note.text();
}
/// f(rule, who said it, the rule as a value) for each rule of the layout.
template <class M, class... Rule, class F>
void for_each_rule(const auto& r, layout<M, Rule...>, const F& f) {
  int i = 0;
  const auto one = [&](const std::string& rule) {
    const settled_rule& said = r.line[i++];
    f(rule, annotation_text(said.by, *said.note), said.rule);
  };
  (one(text_of_rule(Rule{})), ...);
}

/// X, a probe, as a tensor under layout L.
template <class X, class L> struct tensor_under;
template <class T, class M, class... D, class L>
struct tensor_under<shaped_tensor<T, layout<M, at_run_time>, D...>, L> {
  using type = tensor<T, L, D...>;
};
/// f("2.w1", facts) for each tensor of an argument of this number, under L.
template <class L, class X, class F> void for_each_laid_out(int number, const F& f) {
  const auto one = [&](std::string name, const auto& leaf) {
    using typed = typename tensor_under<std::remove_cvref_t<decltype(leaf)>, L>::type;
    f(std::to_string(number) + (name.empty() ? "" : ".") + name, facts_of<typed>());
  };
  if constexpr (Tensor<X>)
    one("", X{});
  else
    for_each_tensor([&](const auto& path, const auto& leaf) { one(path.text(), leaf); }, X{});
}
/// f("annotation 3", what it moves) for each move.
template <class M, class F> void for_each_move(const auto& r, const F& f) {
  constexpr std::string_view names[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                        "exchange"};
  for (int i = 0; i < r.steps; ++i) {
    const sketched_move& m = r.moves[i];
    f("annotation " + std::to_string(m.number),
      std::string(names[static_cast<std::size_t>(m.kind)]) + " over " + describe_axes<M>(m.axes) +
          ": " +
          (m.is_sized ? std::to_string(static_cast<index_t>(m.bytes)) + " bytes"
                      : "bytes that the run knows") +
          ", by " + m.note->text());
  }
}

/// The table: of layout L, and arguments X...
template <class L, class... X> std::string inferred_text(const auto& r) {
  std::string all = layout_line(L{}) + "\n";
  const auto row = [&all](std::string left, const std::string& right) {
    constexpr std::size_t width = 24;
    left.resize(std::max(width, left.size() + 2), ' ');
    all += "  " + left + right + "\n";
  };
  for_each_rule(r, L{}, [&](const auto& rule, const auto& by, const auto&) { row(rule, by); });
  int n = 0;
  (for_each_laid_out<L, X>(++n, [&](const auto& name, const auto& f) { row(name, text_of(f)); }),
   ...);
  for_each_move<typename L::mesh>(r, row);
  return all;
}

}  // namespace dimesh::detail
