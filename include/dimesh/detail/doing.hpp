// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does this thread do, as ranks tell each other in checked builds? Which operation runs, and
// what local operations took before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dimesh::detail {

/// The operation that runs, and a hash of its operands, as ranks compare them.
struct doing {
  std::string_view operation;
  std::uint64_t operands = 0;

  static doing& now() {
    static thread_local doing it;
    return it;
  }
};
/// From here to the end of the scope, this operation runs.
class [[nodiscard]] while_doing {
 public:
  explicit while_doing(std::string_view operation, std::uint64_t operands = 0)
      : before_(doing::now()) {
    doing::now() = {operation, operands};
  }
  while_doing(const while_doing&) = delete;
  while_doing& operator=(const while_doing&) = delete;
  ~while_doing() { doing::now() = before_; }

 private:
  doing before_;
};

/// What local operations took as replicas since ranks last met: a hash of which, of the elements,
/// and words for them. Goes with the first call that the operation makes.
struct kept_blocks {
  std::uint64_t which = 0, values = 0;
  std::string words;

  static kept_blocks& now() {
    static thread_local kept_blocks it;
    return it;
  }
};

}  // namespace dimesh::detail
