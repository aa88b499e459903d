// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a checkpoint get to the disk? Each rank writes its blocks to where they stand in the
// files; then the manifest, and the name by which it is found. No types of tensors are here.
//
//   save("run", {.step = 7}, {}, note_parts_of("save_checkpoint", part("model", params)));
#pragma once

#include <set>
#include <string>

#include "dimesh/collective/staging.hpp"
#include "dimesh/io/agree.hpp"
#include "dimesh/io/checkpoint/blocks.hpp"
#include "dimesh/io/checkpoint/entries.hpp"
#include "dimesh/io/checkpoint/files.hpp"
#include "dimesh/io/checkpoint/manifest.hpp"
#include "dimesh/io/checkpoint/untyped.hpp"
#include "dimesh/memory/closed.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::detail::checkpoint {

/// A file of a checkpoint, before it is written.
struct planned_file {
  std::string name, head;
  std::vector<const named_core*> tensors;
  std::vector<safetensors_entry> entries;
};

/// The same on all ranks: which tensor stands where. Throws where one cannot be written, and where
/// a file of the program has a name that is not its own.
inline std::vector<planned_file> plan_files(const std::vector<named_core>& all,
                                            const checkpoint_record& record, index_t most) {
  std::vector<planned_file> files(1);
  index_t filled = 0;
  std::set<std::string> names;
  for (const named_core& x : all) {
    if (!names.insert(x.name).second)
      throw error("save_checkpoint: tensor '" + x.name +
                  "': two parts give a tensor this name; name the parts apart");
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
  for (const auto& [own, bytes] : record.files)
    if (!is_name_for_program(own))
      throw error("save_checkpoint: a file of the program cannot be called '" + own +
                  "'; take the plain name of a file that is not one of the checkpoint's own");
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

/// Which of some tensors stand in a file in short runs of any rank's, each of which tells the bytes
/// of its own? A run is a call of the system, unless MPI puts those of all ranks together.
/// Collective; the same on all ranks.
inline std::vector<int> are_short(MPI_Comm comm, const std::vector<index_t>& runs) {
  constexpr index_t is_short = 64 << 10;
  std::vector<int> found;
  for (const index_t run : runs) found.push_back(run < is_short ? 1 : 0);
  const waiting here("checkpoint");
  check(MPI_Allreduce(MPI_IN_PLACE, found.data(), static_cast<int>(found.size()), MPI_INT, MPI_MAX,
                      comm),
        "checkpoint");
  return found;
}

/// The elements of x to their place in an open file. Collective, whatever goes wrong, but for what
/// Open MPI does where a disk is full: of calls that put runs together, those of other ranks wait
/// for ever.
inline void write_blocks(MPI_File file, const named_core& x, const safetensors_entry& e, index_t at,
                         bool puts_together, first_fault& fault) {
  const waiting with_others("checkpoint");
  const tensor_core& c = *x.core;
  const std::string name = "tensor '" + e.name + "' cannot be written",
                    what = name + " (is the disk full?)";
  const in_space here_too(c.facts->space);
  collective::staged near = collective::staged::of_file();
  placed_block there{0, mpi_type{}}, here{0, mpi_type{}};
  const char* from = nullptr;
  const bool is_ready = fault.is_ready(name, [&] {
    if (!writes(c)) return;
    there = block_in_file(c, c.facts->element), here = block_in_memory(c);
    from = near.reads(c.data<const char>(), c.bytes());
  });
  const bool mine = is_ready && writes(c);
  fault.note(MPI_File_set_view(file, at + e.begin + there.at, MPI_BYTE,
                               mine ? there.type.get() : MPI_BYTE, "native", MPI_INFO_NULL),
             what);
  const collective::opened_to_mpi memory;
  MPI_Status done;
  const auto write = puts_together ? MPI_File_write_at_all : MPI_File_write_at;
  const int code = write(file, 0, mine ? from + here.at : nullptr, mine ? 1 : 0,
                         mine ? here.type.get() : MPI_BYTE, &done);
  fault.note_moved(code, done, mine ? own_elements(c) * c.facts->element : 0, what);
}

/// One file with all its tensors. Collective; throws on all ranks or on none.
inline void write_file(MPI_Comm comm, const fs::path& folder, const planned_file& f) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const fs::path path = folder / f.name;
  together(comm, [&] {
    if (rank == 0)
      write_text(path, f.head, static_cast<index_t>(f.head.size()) + f.entries.back().end);
  });
  // Open MPI waits for ever where one rank cannot open a file that others can.
  together(comm, [&] { (void)descriptor(path, O_WRONLY); });
  MPI_File file = MPI_FILE_NULL;
  first_fault fault{"checkpoint: '" + path.string() + "'", {}};
  {
    const waiting here("checkpoint");
    fault.note(MPI_File_open(comm, path.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
               "cannot be opened");
  }
  agree_on_fault(comm, fault.text);
  const auto head = static_cast<index_t>(f.head.size());
  std::vector<index_t> runs;
  for (const named_core* x : f.tensors)
    runs.push_back(writes(*x->core) ? run_of(*x->core) : one_run);
  const auto is_short = are_short(comm, runs);
  for (std::size_t i = 0; i < f.tensors.size(); ++i)
    write_blocks(file, *f.tensors[i], f.entries[i], head, is_short[i] != 0, fault);
  const waiting here("checkpoint");
  fault.note(MPI_File_sync(file), "cannot be brought to the disk");
  fault.note(MPI_File_close(&file), "cannot be closed");
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
  const waiting here("checkpoint");
  check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm),
        "checkpoint");
  std::uint32_t crc = 0;
  for (const part_mark& part : all) crc = joined_crc(crc, part);
  return {all[0].total, crc};
}

/// The record with the files that the first rank has, which writes them: they may be its alone.
/// Collective.
inline checkpoint_record with_first_files(MPI_Comm comm, checkpoint_record record) {
  record.files = texts_from(comm, 0, record.files);
  return record;
}

/// All files but the manifest, which it returns: what is in them, and their checksums. The record
/// has the same files on all ranks.
inline manifest write_all(MPI_Comm comm, const fs::path& folder,
                          const std::vector<planned_file>& files, const checkpoint_record& record) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  manifest m{record, {}};
  for (const planned_file& f : files) write_file(comm, folder, f);
  auto texts = record.files;
  if (files.size() > 1) texts[index_name] = index_text(files);
  for (const auto& entry : texts) {
    const fs::path path = folder / entry.first;
    const std::string& text = entry.second;
    together(comm, [&] {
      if (rank == 0) write_text(path, text);
    });
    m.files[entry.first] = mark_of(comm, path);
    require_written(path, m.files[entry.first].bytes, static_cast<index_t>(text.size()));
  }
  for (const planned_file& f : files) {
    const file_mark there = m.files[f.name] = mark_of(comm, folder / f.name);
    // (the same numbers on all ranks)
    require_written(folder / f.name, there.bytes,
                    static_cast<index_t>(f.head.size()) + f.entries.back().end);
  }
  return m;
}

/// save_checkpoint of tensors whose types are gone.
inline void save(const std::string& folder, const checkpoint_record& own,
                 const save_options& options, const std::vector<named_core>& all) {
  const own_comm c(all[0].core->grid->everyone().handle());
  const checkpoint_record record = with_first_files(c.comm, own);
  const auto files = plan_files(all, record, options.largest_file);
  const bool first = c.rank == 0;
  std::string place;
  checkpoint::commit commit(folder, record.step);
  together(c.comm, [&] {
    if (first) commit.make_folder(), place = commit.unfinished().string();
  });
  place = text_from(c.comm, 0, place);
  const manifest m = write_all(c.comm, place, files, record);
  together(c.comm, [&] {
    if (first) commit.write_manifest(manifest_text(m)), commit.publish(), commit.move_latest();
  });
  together(c.comm, [&] {
    if (!first || options.keep_last <= 0) return;
    remove_old(folder, options.keep_last, options.keep_steps);
    commit.mend_latest();
  });
}

}  // namespace dimesh::detail::checkpoint
