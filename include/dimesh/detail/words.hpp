// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is the text of an error put together? Word by word, each by a call: strings added up in place
// would be a large part of what the compiler turns into code.
//
//   words w;  w << "tensor: dim '" << name << "' has " << n << " elements";  w.raise();
#pragma once

#include <string>
#include <string_view>

#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/config.hpp"
#include "dimesh/error.hpp"

namespace dimesh::detail {

class words {
 public:
  DIMESH_OUTLINE inline words& operator<<(std::string_view s) {
    text_.append(s);
    return *this;
  }
  DIMESH_OUTLINE inline words& operator<<(index_t n) {
    char digits[24];
    int at = sizeof digits;
    for (auto rest = n < 0 ? 0 - static_cast<unsigned long long>(n)
                           : static_cast<unsigned long long>(n);
         rest > 0 || at == sizeof digits; rest /= 10)
      digits[--at] = static_cast<char>('0' + rest % 10);
    if (n < 0) digits[--at] = '-';
    text_.append(digits + at, sizeof digits - static_cast<std::size_t>(at));
    return *this;
  }
  /// Throws the text as a dimesh::error.
  DIMESH_OUTLINE [[noreturn]] inline void raise() const { throw error(text_); }

 private:
  std::string text_;
};

}  // namespace dimesh::detail
