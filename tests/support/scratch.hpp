// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do tests keep files? In one that vanishes with its object; and what did a call throw?
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace test_support {

struct scratch_file {
  std::string path;
  explicit scratch_file(const std::string& bytes, const std::string& ending = "") {
    static std::atomic<int> count{0};
    path = (std::filesystem::temp_directory_path() /
            ("dimesh_" + std::to_string(getpid()) + "_" + std::to_string(count++) + ending))
               .string();
    write(bytes);
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
  std::string read() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

/// The text of what f throws; "nothing" where it throws nothing.
template <class F> std::string thrown(const F& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing";
}

}  // namespace test_support
