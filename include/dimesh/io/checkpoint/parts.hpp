// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tensors does a checkpoint hold, by which names? Those of structs that the program names:
// the name of the part, then the path of the member.
//
//   part("model", params), part("adam.first", state.first)   -> "model.layers[0].w", ...
//   part("tables", a)      -> "tables[0]", of an array or a vector
#pragma once

#include <string>
#include <vector>

#include "dimesh/core/any_argument.hpp"
#include "dimesh/core/tensor_core.hpp"
#include "dimesh/error.hpp"
#include "dimesh/layout/fault.hpp"
#include "dimesh/optim/state.hpp"
#include "dimesh/reflect/walk.hpp"

namespace dimesh {

/// A struct of tensors (or one tensor) under a name; made by part().
template <class S> struct checkpoint_part {
  std::string name;
  S& tensors;
};

namespace detail::checkpoint {

/// What part() gives where it has found a fault; calls that take parts accept it in silence.
struct no_part {};

template <class S> inline constexpr bool is_part = false;
template <class S> inline constexpr bool is_part<checkpoint_part<S>> = true;

/// Is among them what only a checkpoint has? A function of the user's that is called like one of
/// the library is left alone otherwise.
template <class... A>
inline constexpr bool is_meant = (is_part<A> || ...) || (std::is_same_v<A, no_part> || ...);

/// A name and tensors that stay.
template <class... A> inline constexpr bool makes_part = false;
template <class N, class S>
inline constexpr bool makes_part<N, S&> = std::is_convertible_v<N, std::string>;

}  // namespace detail::checkpoint

/// The tensors of s as "NAME.path"; an empty name leaves paths as they are. s must outlive it.
template <class S> auto part(std::string name, S& s) {
  namespace cp = detail::checkpoint;
  using plain = std::remove_const_t<S>;
  using number = std::conditional_t<std::is_scalar_v<S>, not_a_tensor<plain>, no_fault>;
  using state = std::conditional_t<OptimizerState<plain>, not_a_tensor<plain>, no_fault>;
  static_assert(ok<number>,
                "part: this has no tensors; numbers stand in the record, .integers and .numbers, "
                "and a training_run keeps an index_t or a double");
  static_assert(ok<state>,
                "part: of an optimizer's state the members are parts, as for_each_part names them, "
                "of adam part(\"adam.first\", s.first); counts stand in .integers");
  if constexpr (ok<number> && ok<state>)
    return checkpoint_part<S>{std::move(name), s};
  else
    return cp::no_part{};
}
/// (Functions of the user's that have this name fit better: core/any_argument.hpp.)
template <class... No>
  requires(sizeof...(No) == 0)
detail::checkpoint::no_part part(detail::any_argument, detail::any_argument = {},
                                 detail::any_argument = {}) {
  static_assert(ok<wrong_arguments<detail::nothing<No...>>>,
                "part: a name comes first, then tensors, or a struct of them, that do not end with "
                "this line: part(\"model\", params)");
  return {};
}

namespace detail::checkpoint {

/// Perhaps options, and then parts, at least one.
template <class Options, class... A> inline constexpr bool parts_behind = false;
template <class Options, class O, class... A>
inline constexpr bool parts_behind<Options, O, A...> =
    (is_part<O> || std::is_convertible_v<const O&, Options>) && (is_part<A> && ...);
/// Are these a folder, a record, perhaps options, and parts?
template <class Record, class Options, class... A> inline constexpr bool saves = false;
template <class Record, class Options, class N, class R, class... A>
inline constexpr bool saves<Record, Options, N, R, A...> =
    std::is_convertible_v<const N&, std::string> && std::is_convertible_v<const R&, Record> &&
    parts_behind<Options, A...>;
/// The same without a record.
template <class Options, class... A> inline constexpr bool loads = false;
template <class Options, class N, class... A>
inline constexpr bool loads<Options, N, A...> =
    std::is_convertible_v<const N&, std::string> && parts_behind<Options, A...>;

struct named_core {
  std::string name;
  const tensor_core* core;
  std::string part{};
};

/// The first axis along which a leaf has addends, as a fault. (Of layouts that are values
/// require_parts asks.)
template <class X> constexpr auto partial_fault_of() {
  if constexpr (is_probe<X>) {
    return tag<no_fault>{};
  } else {
    constexpr int a = spec_of<X>::table.first_partial();
    if constexpr (a >= 0)
      return tag<partial_operand<type_at<a, typename spec_of<X>::mesh::axes>>>{};
    else
      return tag<no_fault>{};
  }
}
template <class Leaves> struct partial_among;
template <class... X> struct partial_among<list<X...>> {
  using type = typename first_of<
      typename decltype(partial_fault_of<std::remove_const_t<X>>())::type...>::type;
};
template <class S>
using part_fault = typename partial_among<typename leaves<std::remove_const_t<S>>::type>::type;

/// What keeps the elements of parts from being read.
template <class... S>
using loaded_fault =
    typename first_of<std::conditional_t<std::is_const_v<S>, parameters_are_const<S>, no_fault>...,
                      part_fault<S>...>::type;

/// The tensors of a part whose type is gone, with their names.
void note_cores(const std::string& part, const void* tensors, member_path (*path)(const void*, int),
                tensor_core* const* cores, int count, std::vector<named_core>& to);
/// Throws where there is no tensor, where one is not there, recorded, or a sum yet to be made, and
/// where they do not live on the same ranks.
void require_parts(const char* call, const std::vector<named_core>& all);
#if DIMESH_COMPILED_FILES != 1
inline void note_cores(const std::string& part, const void* tensors,
                       member_path (*path)(const void*, int), tensor_core* const* cores, int count,
                       std::vector<named_core>& to) {
  for (int i = 0; i < count; ++i) {
    const std::string at = path(tensors, i).text();
    const bool is_member = !part.empty() && !at.empty() && at.front() != '[';
    to.push_back({is_member ? part + "." + at : part + at, cores[i], part});
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
    if (x.core->layout().any_partial())
      throw error(std::string(call) + ": partial_operand: tensor '" + x.name +
                  "' is a sum yet to be made; complete it first");
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
inline void note_part(no_part, std::vector<named_core>&) {}
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
