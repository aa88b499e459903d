// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where in a struct do its tensors lie? At places that its type says, and that are the same under
// every modifier of its layout, since all tensors are of one size. So a struct's variables,
// gradients and sums are listed by one table and a plain function; no walk is compiled for them.
//
//   core_list<network<L>> all(gradients);   all.at[0], ..., all.at[6]
//
// Constant expressions know no addresses beyond a member: shapes are walked (leaves.hpp). So is
// what a table does not describe: tuples, vectors, structs with constructors or bases.
#pragma once

#include <cstddef>
#include <vector>

#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/reflect/leaves.hpp"

namespace dimesh::detail {

/// Bytes from the beginning of a struct to a tensor, and the place of its type among the leaves'.
struct leaf_place {
  int bytes = 0;
  int kind = 0;
};

template <class S> constexpr bool write_places(std::size_t from, int kind, leaf_place*& to);
template <class S, class... Part>
constexpr bool write_parts(list<Part...>, std::size_t from, int kind, leaf_place*& to) {
  std::size_t at = 0;
  const auto one = [&at](std::size_t size, std::size_t align) {
    const std::size_t begin = (at + align - 1) / align * align;
    at = begin + size;
    return begin;
  };
  bool known = true;
  ((known = write_places<Part>(from + one(sizeof(Part), alignof(Part)), kind, to) && known,
    kind += leaves<Part>::type::size),
   ...);
  return known && one(0, alignof(S)) == sizeof(S);  // nothing else stands there
}
/// False where it does not know.
template <class S> constexpr bool write_places(std::size_t from, int kind, leaf_place*& to) {
  if constexpr (leaf_count<S> == 0) {
    return true;
  } else if constexpr (Tensor<S>) {
    *to++ = {static_cast<int>(from), kind};
    return core_access::is<S> && !is_shaped<S> && sizeof(S) == sizeof(tensor_core);
  } else if constexpr (sequence_kind<S>::array) {
    bool known = true;
    for (std::size_t i = 0; i < sequence_kind<S>::size; ++i)
      known = write_places<typename S::value_type>(from + i * sizeof(typename S::value_type), kind,
                                                   to) &&
              known;
    return known;
  } else if constexpr (is_described<S> && !sequence_kind<S>::tuple) {
    if constexpr (can_be_bound<S>) return write_parts<S>(part_types<S>{}, from, kind, to);
    return false;
  } else {
    return false;
  }
}

/// The places of all tensors of an S, in the order of declaration.
template <class S> struct leaf_places {
  leaf_place at[leaf_count<S>]{};
  bool known = false;

  constexpr leaf_places() {
    leaf_place* to = at;
    known = write_places<S>(0, 0, to);
  }
};
template <class S> inline constexpr leaf_places<S> leaf_places_of;

template <class S> constexpr bool knows_places() {
  if constexpr (leaf_count<S> > 0)
    return leaf_places_of<S>.known;
  else
    return false;
}
/// X has tensors where a Form has: the same struct under a modifier of its layout. (A tuple may
/// have them in another order.)
template <class Form, class X>
inline constexpr bool has_places = [] {
  if constexpr (std::is_same_v<X, Form>)
    return knows_places<Form>();
  else if constexpr (sizeof(X) != sizeof(Form))
    return false;
  else if constexpr (leaf_count<X> != leaf_count<Form>)
    return false;
  else if constexpr (knows_places<Form>() && knows_places<X>())
    return std::equal(leaf_places_of<Form>.at, leaf_places_of<Form>.at + leaf_count<Form>,
                      leaf_places_of<X>.at,
                      [](const leaf_place& a, const leaf_place& b) { return a.bytes == b.bytes; });
  else
    return false;
}();

DIMESH_OUTLINE inline leaf* note_places(const void* x, const leaf_place* at, int count, leaf* to) {
  const writes_arrays host;
  for (int i = 0; i < count; ++i) {
    const void* const core = static_cast<const std::byte*>(x) + at[i].bytes;
    *to++ = {static_cast<const tensor_core*>(core), nullptr, at[i].kind};
  }
  return to;
}
DIMESH_OUTLINE inline void list_places(void* x, const leaf_place* at, int count, tensor_core** to) {
  const writes_arrays host;
  for (int i = 0; i < count; ++i) {
    void* const core = static_cast<std::byte*>(x) + at[i].bytes;
    to[i] = static_cast<tensor_core*>(core);
  }
}

template <class Leaves> inline constexpr bool are_cores = false;
template <class... X> inline constexpr bool are_cores<list<X...>> = (core_access::is<X> && ...);

/// Writes down the leaves of all of x, which has a Form.
template <class Form, class X> constexpr leaf* note_struct(const X& x, leaf* to) {
  if constexpr (has_places<Form, X> && are_cores<typename leaves_at<Form, X>::type>)
    return note_places(&x, leaf_places_of<Form>.at, leaf_count<Form>, to);
  else
    note_leaves<Form>(x, 0, to);
  return to;
}

/// Out of line: constant lengths would have these few moves unrolled in every walk.
DIMESH_OUTLINE constexpr void take_cores(const leaf* from, int count, tensor_core** to) {
  for (int i = 0; i < count; ++i) to[i] = const_cast<tensor_core*>(from[i].core);
}

/// The cores of all tensors of a struct that has a Form, in the order of declaration.
template <class Form, bool = has_vectors<Form>> struct core_list {
  static constexpr int size = leaf_count<Form>;
  tensor_core* at[size == 0 ? 1 : size]{};

  template <class S> constexpr explicit core_list(S& s) {
    if constexpr (has_places<Form, S>) {
      list_places(const_cast<std::remove_const_t<S>*>(&s), leaf_places_of<Form>.at, size, at);
    } else {
      leaf all[size == 0 ? 1 : size];
      leaf* to = all;
      note_leaves<Form>(s, 0, to);
      take_cores(all, size, at);
    }
  }
};
template <class Form> struct core_list<Form, true> {
  std::vector<tensor_core*> cores;
  int size;
  tensor_core* const* at;

  /// Vectors as long as those that it is used beside: callers have seen to that (lengths.hpp).
  template <class S>
  explicit core_list(S& s)
      : cores(noted(s)), size(static_cast<int>(cores.size())), at(cores.data()) {}
  core_list(const core_list&) = delete;

 private:
  template <class S> static std::vector<tensor_core*> noted(S& s) {
    std::vector<leaf> all(static_cast<std::size_t>(count_in(s)));
    leaf* to = all.data();
    note_leaves<Form>(s, 0, to);
    std::vector<tensor_core*> found;
    for (const leaf& l : all) found.push_back(const_cast<tensor_core*>(l.core));
    return found;
  }
};

}  // namespace dimesh::detail
