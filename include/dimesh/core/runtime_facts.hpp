// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do the facts of a tensor stand whose layout no type says? In one place for all probes: the
// same facts of one layout are one object, which lives as long as the program.
//
//   facts_under(spec_facts<S>, t)   -> as those of S, under table t; ->dual: of the gradient
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "dimesh/core/rule.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/words.hpp"

namespace dimesh::detail {

/// All facts made at run time. There are as many as programs have layouts; they are never given up.
class facts_registry {
  struct key {
    const tensor_facts* like;
    std::uint64_t uses, uneven, halo[4], places[2];
    auto operator<=>(const key&) const = default;
  };

 public:
  static facts_registry& here();
  const tensor_facts& under(const tensor_facts& like, const table& t);

 private:
  facts_and_dual* make(const tensor_facts& like, const table& t);
  std::mutex lock_;
  std::map<key, facts_and_dual*> known_;
  std::deque<facts_and_dual> made_;
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline facts_registry& facts_registry::here() {
  static facts_registry all;
  return all;
}
DIMESH_OUTLINE inline const tensor_facts& facts_registry::under(const tensor_facts& like,
                                                                const table& t) {
  const table_code c = encoded(t);
  const std::lock_guard<std::mutex> alone(lock_);
  const auto [at, is_new] = known_.try_emplace(key{&like,
                                                   c.uses,
                                                   c.uneven,
                                                   {c.halo[0], c.halo[1], c.halo[2], c.halo[3]},
                                                   {c.places[0], c.places[1]}},
                                               nullptr);
  if (is_new) at->second = make(like, t);
  return at->second->own;
}
DIMESH_OUTLINE inline facts_and_dual* facts_registry::make(const tensor_facts& like,
                                                           const table& t) {
  facts_and_dual& f = made_.emplace_back(facts_and_dual{like, like});
  f.own.layout = t;
  f.dual.layout = dual_of(t);
  f.own.partial = t.mask(use::partial);
  f.dual.partial = f.dual.layout.mask(use::partial);
  f.own.placed = f.dual.placed = t.mask(use::placed);
  f.own.ragged = f.dual.ragged = ragged_dims(t);
  f.own.is_open = f.dual.is_open = false;
  f.own.dual = &f.dual;
  f.dual.dual = &f.own;
  return &f;
}
#endif

/// The facts of `like`, which a type says, under another table.
inline const tensor_facts& facts_under(const tensor_facts& like, const table& t) {
  return facts_registry::here().under(like, t);
}

// ---- what a rule finds wrong, in words ----------------------------------------------------------

/// A fault's name, and a sentence in which 1 and 2 stand for its dims, a for its axis.
struct fault_words {
  std::string_view name, sentence;
};
constexpr fault_words words_of(fault_code f) {
  switch (f) {
    case fault_code::none:
      break;
    case fault_code::axis_not_in_mesh:
      return {"axis_not_in_mesh", "the mesh lacks axis a"};
    case fault_code::axis_used_twice:
      return {"axis_used_twice", "two rules of the layout use axis a"};
    case fault_code::dim_has_two_rules:
      return {"dim_has_two_rules", "the layout has two rules for dim 1"};
    case fault_code::dim_repeated:
      return {"dim_repeated", "dim 1 is named twice"};
    case fault_code::dims_share_mesh_axis:
      return {"dims_share_mesh_axis", "dims 1 and 2 are both split over axis a"};
    case fault_code::extent_not_divisible:
      return {"extent_not_divisible",
              "the extent of dim 1 is not a multiple of the size of axis a"};
    case fault_code::place_not_on_axis:
      return {"place_not_on_axis", "the layout names a place that axis a does not have"};
    case fault_code::meshes_differ:
      return {"meshes_differ", "the operands live on different meshes"};
    case fault_code::partial_operand:
      return {"partial_operand", "an operand is a sum yet to be made along axis a"};
    case fault_code::both_operands_partial:
      return {"both_operands_partial", "two operands are sums yet to be made along axis a"};
    case fault_code::partial_meets_replicated:
      return {"partial_meets_replicated",
              "one operand is a sum yet to be made along axis a, the other is not"};
    case fault_code::partial_meets_scalar:
      return {"partial_meets_scalar", "a number meets a sum yet to be made along axis a"};
    case fault_code::partial_meets_split:
      return {"partial_meets_split",
              "an operand is a sum yet to be made along axis a, which splits dim 1 of another"};
    case fault_code::dim_split_in_one_operand_only:
      return {"dim_split_in_one_operand_only", "dim 1 is split over axis a in one operand only"};
    case fault_code::dim_split_differently:
      return {"dim_split_differently", "the operands split dim 1 in different ways"};
    case fault_code::placed_elsewhere:
      return {"placed_elsewhere", "the operands live at different places of axis a"};
    case fault_code::placed_in_one_operand_only:
      return {"placed_in_one_operand_only",
              "one operand lives at one place of axis a, the other one does not"};
    case fault_code::tensor_is_placed:
      return {"tensor_is_placed", "the tensor lives at one place of axis a"};
    case fault_code::output_dim_not_in_any_input:
      return {"output_dim_not_in_any_input", "no operand has dim 1 of the result"};
    case fault_code::dim_in_one_input_only:
      return {"dim_in_one_input_only", "dim 1 is in one operand only and not in the result"};
    case fault_code::dim_is_split:
      return {"dim_is_split", "dim 1 is split over axis a"};
    case fault_code::dim_not_in_tensor:
      return {"dim_not_in_tensor", "an operand lacks dim 1"};
    case fault_code::dim_not_in_order:
      return {"dim_not_in_order", "dim 1 has no place in the order of dims, or another one"};
    case fault_code::dim_already_in_tensor:
      return {"dim_already_in_tensor", "an operand has dim 1 already"};
    case fault_code::dim_has_halo:
      return {"dim_has_halo", "the blocks of dim 1 carry halos"};
    case fault_code::extents_differ:
      return {"extents_differ", "dims 1 and 2 have different extents"};
    case fault_code::elements_differ:
      return {"elements_differ", "the operands have different element types"};
    case fault_code::axis_not_partial:
      return {"axis_not_partial", "there are no addends along axis a"};
    case fault_code::axis_not_replicated:
      return {"axis_not_replicated", "the operand is not replicated along axis a"};
    case fault_code::axis_not_placed:
      return {"axis_not_placed", "the operand does not live at that place of axis a"};
    case fault_code::axis_splits_nothing:
      return {"axis_splits_nothing", "axis a does not split what it should"};
    case fault_code::axis_not_innermost_of_dim:
      return {"axis_not_innermost_of_dim",
              "another axis cuts the blocks that axis a makes of dim 1"};
    case fault_code::element_not_differentiable:
      return {"element_not_differentiable", "the elements have no gradients"};
    case fault_code::no_operand_has_all_dims:
      return {"no_operand_has_all_dims", "neither operand has all dims of the result"};
    case fault_code::element_not_summable:
      return {"element_not_summable", "ranks cannot add up elements of this type"};
    case fault_code::value_not_scalar:
      return {"value_not_scalar", "the tensor has dims"};
  }
  return {"no_fault", "nothing is wrong"};
}

/// Throws dimesh::error: call, fault, culprits.
[[noreturn]] void refuse_layout(std::string_view call, const outcome& o, std::string_view axis);
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void refuse_layout(std::string_view call, const outcome& o,
                                         std::string_view axis) {
  const fault_words say = words_of(o.found);
  words w;
  w << call << ": " << say.name << ": ";
  for (std::size_t i = 0; i < say.sentence.size(); ++i) {
    const char c = say.sentence[i];
    const bool alone =
        (i == 0 || say.sentence[i - 1] == ' ') &&
        (i + 1 == say.sentence.size() || say.sentence[i + 1] == ' ' || say.sentence[i + 1] == ',');
    const bool is_axis = alone && c == 'a' && i >= 5 && say.sentence.substr(i - 5, 5) == "axis ";
    if (alone && c == '1')
      w << "'" << o.dim->name << "'";
    else if (alone && c == '2')
      w << "'" << o.other->name << "'";
    else if (is_axis)
      w << "'" << axis << "'";
    else
      w << say.sentence.substr(i, 1);
  }
  w.raise();
}
#endif

}  // namespace dimesh::detail
