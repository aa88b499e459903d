// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program's state get to the disk? As whole tensors by name, whatever their layout: each
// rank writes its blocks to where they stand in the file. The checkpoint appears when all is there.
//
//   save_checkpoint("run", {.step = 7}, {}, part("model", params));
//     -> run/step-7/model.safetensors, run/step-7/manifest.json, run/latest
//
// Needs zlib, nlohmann's JSON and POSIX; the umbrella header does not include it. Programs that
// link dimesh::compiled have what does not depend on types there, where it was built with JSON.
#pragma once

#include "dimesh/io/checkpoint/untyped.hpp"
#if DIMESH_COMPILED_FILES != 1
#include "dimesh/io/checkpoint/write.hpp"
#endif

namespace dimesh {

/// Saves the tensors of all parts and the record as FOLDER/step-N, and lets FOLDER/latest name it.
/// Collective over the ranks of the tensors' grid; the folder is one that all of them see. When it
/// returns, all is on the disk; when it throws, it does so on every rank, with a text that names
/// the file, and FOLDER is as it was before (or has one checkpoint more, where only moving `latest`
/// or removing old ones failed). Elements of halos are left out.
template <class... S>
void save_checkpoint(const std::string& folder, const checkpoint_record& record,
                     const save_options& options, const checkpoint_part<S>&... parts) {
  using fault = typename detail::first_of<detail::checkpoint::part_fault<S>...>::type;
  static_assert(ok<only<fault, partial_operand>>,
                "save_checkpoint: ranks hold addends of a tensor along this axis, and no elements; "
                "complete it first");
  if constexpr (ok<fault>)
    detail::checkpoint::save(folder, record, options,
                             detail::checkpoint::note_parts_of("save_checkpoint", parts...));
}
/// The same with the options that are usual.
template <class First, class... S>
void save_checkpoint(const std::string& folder, const checkpoint_record& record,
                     const checkpoint_part<First>& part, const checkpoint_part<S>&... parts) {
  dimesh::save_checkpoint(folder, record, save_options{}, part, parts...);
}

namespace detail::checkpoint {
template <class... A> void refuse_save() {
  static_assert(
      ok<std::conditional_t<(std::is_same_v<A, no_part> || ...), no_fault, wrong_arguments<A...>>>,
      "save_checkpoint: a folder, the record, then parts: save_checkpoint(\"run\", "
      "{.step = 7}, part(\"model\", params)); start_save_checkpoint likewise");
}
template <class... A>
inline constexpr bool saves_parts = saves<checkpoint_record, save_options, A...>;
}  // namespace detail::checkpoint

/// Arguments of other kinds, or in another order: all of them, and those behind the braces.
template <class... A>
  requires(detail::checkpoint::is_meant<A...> && !detail::checkpoint::saves_parts<A...>)
void save_checkpoint(const A&...) {
  detail::checkpoint::refuse_save<A...>();
}
template <class... No>
  requires(sizeof...(No) == 0)
void save_checkpoint(detail::any_argument, detail::any_argument = {}, detail::any_argument = {}) {
  detail::checkpoint::refuse_save<detail::nothing<No...>>();
}
template <class... A>
  requires(!detail::checkpoint::saves_parts<std::string, checkpoint_record, A...>)
void save_checkpoint(const std::string&, const checkpoint_record&, const A&...) {
  detail::checkpoint::refuse_save<A...>();
}
template <class R, class... A>
  requires(!detail::checkpoint::saves_parts<std::string, R, save_options, A...>)
void save_checkpoint(const std::string&, const R&, const save_options&, const A&...) {
  detail::checkpoint::refuse_save<R, A...>();
}
template <class... A>
  requires(!(detail::checkpoint::is_part<A> && ...))
void save_checkpoint(const std::string&, const checkpoint_record&, const save_options&,
                     const A&...) {
  detail::checkpoint::refuse_save<A...>();
}

}  // namespace dimesh
