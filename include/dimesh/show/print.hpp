// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is in a tensor? `<<` says what it is and stays local; print_gathered shows its elements, in
// global order, and so collects them on one rank: a collective call.
//
//   std::cout << x            -> "double[p=2/x:2, q=3]"
//   std::cout << mean(x)      -> "double[] 3.5"
//   print_gathered(x)         -> double[p=2/x:2, q=3]
//                                [[ 1  2  3]
//                                 [ 4  5  6]]
#pragma once

#include <algorithm>
#include <iostream>
#include <sstream>

#include "dimesh/core/any_argument.hpp"
#include "dimesh/core/started.hpp"
#include "dimesh/op/complete.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/reflect/describe.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh {

namespace detail {

/// Elements as text, one bracket for each dim; long dims show their first and last three.
class element_text {
 public:
  template <class T>
  element_text(const std::vector<T>& values, const std::vector<index_t>& extent) : extent_(extent) {
    for (const T& v : values) texts_.push_back(text(v));
    for (const std::string& t : texts_) width_ = std::max(width_, t.size());
  }
  std::string all() const { return part(0, 0, texts_.size()); }

 private:
  static constexpr index_t longest = 12, edge = 3;

  template <class T> static std::string text(const T& v) {
    std::ostringstream out;
    if constexpr (requires { out << +v; })
      out << +v;  // of bytes the number
    else
      out << v;
    return out.str();
  }
  std::string part(std::size_t d, std::size_t first, std::size_t count) const {
    if (d == extent_.size()) return std::string(width_ - texts_[first].size(), ' ') + texts_[first];
    const index_t n = extent_[d];
    const bool last = d + 1 == extent_.size();
    const std::string between = last ? " " : "\n" + std::string(d + 1, ' ');
    std::string out = "[";
    for (index_t i = 0; i < n; ++i) {
      if (i > 0) out += between;
      if (n > longest && i == edge) {
        out += "...";
        i = n - edge - 1;
        continue;
      }
      const std::size_t step = count / static_cast<std::size_t>(n);
      out += part(d + 1, first + static_cast<std::size_t>(i) * step, step);
    }
    return out + "]";
  }

  std::vector<index_t> extent_;
  std::vector<std::string> texts_;
  std::size_t width_ = 0;
};

/// Results of which a part is meant; operators of the user's fit better (core/any_argument.hpp).
struct no_text {
  template <class A>
    requires has_several<A>
  no_text(const A&) {  // NOLINT: a conversion is meant
    static_assert(ok<wrong_arguments<A>>,
                  "operator<<: tensors and structs of them have a text; of others write what is to "
                  "be seen: step.value, top_k<label, best>(x).values");
  }
};

}  // namespace detail

template <class... None> std::ostream& operator<<(std::ostream& out, detail::no_text) {
  return out;
}

/// What the tensor is, in one line: see describe; of a tensor without dims its number, too, where
/// this rank has it. Local.
template <Tensor X> std::ostream& operator<<(std::ostream& out, const X& x) {
  out << describe(x);
  if constexpr (!detail::is_tracked<X> && !detail::is_shaped<X> && spec_of<X>::rank == 0 &&
                !detail::may_be_partial<X>) {
    if constexpr (requires(value_of<X> n) { out << +n; }) {
      if (x.defined() && x.local_size() == 1) {
        Kokkos::fence();
        const detail::in_space here(detail::core_of(x).facts->space);
        out << " " << +detail::get_element(x.data());  // +: of bytes the number
      }
    }
  }
  return out;
}

/// A move that has been started is no tensor yet: says so.
template <class X> std::ostream& operator<<(std::ostream& out, const started<X>&) {
  (void)is_poison<started<X>>;
  return out;
}

/// What all tensors of a described struct are, each in a line with its path, those too that were
/// never made on a grid. Local. (Arrays and vectors of tensors are the standard's, and perhaps
/// somebody else's to print.)
template <class P>
  requires(detail::is_described<P> && !Operand<P>)
std::ostream& operator<<(std::ostream& out, const P& parameters) {
  const char* between = "";
  for_each_tensor(
      [&](const member_path& path, const auto& x) {
        out << between << path.text() << ": ";
        x.defined() ? out << describe(x) : out << "not made on a grid";
        between = "\n";
      },
      parameters);
  return out;
}

/// Writes the tensor and its elements, on rank 0; addends are summed. Collective over the grid.
/// Of dims longer than 12, the first and last three elements are shown.
template <Operand X> void print_gathered(const X& x, std::ostream& out = std::cout) {
  const auto values = to_rank(x);
  if constexpr (!is_poison<std::remove_const_t<decltype(values)>>) {
    const auto extents = x.shape().extents();
    if (x.grid().rank() != 0) return;
    out << describe(x) << "\n"
        << detail::element_text(values, {extents.begin(), extents.end()}).all() << std::endl;
  }
}

}  // namespace dimesh
