// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do tensors get to NumPy, and back? As .npy files of the whole tensor, its dims in order, row
// by row. Each rank writes and reads the blocks that it has, by MPI-IO: no rank holds the whole.
//
//   save_npy(x, "x.npy")                            numpy.load("x.npy") in Python
//   const auto x = load_npy<tensor<float, L, batch, pixel>>(g, "x.npy")    numpy.save("x.npy", a)
//   load_npy<tensor<float, ragged_rows, batch>>(g, "x.npy", cuts<batch>{3, 0, 5})
//
// Collective over the grid. What goes wrong is a dimesh::error that names the file and the tensor,
// the same on all ranks. A file is written under another name and renamed when it is whole: who
// reads it sees the former one or all of it. On the host; the umbrella does not include this.
#pragma once

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "dimesh/collective/staging.hpp"
#include "dimesh/core/any_argument.hpp"
#include "dimesh/core/cuts_like.hpp"
#include "dimesh/core/replicas.hpp"
#include "dimesh/core/rule_types.hpp"
#include "dimesh/io/agree.hpp"
#include "dimesh/io/checkpoint/blocks.hpp"
#include "dimesh/io/npy_header.hpp"
#include "dimesh/memory/closed.hpp"
#include "dimesh/memory/memory.hpp"
#include "dimesh/tensor.hpp"

namespace dimesh {

namespace detail::npy {

/// Sums yet to be made are in no file; neighbours' elements are not read twice.
template <bool Reads> struct file_rule : keeps_dims {
  static constexpr outcome of(rule_operands x, dim_list) {
    if (const int a = x[0].layout.first_partial(); a >= 0)
      return blamed_axis(fault_code::partial_operand, a);
    if (const dim_facts* const d = haloed_dim(x[0]); Reads && d != nullptr)
      return blamed(fault_code::dim_has_halo, d);
    return allowed(x[0].layout);
  }
};
template <class X>
inline constexpr bool is_known = name_of_kind(spec_facts<spec_of<X>>.kind) != nullptr;
template <class X, bool Reads> struct file_fault {
  using type = not_an_element<value_of<X>>;
};
template <class X, bool Reads>
  requires is_known<X>
struct file_fault<X, Reads> {
  using type = spec_fault<file_rule<Reads>, spec_of<X>>;
};

/// What errors say of a tensor: "tensor [batch, pixel] in 'x.npy'".
inline std::string said(const tensor_core& x, const std::string& file) {
  std::string dims;
  for (int d = 0; d < x.rank(); ++d)
    dims += (d > 0 ? ", " : "") + std::string(x.facts->dim[d]->name);
  return "tensor [" + dims + "] in '" + file + "'";
}
inline std::vector<index_t> shape_of(const tensor_core& x) {
  std::vector<index_t> all;
  for (int d = 0; d < x.rank(); ++d) all.push_back(x.extent(d));
  return all;
}

/// Writes (or reads) the blocks of x at byte data_at of a file that is there. Collective; throws on
/// all ranks or on none.
template <bool Reads>
void move_blocks(MPI_Comm comm, const std::string& path, const tensor_core& x, index_t data_at,
                 first_fault faults) {
  const waiting with_others("npy");
  const std::string what = Reads ? "cannot be read" : "cannot be written";
  MPI_File file = MPI_FILE_NULL;
  faults.note(MPI_File_open(comm, path.c_str(), Reads ? MPI_MODE_RDONLY : MPI_MODE_WRONLY,
                            MPI_INFO_NULL, &file),
              "cannot be opened");
  agree_on_fault(comm, faults.text);
  bool mine = Reads ? checkpoint::own_elements(x) > 0 : checkpoint::writes(x);
  const in_space there_too(x.facts->space);
  collective::staged near = collective::staged::of_file();
  checkpoint::placed_block there, here;
  char* at = nullptr;
  const bool is_ready = faults.is_ready(what, [&] {
    if (!mine) return;
    there = checkpoint::block_in_file(x, x.facts->element);
    here = checkpoint::block_in_memory(x);
    at = here.at + (Reads ? near.writes(x.data<char>(), x.bytes(), true)
                          : const_cast<char*>(near.reads(x.data<const char>(), x.bytes())));
  });
  mine = mine && is_ready;
  faults.note(MPI_File_set_view(file, data_at + there.at, MPI_BYTE,
                                mine ? there.type.get() : MPI_BYTE, "native", MPI_INFO_NULL),
              what);
  const MPI_Datatype type = mine ? here.type.get() : MPI_BYTE;
  const index_t bytes = mine ? checkpoint::own_elements(x) * x.facts->element : 0;
  const collective::opened_to_mpi memory;
  MPI_Status done;
  const int code = Reads ? MPI_File_read_at_all(file, 0, at, mine ? 1 : 0, type, &done)
                         : MPI_File_write_at_all(file, 0, at, mine ? 1 : 0, type, &done);
  faults.note_moved(code, done, bytes, what);
  if (mine) near.bring();
  if constexpr (!Reads) faults.note(MPI_File_sync(file), what);  // before it takes its name
  faults.note(MPI_File_close(&file), "cannot be closed");
  agree_on_fault(comm, faults.text);
}

/// Of a layout that only the run knows. Throws where the type would be refused.
inline void require_elements(const std::string& of, const tensor_core& x) {
  if (x.layout().any_partial())
    throw error(
        "npy: " + of +
        ": partial_operand: ranks hold addends, and no elements; complete the tensor first, "
        "or load one of another layout");
}
/// What stands under the path is replaced: a device, say, would be gone.
inline void require_file(const std::string& path, const std::string& of) {
  namespace fs = std::filesystem;
  if (fs::exists(path) && !fs::is_regular_file(path) && !fs::is_directory(path))
    throw error("npy: " + of + ": is there, and no file that can be replaced");
}
inline void write_header(const std::string& path, const std::string& of, const tensor_core& x) {
  const std::string head = npy_header_text(x.facts->kind, shape_of(x));
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!(out << head << std::flush)) throw error("npy: " + of + ": cannot be written");
}
inline void save(const tensor_core& x, const std::string& path) {
  const own_comm all(x.grid->everyone().handle());
  const std::string of = said(x, path), part = path + ".part";
  require_elements(of, x);
  try {
    together(all.comm, [&] {
      if (all.rank != 0) return;
      require_file(path, of);
      write_header(part, of, x);
    });
    together(all.comm, [&] {  // MPI waits for ever where one of several ranks cannot open it
      if (!std::fstream(part, std::ios::binary | std::ios::in | std::ios::out))
        throw error("npy: " + of + ": cannot be opened");
    });
    const auto head = static_cast<index_t>(npy_header_text(x.facts->kind, shape_of(x)).size());
    move_blocks<false>(all.comm, part, x, head, {"npy: " + of, {}});
    together(all.comm, [&] {
      if (all.rank == 0 && std::rename(part.c_str(), path.c_str()) != 0)
        throw error("npy: " + of + ": cannot be given its name");
    });
  } catch (...) {
    if (all.rank == 0) std::remove(part.c_str());
    throw;
  }
}

/// The head of a file.
inline header read_header(const std::string& path, const std::string& of) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const auto bytes = in ? static_cast<index_t>(in.tellg()) : -1;
  std::string head(static_cast<std::size_t>(std::clamp<index_t>(bytes, 0, most_header)), '\0');
  if (bytes < 0 || !in.seekg(0).read(head.data(), static_cast<std::streamsize>(head.size())))
    throw error("npy: " + of + ": expected a readable file, found none");
  return npy_header_of(of, head, bytes);
}
inline void require_match(const std::string& of, const header& h, const tensor_core& x) {
  if (h.kind != x.facts->kind)
    throw error("npy: " + of + ": expected elements '" + code_of(*name_of_kind(x.facts->kind)) +
                "', found '" + code_of(*name_of_kind(h.kind)) + "'");
  bool same = static_cast<int>(h.shape.size()) == x.rank();
  for (int d = 0; same && d < x.rank(); ++d) {
    const index_t n = x.facts->dim[d]->extent;
    same = n == dynamic || n == h.shape[static_cast<std::size_t>(d)];
  }
  if (same) return;
  std::string want;
  for (int d = 0; d < x.rank(); ++d) {
    const index_t n = x.facts->dim[d]->extent;
    want += (d > 0 ? ", " : "") + (n == dynamic ? std::string("any") : std::to_string(n));
  }
  throw error("npy: " + of + ": expected extents (" + want + "), found " + shape_text(h.shape));
}
template <class X, std::size_t... I>
typename X::shape_type shape_from(const std::vector<index_t>& n, std::index_sequence<I...>) {
  typename X::shape_type shape;
  [[maybe_unused]] const auto give = [&]<class D>(tag<D>, index_t extent) {
    if constexpr (!is_static_dim<D>) {
      D d;
      number_in(d) = extent;
      shape = typename X::shape_type(shape, d);
    }
  };
  (give(tag<type_at<static_cast<int>(I), typename spec_of<X>::dims>>{}, n[I]), ...);
  return shape;
}

}  // namespace detail::npy

/// Writes x to a .npy file: [D...] as an array of these extents, in C order. Collective. Throws
/// dimesh::error on all ranks where the file cannot be written.
template <Tensor X> void save_npy(const X& x, const std::string& path) {
  using fault = typename detail::npy::file_fault<X, false>::type;
  static_assert(ok<only<fault, not_an_element>>,
                "save_npy: .npy files have no elements of this type; save cast<float>(x)");
  static_assert(ok<only<fault, partial_operand>>,
                "save_npy: the tensor is a sum yet to be made; complete it first");
  if constexpr (ok<fault>) {
    detail::require_grid("save_npy", detail::core_of(x));
    detail::npy::save(detail::core_of(x), path);
  }
}

/// Of poison there is nothing to save.
template <Operand X>
  requires is_poison<X>
void save_npy(const X&, const std::string&) {}

/// A tensor of type X on the grid from a .npy file whose elements are of X's type and whose extents
/// are those of X's dims, in order; dims without a static extent take that of the file. Where
/// ragged dims are cut say `cuts`, as where a tensor is made. Collective. Throws dimesh::error on
/// all ranks where the file is another, damaged, big-endian or in Fortran order.
template <Tensor X, detail::HoldsCuts... Cuts>
X load_npy(const grid<typename X::mesh_type>& g, const std::string& path, const Cuts&... cuts) {
  using fault = typename detail::npy::file_fault<X, true>::type;
  static_assert(ok<only<fault, not_an_element>>,
                "load_npy: .npy files have no elements of this type; load a tensor of float, and "
                "cast it");
  static_assert(ok<only<fault, partial_operand>>,
                "load_npy: the tensor would be a sum yet to be made; load a whole one");
  static_assert(ok<only<fault, dim_has_halo>>,
                "load_npy: blocks with halos are not in files; load a tensor without, then "
                "halo_exchange");
  if constexpr (ok<fault>) {
    namespace npy = detail::npy;
    const detail::own_comm all(g.everyone().handle());
    const detail::tensor_core unmade(&detail::spec_facts<spec_of<X>>);
    const std::string of = npy::said(unmade, path);
    npy::header head;
    detail::together(all.comm, [&] {
      head = npy::read_header(path, of);
      npy::require_match(of, head, unmade);
    });
    std::optional<X> x;
    detail::together(all.comm, [&] {  // where one rank lacks the memory, too
      using all_dims = std::make_index_sequence<spec_of<X>::rank>;
      x.emplace(g, cuts..., npy::shape_from<X>(head.shape, all_dims{}));  // that of the file counts
    });
    npy::require_elements(of, detail::core_of(*x));
    npy::move_blocks<true>(all.comm, path, detail::core_of(*x), head.data_at, {"npy: " + of, {}});
    if constexpr (std::is_same_v<typename X::value_type, bool>)
      detail::together(all.comm, [&] {
        if (const int byte = detail::checkpoint::find_no_truth(detail::core_of(*x)); byte >= 0)
          throw error("npy: " + of + ": a truth is " + std::to_string(byte));
      });
    return *std::move(x);
  } else {
    return X();
  }
}

namespace detail::npy {
template <class X, class... A> inline constexpr bool loads = false;
template <Tensor X, class G, class N, class... Cuts>
inline constexpr bool loads<X, G, N, Cuts...> =
    std::is_same_v<G, grid<typename X::mesh_type>> &&
    std::is_convertible_v<const N&, std::string> && (HoldsCuts<Cuts> && ...);
}  // namespace detail::npy

/// Arguments of other kinds, or in another order. (Functions of the user's that have this name fit
/// better: core/any_argument.hpp.)
template <class... No>
  requires(sizeof...(No) == 0)
void save_npy(detail::any_argument, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<wrong_arguments<detail::nothing<No...>>>,
                "save_npy: one tensor comes first, then the file's path: save_npy(x, \"x.npy\"); "
                "a struct of them is saved by save_checkpoint");
}
template <class X, class... A>
  requires(!detail::npy::loads<X, A...>)
auto load_npy(const A&...) {
  static_assert(ok<std::conditional_t<Tensor<X>, wrong_arguments<A...>, not_a_tensor<X>>>,
                "load_npy: the tensor's type stands in the angle brackets, grid and path in the "
                "parentheses: load_npy<tensor<float, L, batch>>(grid, \"x.npy\")");
  if constexpr (Tensor<X>)
    return X{};
  else
    return poison{};
}
template <class... No>
  requires(sizeof...(No) == 0)
poison load_npy(detail::any_argument, detail::any_argument = {}, detail::any_argument = {}) {
  static_assert(ok<not_a_tensor<detail::nothing<No...>>>,
                "load_npy: the tensor's type stands in the angle brackets, grid and path in the "
                "parentheses: load_npy<tensor<float, L, batch>>(grid, \"x.npy\")");
  return {};
}

}  // namespace dimesh
