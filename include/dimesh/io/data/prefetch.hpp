// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does a training loop get its batches? One after the other, epoch after epoch, made ahead of
// the loop by threads of this rank.
//
//   auto load = files | input::shuffle(7) | input::batch<images<L>>(g, batch{64})
//                     | input::prefetch(2, 4);        // 2 threads, at most 4 batches ahead
//   for (...) { const images<L> b = load.next(); ... }
//   load.position()          -> {epoch 1, record 640}: keep it with the weights, and
//   load.seek({1, 640});     // whatever the layout and the number of ranks now: the same batches
#pragma once

#include <memory>

#include "dimesh/io/data/batch.hpp"
#include "dimesh/io/data/loading.hpp"

namespace dimesh::input {

/// The batches of a pipeline, in turn. Made by prefetch(...). It moves, and does not copy.
template <class B> class loader {
 public:
  using value_type = typename B::value_type;

  /// Collective over the pipeline's grid. Throws dimesh::error, on all ranks, where they do not see
  /// the same number of records.
  loader(const B& from, int threads, index_t ahead)
      : from_(from),
        loading_(
            detail::start_loading(from.source(), from.mesh_grid().everyone(), threads, ahead)) {}

  /// The next batch; after the last one of an epoch the first of the next. Collective. Throws
  /// dimesh::error on all ranks where a record cannot be had on one, naming it; the position stays:
  /// another call tries again, and seek() goes on behind it.
  value_type next() {
    detail::host_batch b = loading_->get();
    try {
      value_type v = from_.finish(b);
      loading_->taken(b);
      return v;
    } catch (...) {
      loading_->again();  // on all ranks
      throw;
    }
  }
  /// Where the next batch begins.
  input::position position() const { return loading_->at(); }
  /// Goes there. Throws dimesh::error where there is no such record.
  void seek(input::position p) { loading_->seek(p); }
  /// Records of the batch that next() gave last: fewer than its rows where it was filled up.
  index_t records() const { return loading_->records(); }
  /// Batches of the epoch that the next batch belongs to.
  index_t batches_per_epoch() const { return loading_->batches_per_epoch(); }

 private:
  B from_;
  std::unique_ptr<detail::loading> loading_;
};

/// Batches made by `threads` threads of each rank (0: by the caller, when it asks), at most `ahead`
/// of them before they are asked for. Throws dimesh::error where that is no number of either.
inline auto prefetch(int threads, index_t ahead = 4) {
  if (threads < 0 || ahead < 1)
    throw error("input::prefetch: " + std::to_string(threads) + " threads, " +
                std::to_string(ahead) + " batches ahead; give 0 or more, and 1 or more");
  return adaptor{[=](const auto& from) {
    return loader<std::remove_cvref_t<decltype(from)>>(from, threads, ahead);
  }};
}

/// A pipeline of batches goes on by prefetch().
template <class S, class M, class D, Stage From, class... Open, class F>
auto operator|(const batches<S, M, D, From, Open...>& b, const adaptor<F>& to) {
  return to.make(b);
}

}  // namespace dimesh::input
