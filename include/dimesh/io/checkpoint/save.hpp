// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program's state get to the disk? As whole tensors by name, whatever their layout: each
// rank writes its blocks to where they stand in the file. The checkpoint appears when all is there.
//
//   save_checkpoint("run", {.step = 7}, {}, part("model", params), part("adam", state));
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

}  // namespace dimesh
