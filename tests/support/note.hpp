// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said beside a check that fails? In templates a `note`: INFO of doctest makes a class of
// its own for each place, seven functions each time that a template with one is compiled anew.
#pragma once

#include <doctest/doctest.h>

#include <sstream>
#include <string>

namespace test_support {

/// Shown with whatever fails while it lives.
class note final : doctest::detail::ContextScopeBase {
 public:
  template <class... T> explicit note(const T&... parts) : text_(joined(parts...)) {}
  ~note() override {
    if (need_to_destroy) destroy();
  }
  note(const note&) = delete;
  note& operator=(const note&) = delete;

 private:
  void stringify(std::ostream* s) const override { *s << text_; }
  template <class... T> static std::string joined(const T&... parts) {
    std::ostringstream s;
    (s << ... << parts);
    return s.str();
  }
  std::string text_;
};

}  // namespace test_support
