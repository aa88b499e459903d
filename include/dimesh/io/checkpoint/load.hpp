// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program go on where another one was? It makes its tensors in whatever layout it likes,
// on any number of ranks, and each rank reads its blocks of them.
//
//   checkpoint_record r = load_checkpoint("run", part("model", params));
//   load_checkpoint("run", {.file_has_more = true}, part("model", params));    no adam.first
//   load_checkpoint("run/step-7", {.partial = true, .names = {{"model.w", "wte"}}}, ...)
//   load_record("run").files.at("vocabulary.bpe")      // before there are tensors
//   load_checkpoint("run", {.parts = {{"model.key", {"qkv.weight", 1, 768}}}}, ...)
#pragma once

#include "dimesh/io/checkpoint/save.hpp"
#include "dimesh/io/checkpoint/untyped.hpp"
#if DIMESH_COMPILED_FILES != 1
#include "dimesh/io/checkpoint/read.hpp"
#endif

namespace dimesh {

/// Reads the tensors of all parts, which have been made, from FOLDER's latest checkpoint (or FOLDER
/// itself if it is one), whatever layouts and ranks have written it. Collective. All that can be
/// compared beforehand is: names, shapes, types, sizes and checksums; if anything is wrong, every
/// rank throws a text that names file and tensor, and no tensor has changed. Where a bool is
/// neither 0 nor 1, which is seen after reading, it throws, too, and they have. Halos that a tensor
/// carries keep what they held: exchange them after (halo_exchange of the tensor without them).
template <class... S>
checkpoint_record load_checkpoint(const std::string& folder, const load_options& options,
                                  const checkpoint_part<S>&... parts) {
  using fault = detail::checkpoint::loaded_fault<S...>;
  static_assert(ok<only<fault, parameters_are_const>>,
                "load_checkpoint: the tensors are written to, and these are const; give parts of "
                "those that are not");
  static_assert(ok<only<fault, partial_operand>>,
                "load_checkpoint: ranks hold addends of a tensor along this axis, and no elements; "
                "load a tensor of another layout");
  if constexpr (ok<fault>)
    return detail::checkpoint::load(folder, options,
                                    detail::checkpoint::note_parts_of("load_checkpoint", parts...));
  else
    return {};
}

/// The same with the options that are usual.
template <class First, class... S>
checkpoint_record load_checkpoint(const std::string& folder, const checkpoint_part<First>& part,
                                  const checkpoint_part<S>&... parts) {
  return dimesh::load_checkpoint(folder, load_options{}, part, parts...);
}

namespace detail::checkpoint {
template <class... A> void refuse_load() {
  static_assert(
      ok<std::conditional_t<(std::is_same_v<A, no_part> || ...), no_fault, wrong_arguments<A...>>>,
      "load_checkpoint: a folder, then parts, whose tensors have been made: auto p = "
      "make<S>(g); load_checkpoint(\"run\", part(\"model\", p))");
}
}  // namespace detail::checkpoint

/// Arguments of other kinds, or in another order.
template <class... A>
  requires(detail::checkpoint::is_meant<A...> && !detail::checkpoint::loads<load_options, A...>)
checkpoint_record load_checkpoint(const A&...) {
  detail::checkpoint::refuse_load<A...>();
  return {};
}
template <class... No>
  requires(sizeof...(No) == 0)
checkpoint_record load_checkpoint(detail::any_argument, detail::any_argument = {},
                                  detail::any_argument = {}) {
  detail::checkpoint::refuse_load<detail::nothing<No...>>();
  return {};
}
template <class... A>
  requires(!(detail::checkpoint::is_part<A> && ...))
checkpoint_record load_checkpoint(const std::string&, const load_options&, const A&...) {
  detail::checkpoint::refuse_load<A...>();
  return {};
}
/// Tensors that it is to make.
template <class S, class... A>
  requires(!(detail::checkpoint::is_part<A> || ...))
auto load_checkpoint(const std::string&, const A&...) {
  detail::checkpoint::refuse_load<S, A...>();
  if constexpr (std::is_default_constructible_v<S>)
    return S{};
  else
    return poison{};
}

/// The record of FOLDER's latest checkpoint (or of FOLDER itself if it is one) with the files of
/// the program, and no tensors: for what a program must know before it makes them. Any rank may
/// call it alone. Throws dimesh::error that names the file.
inline checkpoint_record load_record(const std::string& folder) {
  return detail::checkpoint::load_record_at(folder);
}

}  // namespace dimesh
