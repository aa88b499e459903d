// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do arrays of bytes in the IDX format become records? By their first extent: a row of bytes
// for each image or label. The files are read whole, gzip'ed or not (io/idx.hpp).
//
//   auto train = input::zip(input::idx_rows("train-images-idx3-ubyte.gz"),
//                           input::idx_rows("train-labels-idx1-ubyte.gz"));
//   std::get<0>(train.epoch(0)(7))      -> the 784 bytes of image 7
//
// Needs zlib (link with -lz).
#pragma once

#include <memory>

#include "dimesh/io/data/stage.hpp"
#include "dimesh/io/idx.hpp"

namespace dimesh::input {

/// Record i: the bytes at index i of the first extent, std::span<const std::uint8_t>, good as long
/// as a copy of this lives.
class idx_rows : public detail::source<idx_rows> {
 public:
  /// Throws dimesh::error where the file is damaged (read_idx), or has no extents.
  explicit idx_rows(const std::string& path) : idx_rows(read_idx(path)) {}
  explicit idx_rows(idx_array all) : all_(std::make_shared<const idx_array>(std::move(all))) {
    const auto extents = all_->extents();
    if (extents.empty())
      throw error("input::idx_rows: '" + all_->path() + "' has no extents, and so no rows");
    // Not the product of the extents, which may be any numbers where one of them is 0.
    if (size() > 0) row_ = static_cast<index_t>(all_->bytes().size()) / size();
  }
  index_t size() const { return all_->extents()[0]; }
  /// Bytes of a record; 0 where there is none.
  index_t row() const { return row_; }
  std::span<const std::uint8_t> operator()(index_t i) const {
    if (i < 0 || i >= size()) detail::refuse_place("idx_rows", i, size());
    return all_->bytes().subspan(static_cast<std::size_t>(i * row_),
                                 static_cast<std::size_t>(row_));
  }
  std::string where(index_t i) const {
    return "row " + std::to_string(i) + " of '" + all_->path() + "'";
  }

 private:
  std::shared_ptr<const idx_array> all_;
  index_t row_ = 0;
};

}  // namespace dimesh::input
