// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do tensors come out of files? Each rank reads its blocks, once all that can be compared
// beforehand is what it should be (find.hpp). No types of tensors are here.
//
//   load("run", {}, note_parts_of("load_checkpoint", part("model", params)))  -> the record
#pragma once

#include "dimesh/collective/staging.hpp"
#include "dimesh/core/replicas.hpp"
#include "dimesh/element/bfloat16.hpp"
#include "dimesh/element/half.hpp"
#include "dimesh/io/checkpoint/find.hpp"
#include "dimesh/io/checkpoint/write.hpp"
#include "dimesh/memory/closed.hpp"

namespace dimesh::detail::checkpoint {

template <class From> double widened(const char* from) {
  From x;
  std::memcpy(static_cast<void*>(&x), from, sizeof x);
  return static_cast<double>(static_cast<computed<From>>(x));
}
template <class To> void narrowed(char* to, double x) {
  To y;
  store(y, x);
  std::memcpy(to, static_cast<const void*>(&y), sizeof y);
}
/// n real numbers of one precision into another.
inline void convert(const char* from, element_kind f, char* to, element_kind t, index_t n) {
  using enum element_kind;
  const auto read = f == half       ? widened<dimesh::half>
                    : f == bfloat16 ? widened<dimesh::bfloat16>
                    : f == float32  ? widened<float>
                                    : widened<double>;
  const auto write = t == half       ? narrowed<dimesh::half>
                     : t == bfloat16 ? narrowed<dimesh::bfloat16>
                     : t == float32  ? narrowed<float>
                                     : narrowed<double>;
  const index_t from_bytes = safetensors::type_of(f)->bytes,
                to_bytes = safetensors::type_of(t)->bytes;
  for (index_t i = 0; i < n; ++i) write(to + i * to_bytes, read(from + i * from_bytes));
}

/// n elements of so many bytes without gaps.
inline placed_block side_by_side(index_t n, index_t element) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(static_cast<int>(element), MPI_BYTE, &made), "checkpoint");
  placed_block b{0, repeated(mpi_type(made), n, element)};
  b.type.commit();
  return b;
}
/// The tensor that is read into: the part is not const, load_checkpoint says so.
inline tensor_core& written_core(const found_tensor& f) {
  return const_cast<tensor_core&>(*f.to->core);
}
/// This rank's own elements of a tensor out of an open file; those of halos stay. Collective,
/// whatever goes wrong.
inline void read_blocks(MPI_File file, const found_tensor& f, bool puts_together,
                        first_fault& fault) {
  const waiting with_others("checkpoint");
  tensor_core& x = written_core(f);  // whose memory is its own (read_all)
  const bool cast = f.entry.kind != entry_of(*f.to).kind;
  const index_t element = cast ? safetensors::type_of(f.entry.kind)->bytes : x.facts->element;
  const std::string what = "tensor '" + f.entry.name + "' cannot be read";
  const in_space of_tensor(x.facts->space);
  collective::staged near = collective::staged::of_file();
  std::vector<char> raw;
  placed_block there{0, mpi_type{}}, here{0, mpi_type{}};
  char* own = nullptr;
  index_t n = own_elements(x);
  const bool is_ready = fault.is_ready(what, [&] {
    if (n == 0) return;
    const bool has_halos = n != x.elements();
    raw.resize(cast ? static_cast<std::size_t>(n * element) : 0);
    there = block_in_file(x, element, f.place.step);
    there.at += f.place.first * element;
    here = cast ? side_by_side(n, element) : block_in_memory(x);
    own = near.writes(x.data<char>(), x.bytes(), has_halos);
  });
  if (!is_ready) n = 0;
  fault.note(MPI_File_set_view(file, f.data_at + f.entry.begin + there.at, MPI_BYTE,
                               n > 0 ? there.type.get() : MPI_BYTE, "native", MPI_INFO_NULL),
             what);
  char* const to = cast ? raw.data() : own;
  const collective::opened_to_mpi memory;
  MPI_Status done;
  const auto read = puts_together ? MPI_File_read_at_all : MPI_File_read_at;
  const int code = read(file, 0, n > 0 ? to + here.at : nullptr, n > 0 ? 1 : 0,
                        n > 0 ? here.type.get() : MPI_BYTE, &done);
  fault.note_moved(code, done, n * element, what);
  if (n == 0) return;
  if (cast)
    for_each_own_run(x, [&](index_t first, index_t count, index_t k) {
      convert(raw.data() + k * element, f.entry.kind, own + first * x.facts->element, x.facts->kind,
              count);
    });
  near.bring();
}

/// Files as the manifest has them. Collective; throws on all ranks or on none.
inline void verify_files(MPI_Comm comm, const fs::path& folder, const manifest& m, bool contents) {
  for (const auto& entry : m.files) {
    const fs::path path = folder / entry.first;
    const file_mark mark = entry.second;
    together(comm, [&] {
      std::error_code e;
      const auto bytes = fs::file_size(path, e);
      if (e || static_cast<index_t>(bytes) != mark.bytes)
        fail_at(path,
                "expected " + std::to_string(mark.bytes) + " bytes, found " +
                    (e ? "no such file" : std::to_string(bytes)),
                0);
    });
    if (!contents) continue;
    const file_mark now = mark_of(comm, path);
    together(comm, [&] {
      if (now.crc != mark.crc)
        fail_at(path,
                "expected the bytes that were written, found others "
                "(the checksum differs)",
                0);
    });
  }
}

/// The tensors that one rank's program has, out of all files. Collective; throws on all ranks or on
/// none, and, but for what reading meets, before any tensor has changed.
inline void read_all(MPI_Comm comm, const std::vector<found_tensor>& found) {
  together(comm, [&] {
    for (const found_tensor& f : found) {
      tensor_core& x = written_core(f);
      own_memory(x.memory, x.bytes(), true);
    }
  });
  std::vector<index_t> runs;
  for (const found_tensor& f : found) {
    const tensor_core& x = *f.to->core;
    const bool is_plain = f.place.step == steps_in_file(x);
    runs.push_back(own_elements(x) == 0 ? one_run : is_plain ? run_of(x) : 0);
  }
  const auto is_short = are_short(comm, runs);
  for (std::size_t i = 0; i < found.size();) {
    const fs::path path = found[i].file;
    MPI_File file = MPI_FILE_NULL;
    first_fault fault{"checkpoint: '" + path.string() + "'", {}};
    {
      const waiting here("checkpoint");
      fault.note(MPI_File_open(comm, path.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                 "cannot be opened");
    }
    agree_on_fault(comm, fault.text);
    for (; i < found.size() && found[i].file == path; ++i)
      read_blocks(file, found[i], is_short[i] != 0, fault);
    const waiting here("checkpoint");
    fault.note(MPI_File_close(&file), "cannot be closed");
    agree_on_fault(comm, fault.text);
  }
  together(comm, [&] {
    for (const found_tensor& f : found)
      if (f.to->core->facts->kind == element_kind::boolean)
        if (const int byte = find_no_truth(*f.to->core); byte >= 0)
          fail_tensor(f.file, f.entry.name, "a truth is " + std::to_string(byte));
  });
}

/// The bytes of the program's own files, which the manifest names.
inline void read_own_files(const fs::path& folder, manifest& m) {
  for (auto& [name, bytes] : m.record.files) {
    bytes = read_text(folder / name);
    if (crc_of(bytes) != m.files.at(name).crc)
      fail_at(folder / name, "expected the bytes that were written, found others", 0);
  }
}
/// load_record
inline checkpoint_record load_record_at(const std::string& folder) {
  const fs::path place = folder_of(folder), path = place / "manifest.json";
  manifest m = parse_manifest(read_text(path), path.string());
  read_own_files(place, m);
  return m.record;
}

/// load_checkpoint of tensors whose types are gone.
inline checkpoint_record load(const std::string& folder, const load_options& options,
                              const std::vector<named_core>& all) {
  manifest m;
  const own_comm c(all[0].core->grid->everyone().handle());
  const std::string place = folder_for_all(c.comm, folder);
  std::vector<found_tensor> found;
  together(c.comm, [&] {
    const auto path = fs::path(place) / "manifest.json";
    m = parse_manifest(read_text(path), path.string());
  });
  verify_files(c.comm, place, m, options.verify);
  std::vector<std::string> files;
  for (const auto& [name, mark] : m.files)
    if (fs::path(name).extension() == ".safetensors") files.push_back(name);
  together(c.comm, [&] {
    found = find_tensors(place, files, all, options);
    read_own_files(place, m);
  });
  read_all(c.comm, found);
  return m.record;
}

}  // namespace dimesh::detail::checkpoint
