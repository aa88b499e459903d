// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is left of saving and loading where types are gone? Calls of lists of tensors with names.
// Programs that link dimesh::compiled have them there, where it was built with JSON and zlib (then
// the target defines DIMESH_COMPILED_FILES), and read neither their bodies nor JSON's headers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dimesh/io/checkpoint/options.hpp"
#include "dimesh/io/checkpoint/parts.hpp"
#include "dimesh/io/checkpoint/record.hpp"

namespace dimesh::detail::checkpoint {

/// save_checkpoint: write.hpp
void save(const std::string& folder, const checkpoint_record& record, const save_options& options,
          const std::vector<named_core>& all);
/// load_checkpoint: read.hpp
checkpoint_record load(const std::string& folder, const load_options& options,
                       const std::vector<named_core>& all);

checkpoint_record load_record_at(const std::string& folder);

/// start_save_checkpoint: background.hpp
class background_save;
using save_handle = std::unique_ptr<background_save, void (*)(background_save*)>;
save_handle begin_save(const std::string& folder, const checkpoint_record& record,
                       const save_options& options, const std::vector<named_core>& all);
bool advance(background_save& save, bool waits);

}  // namespace dimesh::detail::checkpoint
