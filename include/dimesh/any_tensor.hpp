// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program hold a tensor whose layout it knows only when it runs? By a handle that
// forgets the type and checks it when it is asked for again.
//
//   any_tensor t = x;                     // shares the memory of x
//   t.as<tensor<float, data, batch>>()    // x again, or dimesh::error: both layouts are named
//   t.text()                              -> "float[batch=256/rows:2, hidden=1024]"
#pragma once

#include <string>

#include "dimesh/core/runtime_facts.hpp"
#include "dimesh/reflect/describe.hpp"

namespace dimesh {

/// A tensor of any element type, layout and dims, with data or without. Copies share the memory.
/// Types are the same where their names are: also those of another shared library that hides its
/// symbols.
class [[nodiscard]] any_tensor {
 public:
  any_tensor() = default;
  /// Of a tensor that is not recorded: gradients do not pass through.
  template <Tensor X>
    requires(!detail::is_tracked<X>)
  any_tensor(const X& x)
      : core_(detail::core_of(x)),
        element_(detail::number_of<value_of<X>>()),
        shaped_(detail::is_shaped<X>),
        text_(&text_of<X>) {}

  bool defined() const { return text_ != nullptr; }

  /// Is it a tensor of type X? A runtime_tensor is one whatever the layout.
  template <Tensor X> bool is() const {
    if (!defined() || shaped_ != detail::is_shaped<X>) return false;
    const detail::tensor_facts& facts = facts_as<X>();
    return core_.facts == &facts ||
           (element_ == detail::number_of<value_of<X>>() && core_.facts->same_content(facts));
  }
  /// The tensor, as one of type X. Throws dimesh::error if it is of another type.
  template <Tensor X> X as() const {
    if (!is<X>())
      (detail::words() << "any_tensor: it holds "
                       << (defined() ? std::string_view(text()) : std::string_view("nothing"))
                       << ", not " << describe<X>() << "; ask for its own type, or relayout it")
          .raise();
    detail::tensor_core here(core_);
    here.facts = &facts_as<X>();  // whoever made it: this part's
    return X(std::move(here));
  }

  // What it holds only the run knows.
  template <class X>
    requires(!Tensor<X>)
  poison as() const {
    return refuse<X>();
  }
  template <Tensor X> operator X() const {  // NOLINT: where a type is declared, too
    (void)refuse<X>();
    return X();
  }
  template <Dim D> poison extent() const { return refuse<D>(); }

  /// One line on it, as `describe` gives.
  std::string text() const { return defined() ? text_(core_) : std::string(); }
  /// How many dims it has, and the global extent of the d-th.
  int rank() const { return defined() ? core_.rank() : 0; }
  index_t extent(int d) const { return core_.extent(d); }

 private:
  template <class Asked> static constexpr poison refuse() {
    static_assert(ok<wrong_arguments<Asked>>,
                  "any_tensor: its type is known at run time; ask for the tensor that it holds: "
                  "a.as<tensor<float, L, batch>>()");
    return {};
  }
  /// Those of type X; where its layout is a value, that of this tensor.
  template <class X> const detail::tensor_facts& facts_as() const {
    if constexpr (detail::is_probe<X>)
      return detail::facts_under(detail::spec_facts<spec_of<X>>, core_.layout());
    else
      return detail::spec_facts<spec_of<X>>;
  }
  template <class X> static std::string text_of(const detail::tensor_core& x) {
    return describe(X(x));
  }
  detail::tensor_core core_;
  std::uint64_t element_ = 0;  // the number of the elements' type
  bool shaped_ = false;  // by its type; one with data may stand for its cost
  std::string (*text_)(const detail::tensor_core&) = nullptr;
};

}  // namespace dimesh
