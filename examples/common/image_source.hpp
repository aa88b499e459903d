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
           if (label[0] > 9) throw dm::error("label " + std::to_string(label[0]) + ", not 0 .. 9");
           std::vector<float> x(pixels.size());
           std::transform(pixels.begin(), pixels.end(), x.begin(), [=](std::uint8_t p) {
             return (static_cast<float>(p) / 255 - mean) / deviation;
           });
           return std::tuple(std::move(x), std::int32_t{label[0]});
         });
}

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
