// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do small examples have images from? Fashion-MNIST, 28 x 28 pixels in ten classes, where it
// is installed; else drawn stripes.
#pragma once

#include <cmath>
#include <dimesh/io/data/any_stage.hpp>
#include <dimesh/io/data/images.hpp>
#include <dimesh/io/data/order.hpp>
#include <dimesh/io/data/transform.hpp>
#include <filesystem>
#include <initializer_list>
#include <string>

namespace dm = dimesh;
namespace in = dimesh::input;

/// Records: the brightness of the pixels of an image, row by row, and its label, of 0 .. 9.
using labelled_images = in::any_stage<std::tuple<std::vector<float>, std::int32_t>>;

/// Those of BASEimages-idx3-ubyte.gz and BASElabels-idx1-ubyte.gz, less `mean` and divided by
/// `deviation`, where white is 1.
inline labelled_images read_images(const std::string& base, float mean, float deviation) {
  return in::zip(in::idx_rows(base + "images-idx3-ubyte.gz"),
                 in::idx_rows(base + "labels-idx1-ubyte.gz")) |
         in::map([=](const auto& record) {
           const auto& [pixels, label] = record;
           if (label[0] > 9)
             throw dm::error("'" + base + "labels-idx1-ubyte.gz': label " +
                             std::to_string(label[0]) + ", not 0 .. 9");
           std::vector<float> x(pixels.size());
           std::transform(pixels.begin(), pixels.end(), x.begin(), [=](std::uint8_t p) {
             return (static_cast<float>(p) / 255 - mean) / deviation;
           });
           return std::tuple(std::move(x), std::int32_t{label[0]});
         });
}

/// Brightness of a pixel and label of an image, read or drawn: stripes as far apart as the label.
/// Behind the last image that was read comes the first one again. Throws dimesh::error where files
/// have no images of 28 x 28, another number of labels, or a label that is not 0 .. 9.
struct image_source {
  const std::string base;  // of the files' names
  const bool there = std::filesystem::exists(base + "images-idx3-ubyte.gz");
  dm::idx_array images = read("images-idx3-ubyte.gz", {dm::dynamic, 28, 28});
  dm::idx_array labels = read("labels-idx1-ubyte.gz", {dm::dynamic});
  const dm::index_t count = there ? count_images() : 0;  // that were read

  dm::idx_array read(const std::string& name, std::initializer_list<dm::index_t> extents) const {
    return there ? dm::read_idx(base + name).require(extents) : dm::idx_array(name, {}, {});
  }
  dm::index_t count_images() const {
    const dm::index_t n = images.extents()[0], m = labels.extents()[0];
    if (n == 0 || n != m)
      throw dm::error("'" + images.path() + "' has " + std::to_string(n) + " images, '" +
                      labels.path() + "' " + std::to_string(m) + " labels");
    for (dm::index_t i = 0; i < n; ++i)
      if (const int label = labels.bytes()[static_cast<std::size_t>(i)]; label > 9)
        throw dm::error("'" + labels.path() + "': record " + std::to_string(i) + " has label " +
                        std::to_string(label) + ", not 0 .. 9");
    return n;
  }
  dm::index_t right(dm::index_t i) const {
    return there ? labels.bytes()[static_cast<std::size_t>(i % count)] : i * 7 % 10;
  }
  double at(dm::index_t i, dm::index_t h, dm::index_t w) const {
    if (!there) return std::sin(static_cast<double>((h + 2 * w) * (right(i) + 1) + i) / 9);
    return images.bytes()[static_cast<std::size_t>((i % count * 28 + h) * 28 + w)] / 255. - 0.3;
  }
};
