// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A picture of a field on a square.
#pragma once

#include <algorithm>
#include <cmath>
#include <dimesh/error.hpp>
#include <dimesh/train/png.hpp>
#include <fstream>
#include <string>
#include <vector>

namespace example {

/// Writes a PNG file of n x n pixels: red where u is high, blue where it is low; `most` is the
/// deepest red. Throws dimesh::error where the file cannot be written.
inline void paint(const std::string& path, const std::vector<double>& u, dimesh::index_t n,
                  double most) {
  std::string pixels;
  for (const double v : u) {
    const double s = most > 0 ? std::clamp(v / most, -1.0, 1.0) : 0.0,
                 pale = 255 * (1 - std::abs(s));
    for (const double c : {s > 0 ? 255 : pale, pale, s < 0 ? 255 : pale})
      pixels += static_cast<char>(static_cast<unsigned char>(c));
  }
  const std::string png = dimesh::png_of(n, n, 3, pixels);
  if (!(std::ofstream(path, std::ios::binary) << png << std::flush))
    throw dimesh::error("'" + path + "' cannot be written");
}

}  // namespace example
