// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does one read what annotations imply? As a table: who said which rule, how every tensor of
// the arguments lies, and what is moved.
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

/// A line of two columns.
inline void list_row(std::string& all, std::string left, const std::string& right) {
  constexpr std::size_t width = 24;
  left.resize(std::max(width, left.size() + 2), ' ');
  all += "  " + left + right + "\n";
}
/// An annotation's text, without what it is called with.
inline std::string annotation_text(int number, const annotation_note& note) {
  return number == 0 ? "an operation" : "annotation " + std::to_string(number) + ": " + note.text();
}
/// The layout, and who said its rules.
template <class M, class... Rule>
void list_layout(std::string& all, const sketch_report& r, layout<M, Rule...>) {
  all += "layout<" + std::string(name_of<M>());
  ((all += ", " + text_of_rule(Rule{})), ...);
  all += ">\n";
  int i = 0;
  const auto row = [&](const std::string& rule) {
    const settled_rule& said = r.line[i++];
    list_row(all, rule, annotation_text(said.by, *said.note));
  };
  (row(text_of_rule(Rule{})), ...);
}

/// X, a probe, as a tensor under layout L.
template <class X, class L> struct tensor_under;
template <class T, class M, class... D, class L>
struct tensor_under<shaped_tensor<T, layout<M, at_run_time>, D...>, L> {
  using type = tensor<T, L, D...>;
};
template <class L, class X> void list_argument(std::string& all, int number) {
  const auto list_one = [&](std::string name, const auto& leaf) {
    using typed = typename tensor_under<std::remove_cvref_t<decltype(leaf)>, L>::type;
    list_row(all, std::to_string(number) + (name.empty() ? "" : ".") + name, describe<typed>());
  };
  if constexpr (Tensor<X>)
    list_one("", X{});
  else
    for_each_tensor([&](const auto& path, const auto& leaf) { list_one(path.text(), leaf); }, X{});
}
template <class M> void list_moves(std::string& all, const sketch_report& r) {
  constexpr std::string_view names[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                        "exchange"};
  for (int i = 0; i < r.steps && i < sketch_report::most_moves; ++i) {
    const sketched_move& m = r.moves[i];
    list_row(all, "annotation " + std::to_string(m.number),
             std::string(names[static_cast<std::size_t>(m.kind)]) + " over " +
                 describe_axes<M>(m.axes) + ": " +
                 (m.is_sized ? std::to_string(static_cast<index_t>(m.bytes)) + " bytes"
                             : "bytes that the run knows") +
                 ", by " + m.note->text());
  }
}

}  // namespace dimesh::detail
