// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where does a tensor stand in a struct? Its path: for people, as a text; for random numbers, as a
// number that depends on the names of all members on the way and on the places in arrays.
//
//   path_of<network<L>>(2).text() -> "layers[0].w"     .name() -> "w"     .stream() -> 64 bits
//   path_of(params, 2)                                 the same; of a struct with vectors this only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dimesh/reflect/leaves.hpp"

namespace dimesh {

namespace detail {

/// Bits that depend on a text alone (FNV-1a: Fowler, Noll and Vo), also piece by piece.
struct text_hash {
  std::uint64_t bits = 0xcbf29ce484222325u;

  constexpr void add(std::string_view text) {
    for (const char c : text) bits = (bits ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  constexpr void add_number(int i) {
    if (i >= 10) add_number(i / 10);
    const char digit = static_cast<char>('0' + i % 10);
    add({&digit, 1});
  }
};

/// Takes the steps from a struct to one of its leaves.
struct path_sink {
  std::string* text = nullptr;  // null: not asked for
  text_hash* hash = nullptr;
  const char* name = nullptr;  // the innermost one
  bool begun = false;

  constexpr void member(const char* n) {
    name = n;
    put(begun ? "." : "");
    put(n);
  }
  constexpr void place(int i) {
    if (text != nullptr) *text += "[" + std::to_string(i) + "]";
    if (hash != nullptr) {
      hash->add("[");
      hash->add_number(i);
      hash->add("]");
    }
    begun = true;
  }

 private:
  constexpr void put(std::string_view s) {
    if (text != nullptr) *text += s;
    if (hash != nullptr) hash->add(s);
    begun = true;
  }
};

/// Leaf n of an S, `of` if S has vectors.
template <class S> constexpr void find_leaf(const void* of, int n, path_sink& to);

template <class S, class... Part>
constexpr void find_in_parts(list<Part...>, int n, path_sink& to) {
  int i = 0;
  const auto is_here = [&](int count) {
    const bool here = n >= 0 && n < count;
    if (here) {
      if constexpr (sequence_kind<S>::tuple)
        to.place(i);
      else
        to.member(member_names<S>[static_cast<std::size_t>(i)]);
    } else {
      n -= count;
    }
    ++i;
    return here;
  };
  (void)((is_here(leaf_count<Part>) && (find_leaf<Part>(nullptr, n, to), true)) || ...);
}
/// The same of x, which has vectors.
template <class S> constexpr void find_in(const S& x, int n, path_sink& to) {
  int i = 0;
  const auto look = [&](const auto& part) {
    const int count = count_in(part);
    if (n >= 0 && n < count) {
      if constexpr (has_elements<S> || sequence_kind<S>::tuple)
        to.place(i);
      else
        to.member(member_names<S>[static_cast<std::size_t>(i)]);
      find_leaf<std::remove_cvref_t<decltype(part)>>(&part, n, to);
    }
    n -= count;
    ++i;
  };
  if constexpr (has_elements<S>)
    for (const auto& e : x) look(e);
  else
    with_parts(x, [&](const auto&... part) { (look(part), ...); });
}
template <class S>
constexpr void find_leaf([[maybe_unused]] const void* of, [[maybe_unused]] int n,
                         [[maybe_unused]] path_sink& to) {
  if constexpr (Tensor<S> || leaf_count<S> == 0) {
  } else if constexpr (has_vectors<S>) {
    find_in(*static_cast<const S*>(of), n, to);
  } else if constexpr (sequence_kind<S>::array) {
    constexpr int each = leaf_count<typename S::value_type>;
    to.place(n / each);
    find_leaf<typename S::value_type>(nullptr, n % each, to);
  } else {
    find_in_parts<S>(part_types<S>{}, n, to);
  }
}

}  // namespace detail

/// Where a tensor stands in a struct; of one with vectors, as long as the struct lives.
class member_path {
 public:
  using finder = void (*)(const void*, int, detail::path_sink&);

  constexpr member_path() = default;
  constexpr member_path(finder find, const void* of, int leaf)
      : find_(find), of_(of), leaf_(leaf) {}

  /// member_path of network::layers[2].w  -> "layers[2].w";  a lone tensor  -> ""
  std::string text() const {
    std::string out;
    detail::path_sink to{&out};
    if (leaf_ >= 0) find_(of_, leaf_, to);
    return out;
  }
  /// The innermost name: "w" of "layers[2].w"; null for a lone tensor.
  constexpr const char* name() const {
    detail::path_sink to;
    if (leaf_ >= 0) find_(of_, leaf_, to);
    return to.name;
  }
  /// A number for this path, another one for each text: names a stream of random numbers.
  constexpr std::uint64_t stream() const {
    detail::text_hash hash;
    detail::path_sink to{nullptr, &hash};
    if (leaf_ >= 0) find_(of_, leaf_, to);
    return hash.bits;
  }

 private:
  finder find_ = nullptr;
  const void* of_ = nullptr;
  int leaf_ = -1;
};

namespace detail {
/// The path of a leaf of an S, not yet asked for anything.
template <class S> struct path_in {
  int leaf;
  const void* of = nullptr;

  constexpr operator member_path() const { return member_path(find_leaf<S>, of, leaf); }
  std::string text() const { return member_path(*this).text(); }
  constexpr const char* name() const { return member_path(*this).name(); }
  constexpr std::uint64_t stream() const { return member_path(*this).stream(); }
};
}  // namespace detail

/// Where the n-th tensor of an S stands; S has no vectors.
template <class S> constexpr member_path path_of(int n) {
  static_assert(!detail::has_vectors<S>,
                "path_of: the struct has vectors, whose lengths only a value knows; pass it too: "
                "path_of(params, n)");
  if constexpr (Tensor<S> || detail::has_vectors<S>)
    return {};
  else
    return {detail::find_leaf<S>, nullptr, n};
}
/// The same of one struct.
template <class S> constexpr member_path path_of(const S& s, int n) {
  if constexpr (Tensor<S>)
    return {};
  else
    return {detail::find_leaf<S>, &s, n};
}

}  // namespace dimesh
