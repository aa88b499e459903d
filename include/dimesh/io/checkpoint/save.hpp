// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a program's state get to the disk? As whole tensors by name, whatever their layout: each
// rank writes its blocks to where they stand in the file. The checkpoint appears when all is there.
//
//   save_checkpoint("run", {.step = 7}, {}, part("model", params), part("adam", state));
//     -> run/step-7/model.safetensors, run/step-7/manifest.json, run/latest
//
// Needs zlib, nlohmann's JSON and POSIX; the umbrella header does not include it.
#pragma once

#include "dimesh/io/checkpoint/agree.hpp"
#include "dimesh/io/checkpoint/blocks.hpp"
#include "dimesh/io/checkpoint/files.hpp"
#include "dimesh/io/checkpoint/parts.hpp"
#include "dimesh/io/checkpoint/record.hpp"
#include "dimesh/memory/closed.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh {

struct save_options {
  index_t largest_file = index_t{5} << 30;  ///< bytes of elements; a tensor is in one file always
  index_t keep_last = 0;  ///< older checkpoints of the folder are removed; 0: none is
  std::vector<index_t> keep_steps{};  ///< but not those of these steps: the best one, say
};

namespace detail::checkpoint {

/// A file of a checkpoint, before it is written.
struct planned_file {
  std::string name, head;
  std::vector<const named_core*> tensors;
  std::vector<safetensors_entry> entries;
};

/// The same on all ranks: which tensor stands where.
inline std::vector<planned_file> plan_files(const std::vector<named_core>& all,
                                            const checkpoint_record& record, index_t most) {
  std::vector<planned_file> files(1);
  index_t filled = 0;
  for (const named_core& x : all) {
    index_t bytes = x.core->facts->element;
    for (int d = 0; d < x.core->rank(); ++d) bytes *= x.core->extent(d);
    if (filled > 0 && filled + bytes > most) files.emplace_back(), filled = 0;
    filled += bytes;
    files.back().tensors.push_back(&x);
    files.back().entries.push_back(entry_of(x));
  }
  char name[64] = "model.safetensors";
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files.size() > 1)
      std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", i + 1, files.size());
    files[i].name = name;
    std::map<std::string, std::string> notes = {{"format", "pt"},
                                                {"step", std::to_string(record.step)}};
    for (const named_core* x : files[i].tensors) notes["dims." + x->name] = dims_of(*x->core);
    files[i].head = safetensors_text(files[i].entries, notes);
  }
  return files;
}

/// Which file has which tensor, as other libraries write it.
inline std::string index_text(const std::vector<planned_file>& files) {
  nlohmann::json j;
  index_t total = 0;
  for (const planned_file& f : files)
    for (const safetensors_entry& e : f.entries) {
      j["weight_map"][e.name] = f.name;
      total += e.end - e.begin;
    }
  j["metadata"] = {{"total_size", total}};
  return j.dump(1) + "\n";
}

/// The elements of x to their place in an open file. Collective, whatever goes wrong.
inline void write_blocks(MPI_File file, const named_core& x, const safetensors_entry& e, index_t at,
                         first_fault& fault) {
  const tensor_core& c = *x.core;
  const bool mine = writes(c);
  const std::string what = "tensor '" + e.name + "' cannot be written";
  placed_block there{0, mpi_type{}}, here{0, mpi_type{}};
  if (mine) there = block_in_file(c, c.facts->element), here = block_in_memory(c);
  fault.note(MPI_File_set_view(file, at + e.begin + there.at, MPI_BYTE,
                               mine ? there.type.get() : MPI_BYTE, "native", MPI_INFO_NULL),
             what);
  const char* const from = c.data<char>();
  const opened memory;
  MPI_Status done;
  const int code = MPI_File_write_at_all(file, 0, mine ? from + here.at : nullptr, mine ? 1 : 0,
                                         mine ? here.type.get() : MPI_BYTE, &done);
  fault.note_moved(code, done, mine ? own_elements(c) * c.facts->element : 0, what);
}

/// One file with all its tensors. Collective; throws on all ranks or on none.
inline void write_file(MPI_Comm comm, const fs::path& folder, const planned_file& f) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const fs::path path = folder / f.name;
  together(comm, [&] {
    if (rank == 0) write_text(path, f.head);
  });
  MPI_File file = MPI_FILE_NULL;
  first_fault fault{"checkpoint", {}};
  fault.note(MPI_File_open(comm, path.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
             "'" + path.string() + "' cannot be opened");
  agree_on_fault(comm, fault.text);
  const auto head = static_cast<index_t>(f.head.size());
  for (std::size_t i = 0; i < f.tensors.size(); ++i)
    write_blocks(file, *f.tensors[i], f.entries[i], head, fault);
  fault.note(MPI_File_sync(file), "'" + path.string() + "' cannot be brought to the disk");
  fault.note(MPI_File_close(&file), "'" + path.string() + "' cannot be closed");
  agree_on_fault(comm, fault.text);
}

/// The size and checksum of a file, of which each rank reads a part. Collective; on all ranks.
inline file_mark mark_of(MPI_Comm comm, const fs::path& path) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  part_mark mine;
  together(comm, [&] { mine = mark_of_part(path, ranks, rank); });
  std::vector<part_mark> all(static_cast<std::size_t>(ranks));
  check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm),
        "checkpoint");
  std::uint32_t crc = 0;
  for (const part_mark& part : all) crc = joined_crc(crc, part);
  return {all[0].total, crc};
}

/// All files but the manifest, which it returns: what is in them, and their checksums.
inline manifest write_all(MPI_Comm comm, const fs::path& folder,
                          const std::vector<planned_file>& files, const checkpoint_record& record) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  manifest m{record, {}};
  for (const planned_file& f : files) write_file(comm, folder, f);
  const std::string index = "model.safetensors.index.json";
  if (files.size() > 1) {
    together(comm, [&] {
      if (rank == 0) write_text(folder / index, index_text(files));
    });
    m.files[index] = mark_of(comm, folder / index);
  }
  for (const planned_file& f : files) {
    const file_mark there = m.files[f.name] = mark_of(comm, folder / f.name);
    // (the same numbers on all ranks)
    require_written(folder / f.name, there.bytes,
                    static_cast<index_t>(f.head.size()) + f.entries.back().end);
  }
  return m;
}

}  // namespace detail::checkpoint

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
  if constexpr (ok<fault>) {
    namespace cp = detail::checkpoint;
    const auto all = cp::note_parts_of("save_checkpoint", parts...);
    const detail::own_comm c(all[0].core->grid->everyone().handle());
    const auto files = cp::plan_files(all, record, options.largest_file);
    const bool first = c.rank == 0;
    std::string place;
    cp::commit commit(folder, record.step);
    detail::together(c.comm, [&] {
      if (first) commit.make_folder(), place = commit.unfinished().string();
    });
    place = detail::from_first(c.comm, place);
    const cp::manifest m = cp::write_all(c.comm, place, files, record);
    detail::together(c.comm, [&] {
      if (first)
        commit.write_manifest(cp::manifest_text(m)), commit.publish(), commit.move_latest();
    });
    detail::together(c.comm, [&] {
      if (first && options.keep_last > 0)
        cp::remove_old(folder, options.keep_last, options.keep_steps);
    });
  }
}

}  // namespace dimesh
