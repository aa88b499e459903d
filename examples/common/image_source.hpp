// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do small examples have images from? Fashion-MNIST, 28 x 28 pixels in ten classes, where it
// is installed; else drawn stripes.
#pragma once

#include <cmath>
#include <dimesh/io/idx.hpp>
#include <filesystem>
#include <string>

namespace dm = dimesh;

/// Brightness of a pixel and label of an image, read or drawn: stripes as far apart as the label.
struct image_source {
  const std::string base;  // of the files' names
  const bool there = std::filesystem::exists(base + "images-idx3-ubyte.gz");
  dm::idx_array images = read("images-idx3-ubyte.gz"), labels = read("labels-idx1-ubyte.gz");

  dm::idx_array read(const std::string& name) const {
    return there ? dm::read_idx(base + name) : dm::idx_array(name, {}, {});
  }
  dm::index_t right(dm::index_t i) const {
    return there ? labels.bytes()[static_cast<std::size_t>(i)] : i * 7 % 10;
  }
  double at(dm::index_t i, dm::index_t h, dm::index_t w) const {
    const dm::index_t pixel = (i * 28 + h) * 28 + w;
    return there ? images.bytes()[static_cast<std::size_t>(pixel)] / 255. - 0.3
                 : std::sin(static_cast<double>((h + 2 * w) * (right(i) + 1) + i) / 9);
  }
};
