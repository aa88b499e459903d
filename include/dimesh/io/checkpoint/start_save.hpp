// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a checkpoint written while training goes on? The elements are copied, threads bring the
// copies to the disk, and the ranks agree now and then on how far they are.
//
//   std::optional<started_save> saving;
//   saving.emplace(start_save_checkpoint("run", {.step = 7}, {}, part("model", params)));
//   ...steps that change params...
//   if (saving && saving->done()) saving.reset();      // on every rank, between steps
//   if (saving) saving->finish();                      // before the program ends
#pragma once

#include <utility>

#include "dimesh/error.hpp"
#include "dimesh/io/checkpoint/save.hpp"
#include "dimesh/io/checkpoint/untyped.hpp"
#if DIMESH_COMPILED_FILES != 1
#include "dimesh/io/checkpoint/background.hpp"
#endif

namespace dimesh {

/// A checkpoint that is being written. Movable; dropped before it is done, there is none.
class [[nodiscard]] started_save {
 public:
  explicit started_save(detail::checkpoint::save_handle save) : save_(std::move(save)) {}

  /// Is the checkpoint there? Collective, and the same on all ranks; waits for them, but not for
  /// disks. Called between two steps, say: it is what makes a save go on. Throws on every rank what
  /// save_checkpoint would throw, each time from then on.
  [[nodiscard]] bool done() { return detail::checkpoint::advance(require(), false); }
  /// Waits until the checkpoint is there. Collective; throws like done().
  void finish() { detail::checkpoint::advance(require(), true); }

 private:
  detail::checkpoint::background_save& require() const {
    if (!save_) throw error("started_save: moved from; ask the one it was moved to");
    return *save_;
  }
  detail::checkpoint::save_handle save_;
};

/// Like save_checkpoint, but returns as soon as the elements are copied (to the host: as many bytes
/// as this rank writes). A thread of each rank writes them, with calls of POSIX, not MPI; the
/// checkpoint appears while done() or finish() of the result is called. Collective over the ranks
/// of the tensors' grid.
template <class... S>
started_save start_save_checkpoint(const std::string& folder, const checkpoint_record& record,
                                   const save_options& options,
                                   const checkpoint_part<S>&... parts) {
  using fault = typename detail::first_of<detail::checkpoint::part_fault<S>...>::type;
  static_assert(ok<only<fault, partial_operand>>,
                "start_save_checkpoint: ranks hold addends of a tensor along this axis, and no "
                "elements; complete it first");
  if constexpr (ok<fault>)
    return started_save(detail::checkpoint::begin_save(
        folder, record, options,
        detail::checkpoint::note_parts_of("start_save_checkpoint", parts...)));
  else
    return started_save({nullptr, nullptr});
}
/// The same with the options that are usual.
template <class First, class... S>
started_save start_save_checkpoint(const std::string& folder, const checkpoint_record& record,
                                   const checkpoint_part<First>& part,
                                   const checkpoint_part<S>&... parts) {
  return dimesh::start_save_checkpoint(folder, record, save_options{}, part, parts...);
}
/// Arguments of other kinds, or in another order.
template <class... A>
  requires(detail::checkpoint::is_meant<A...> && !detail::checkpoint::saves_parts<A...>)
started_save start_save_checkpoint(const A&...) {
  detail::checkpoint::refuse_save<A...>();
  return started_save({nullptr, nullptr});
}
template <class... No>
  requires(sizeof...(No) == 0)
started_save start_save_checkpoint(detail::any_argument, detail::any_argument = {},
                                   detail::any_argument = {}) {
  detail::checkpoint::refuse_save<detail::nothing<No...>>();
  return started_save({nullptr, nullptr});
}
template <class... A>
  requires(!detail::checkpoint::saves_parts<std::string, checkpoint_record, A...>)
started_save start_save_checkpoint(const std::string&, const checkpoint_record&, const A&...) {
  detail::checkpoint::refuse_save<A...>();
  return started_save({nullptr, nullptr});
}
template <class... A>
  requires(!(detail::checkpoint::is_part<A> && ...))
started_save start_save_checkpoint(const std::string&, const checkpoint_record&,
                                   const save_options&, const A&...) {
  detail::checkpoint::refuse_save<A...>();
  return started_save({nullptr, nullptr});
}

}  // namespace dimesh
