// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiled part of checkpoints, which need JSON and zlib: see dimesh/io/checkpoint/untyped.hpp.
#undef DIMESH_COMPILED  // the rest stands in dimesh.cpp
#define DIMESH_COMPILED 1
#include <dimesh/io/checkpoint/background.hpp>
#include <dimesh/io/checkpoint/read.hpp>
#include <dimesh/io/checkpoint/write.hpp>

namespace dimesh::detail::checkpoint {

// Inline functions are there where somebody takes their address.
[[gnu::used]] static const auto notes = &note_cores;
[[gnu::used]] static const auto requires_parts = &require_parts;
[[gnu::used]] static const auto saver = &save;
[[gnu::used]] static const auto loader = &load;
[[gnu::used]] static const auto loads_record = &load_record_at;
[[gnu::used]] static const auto begins = &begin_save;
[[gnu::used]] static const auto advances = &advance;

}  // namespace dimesh::detail::checkpoint
