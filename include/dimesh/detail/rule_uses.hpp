// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is there a rule in a layout whose dim no tensor of the program has? Then nothing is split by it,
// and nobody would know: two dims of one name in different namespaces do that. Checked builds note
// the rules of the layouts that tensors are declared with, and the dims of all tensors; the first
// rank names what is left over when the runtime ends.
//
//   note_rules<layout<pod, split<batch, rows>>, hidden>      // by tensor types, before main
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "dimesh/detail/name.hpp"
#include "dimesh/layout/draft.hpp"

namespace dimesh::detail {

class rule_uses {
 public:
  static rule_uses& here() {
    static rule_uses all;
    return all;
  }
  void add_rule(std::uint64_t dim, std::string_view text) {
    const std::lock_guard lock(mutex_);
    rules_.try_emplace(dim, text);
  }
  void add_dim(std::uint64_t dim) {
    const std::lock_guard lock(mutex_);
    seen_.insert(dim);
  }
  /// One line a rule, once.
  void tell() {
    const std::lock_guard lock(mutex_);
    for (const auto& [dim, text] : rules_)
      if (seen_.count(dim) == 0)
        std::fprintf(stderr,
                     "dimesh: note: no tensor of this program has the dim of the layout rule %s; "
                     "is it another dim of the same name?\n",
                     text.c_str());
    rules_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::string> rules_;
  std::set<std::uint64_t> seen_;
};

/// The whole name of T, with its namespaces.
template <class T> constexpr std::string_view spelled_name() {
  constexpr std::string_view text = spelled<T>();
  constexpr auto from = text.find("T = ") + 4;
  constexpr auto end = text.find(';', from);
  return text.substr(from, (end == std::string_view::npos ? text.rfind(']') : end) - from);
}

template <class Rule> struct dim_of_rule {
  static void note() {}
};
template <class Rule, class D> struct notes_rule {
  static void note() {
    using bare = typename bare_dim<D>::type;
    rule_uses::here().add_rule(number_of<bare>(), spelled_name<Rule>());
  }
};
template <class D, class... A>
struct dim_of_rule<split<D, A...>> : notes_rule<split<D, A...>, D> {};
template <class D, class... A>
struct dim_of_rule<split_if_free<D, A...>> : notes_rule<split_if_free<D, A...>, D> {};

template <class L, class... D> struct note_rules_of {
  static bool note() { return true; }
};
template <class M, class... Rule, class... D> struct note_rules_of<layout<M, Rule...>, D...> {
  static bool note() {
    (dim_of_rule<Rule>::note(), ...);
    (rule_uses::here().add_dim(number_of<D>()), ...);
    return true;
  }
};
/// Noted before main, where the type of a tensor names the address.
template <class L, class... D> struct noted {
  static const bool done;
};
template <class L, class... D> const bool noted<L, D...>::done = note_rules_of<L, D...>::note();
template <const bool*, class X> struct with_note {
  using type = X;
};

}  // namespace dimesh::detail
