// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do NumPy's arrays become records? By their first extent: record i of an array of extents
// (60000, 28, 28) is the 784 elements at index i. The file is mapped into memory, and its elements
// are shown where they lie; those of gzip'ed files, and those that do not lie where their type
// wants them, are copied once.
//
//   input::npy_rows<float>("x.npy")(7)                -> std::span of the elements at index 7
//   input::zip(input::npy_rows<float>("x.npy"), input::npy_rows<std::int64_t>("y.npy"))
//
// Little-endian elements of one plain type in C order: what else a .npy file may hold is refused,
// with what to do (io/npy_header.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "dimesh/io/data/contents.hpp"
#include "dimesh/io/data/stage.hpp"
#include "dimesh/io/npy_header.hpp"

namespace dimesh::input {

/// Record i: the elements at index i of the first extent, std::span<const T>, good as long as a
/// copy of this lives. T: an element type that NumPy has, too.
template <class T>
  requires(dimesh::detail::npy::name_of_kind(element_traits<T>::kind) != nullptr)
class npy_rows : public detail::source<npy_rows<T>> {
 public:
  explicit npy_rows(const std::string& path) : npy_rows(contents(path)) {}
  /// Throws dimesh::error where the file is damaged, has no extents, or has other elements than T.
  explicit npy_rows(contents file) : file_(std::move(file)) {
    namespace npy = dimesh::detail::npy;
    const std::string_view bytes = file_.bytes();
    const std::string name = "'" + file_.path() + "'";
    npy::header h = npy::npy_header_of(
        name, bytes.substr(0, static_cast<std::size_t>(npy::most_header)), file_.size());
    constexpr element_kind wanted = element_traits<T>::kind;
    if (h.kind != wanted)
      npy::refuse(name, "expected elements '" + npy::code_of(*npy::name_of_kind(wanted)) +
                            "', found '" + npy::code_of(*npy::name_of_kind(h.kind)) +
                            "'; name their type, npy_rows<type>, and convert in a map");
    if (h.shape.empty()) npy::refuse(name, "an array without extents has no rows");
    const std::string_view data = bytes.substr(static_cast<std::size_t>(h.data_at));
    const std::size_t n = data.size() / sizeof(T);
    if constexpr (std::is_same_v<T, bool>)
      for (const char c : data)
        if (c != 0 && c != 1)
          npy::refuse(name, "a truth is " + std::to_string(static_cast<unsigned char>(c)));
    if (reinterpret_cast<std::uintptr_t>(data.data()) % alignof(T) == 0) {
      first_ = reinterpret_cast<const T*>(data.data());
    } else {
      std::shared_ptr<T[]> copy(new T[n]);
      std::memcpy(static_cast<void*>(copy.get()), data.data(), data.size());
      file_.require_unchanged();
      first_ = copy.get();
      copy_ = std::move(copy);
    }
    extents_ = std::move(h.shape);
    // Not the product of the extents, which may be any numbers where one of them is 0.
    if (size() > 0) row_ = static_cast<index_t>(n) / size();
  }
  index_t size() const { return extents_[0]; }
  /// Elements of a record; 0 where there is none.
  index_t row() const { return row_; }
  std::span<const index_t> extents() const { return extents_; }
  std::span<const T> operator()(index_t i) const {
    if (i < 0 || i >= size()) detail::refuse_place("npy_rows", i, size());
    return {first_ + i * row_, static_cast<std::size_t>(row_)};
  }
  void require_unchanged() const { file_.require_unchanged(); }
  std::string where(index_t i) const {
    return "row " + std::to_string(i) + " of '" + file_.path() + "'";
  }

 private:
  contents file_;
  std::shared_ptr<const T[]> copy_;
  const T* first_ = nullptr;
  std::vector<index_t> extents_;
  index_t row_ = 0;
};

}  // namespace dimesh::input
