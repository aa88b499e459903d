// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program choose a layout by name when it runs? From a set of layouts (or of any types
// that stand for them): each is compiled, one is called.
//
//   const layout_set<data, hybrid> layouts{"data", "hybrid"};
//   layouts.visit(name, [&]<class L>(layout_tag<L>) { train<L>(); });   // throws if there is none
//   layouts.names()  -> {"data", "hybrid"}
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "dimesh/detail/words.hpp"
#include "dimesh/layout/fault.hpp"

namespace dimesh {

/// Stands for L where a function is told which layout it is for.
template <class L> struct layout_tag {
  using type = L;
};

/// Layouts with names.
template <class... L> class layout_set {
 public:
  /// One name each, in the order of the types.
  template <class... Name>
    requires(sizeof...(Name) == sizeof...(L))
  constexpr explicit layout_set(const Name&... names) : names_{std::string_view(names)...} {}

  /// Where there are more or fewer of them.
  template <class... Name>
    requires(sizeof...(Name) != sizeof...(L))
  constexpr explicit layout_set(const Name&...) {
    static_assert(ok<wrong_arguments<Name...>>,
                  "layout_set: each layout has a name, in the order of the types: "
                  "layout_set<data, hybrid>{\"data\", \"hybrid\"}");
  }

  static constexpr std::size_t size() { return sizeof...(L); }
  std::vector<std::string> names() const { return {names_.begin(), names_.end()}; }
  bool has(std::string_view name) const {
    for (const std::string_view n : names_)
      if (n == name) return true;
    return false;
  }

  /// f(layout_tag<L>{}), or f.operator()<L>(), for the layout of that name. Throws dimesh::error,
  /// with all names, if there is none.
  template <class F> void visit(std::string_view name, F&& f) const {
    std::size_t i = 0;
    const bool found = ((names_[i++] == name && (call<L>(f), true)) || ...);
    if (!found) refuse(name);
  }
  template <class F, class Name>
    requires(!std::is_convertible_v<const F&, std::string_view>)
  void visit(const F&, const Name&) const {
    static_assert(ok<wrong_arguments<F, Name>>,
                  "layout_set: the name comes first, then the function that gets its layout: "
                  "visit(name, []<class L>(layout_tag<L>) { ... })");
  }
  /// f(name, layout_tag<L>{}) for all of them, in their order.
  template <class F> void for_each(F&& f) const {
    std::size_t i = 0;
    (f(names_[i++], layout_tag<L>{}), ...);
  }

 private:
  template <class One, class F> static void call(F& f) {
    if constexpr (!requires { f(layout_tag<One>{}); } && requires { f.template operator()<One>(); })
      f.template operator()<One>();
    else
      f(layout_tag<One>{});
  }
  [[noreturn]] void refuse(std::string_view name) const {
    detail::words w;
    w << "layout_set: no layout is called '" << name << "'; there are";
    for (const std::string_view n : names_) w << " '" << n << "'";
    w.raise();
  }
  std::array<std::string_view, sizeof...(L)> names_{};
};

}  // namespace dimesh
