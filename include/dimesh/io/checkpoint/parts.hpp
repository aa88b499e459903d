// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tensors does a checkpoint hold, by which names? Those of structs that the program names:
// the name of the part, then the path of the member.
//
//   part("model", params), part("adam", state)   -> "model.layers[0].w", ..., "adam.first..."
#pragma once

#include <string>
#include <vector>

#include "dimesh/core/tensor_core.hpp"
#include "dimesh/error.hpp"
#include "dimesh/layout/fault.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh {

/// A struct of tensors (or one tensor) under a name; made by part().
template <class S> struct checkpoint_part {
  std::string name;
  S& tensors;
};
/// The tensors of s as "NAME.path"; an empty name leaves paths as they are. s must outlive it.
template <class S> checkpoint_part<S> part(std::string name, S& s) { return {std::move(name), s}; }

namespace detail::checkpoint {

struct named_core {
  std::string name;
  const tensor_core* core;
};

/// The first axis along which a leaf has addends, as a fault.
template <class X> constexpr auto partial_fault_of() {
  constexpr int a = spec_of<X>::table.first_partial();
  if constexpr (a >= 0)
    return tag<partial_operand<type_at<a, typename spec_of<X>::mesh::axes>>>{};
  else
    return tag<no_fault>{};
}
template <class Leaves> struct partial_among;
template <class... X> struct partial_among<list<X...>> {
  using type = typename first_of<
      typename decltype(partial_fault_of<std::remove_const_t<X>>())::type...>::type;
};
template <class S>
using part_fault = typename partial_among<typename leaves<std::remove_const_t<S>>::type>::type;

/// The tensors of a part whose type is gone, with their names.
void note_cores(const std::string& part, const void* tensors, member_path (*path)(const void*, int),
                tensor_core* const* cores, int count, std::vector<named_core>& to);
/// Throws where there is no tensor, where one is not there, or recorded, and where they do not live
/// on the same ranks.
void require_parts(const char* call, const std::vector<named_core>& all);
#if DIMESH_COMPILED_FILES != 1
inline void note_cores(const std::string& part, const void* tensors,
                       member_path (*path)(const void*, int), tensor_core* const* cores, int count,
                       std::vector<named_core>& to) {
  for (int i = 0; i < count; ++i) {
    const std::string at = path(tensors, i).text();
    to.push_back({part.empty() || at.empty() ? part + at : part + "." + at, cores[i]});
  }
}
inline void require_parts(const char* call, const std::vector<named_core>& all) {
  if (all.empty())
    throw error(std::string(call) + ": the parts have no tensors; name some that do");
  for (const named_core& x : all) {
    require_grid(call, *x.core);
    int alike = MPI_IDENT;
    MPI_Comm_compare(all[0].core->grid->everyone().handle(), x.core->grid->everyone().handle(),
                     &alike);
    if (alike == MPI_UNEQUAL)
      throw error(std::string(call) + ": tensor '" + x.name +
                  "' lives on other ranks than the first one; save them apart");
    if (x.core->record != nullptr)
      throw error(std::string(call) + ": tensor '" + x.name +
                  "' is recorded on a tape; take the parameters themselves");
  }
}
#endif
template <class S> void note_part(const checkpoint_part<S>& p, std::vector<named_core>& to) {
  using plain = std::remove_const_t<S>;
  (void)sizeof(walkable<plain>);
  const core_list<plain> all(p.tensors);
  note_cores(
      p.name, &p.tensors,
      [](const void* of, int i) { return path_of(*static_cast<const plain*>(of), i); }, all.at,
      all.size, to);
}
/// All tensors of the parts, as require_parts wants them.
template <class... S>
std::vector<named_core> note_parts_of(const char* call, const checkpoint_part<S>&... p) {
  std::vector<named_core> all;
  (note_part(p, all), ...);
  require_parts(call, all);
  return all;
}

}  // namespace detail::checkpoint
}  // namespace dimesh
