// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do the images come from? From the IDX files of Fashion-MNIST; each rank keeps the whole set
// as bytes and turns the block that its layout gives it into numbers, batch by batch.
#pragma once

#include <algorithm>
#include <dimesh/io/idx.hpp>
#include <numeric>
#include <random>

#include "model.hpp"

struct image_set {
  dm::idx_array images, labels;
  dm::index_t count;

  /// Throws dimesh::error where files are missing, damaged, or do not belong together.
  image_set(const std::string& folder, const std::string& which)
      : images(dm::read_idx(folder + "/" + which + "-images-idx3-ubyte.gz")
                   .require({dm::dynamic, 28, 28})),
        labels(dm::read_idx(folder + "/" + which + "-labels-idx1-ubyte.gz").require({dm::dynamic})),
        count(images.extents()[0]) {
    if (labels.extents()[0] != count)
      throw dm::error("image_set: " + std::to_string(count) + " images in '" + images.path() +
                      "', but " + std::to_string(labels.extents()[0]) + " labels in '" +
                      labels.path() + "'");
    for (const auto l : labels.bytes())
      if (l >= label::extent)
        throw dm::error("image_set: label " + std::to_string(l) + " in '" + labels.path() + "'");
    if (count < batch::extent)
      throw dm::error("image_set: " + std::to_string(count) + " images in '" + images.path() +
                      "' are no full batch");
  }
  dm::index_t batches() const { return count / batch::extent; }

  /// The order of the images in one epoch: the same on every rank.
  std::vector<dm::index_t> order(unsigned epoch) const {
    std::vector<dm::index_t> at(static_cast<std::size_t>(count));
    std::iota(at.begin(), at.end(), dm::index_t{0});
    std::mt19937 engine(epoch);
    for (std::size_t i = at.size(); i > 1; --i) std::swap(at[i - 1], at[engine() % i]);
    return at;
  }

  /// Brightness of the images at[0..batch), shifted and scaled to mean 0 and deviation 1 over the
  /// set.
  template <class X> void fill_images(X& x, const dm::index_t* at) const {
    const std::uint8_t* from = images.bytes().data();
    dm::fill_by(x, [=](dm::index_t b, dm::index_t p) {
      return (static_cast<float>(from[at[b] * pixel::extent + p]) / 255 - 0.286f) / 0.353f;
    });
  }
  /// 1 at the right label, else 0.
  template <class T> void fill_targets(T& t, const dm::index_t* at) const {
    const std::uint8_t* from = labels.bytes().data();
    dm::fill_by(t, [=](dm::index_t b, dm::index_t l) { return from[at[b]] == l ? 1.0f : 0.0f; });
  }
};
