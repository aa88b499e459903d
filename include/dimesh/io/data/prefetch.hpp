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
#include <optional>

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
    try {
      detail::host_batch& b = loading_->batch();
      loading_->agree();
      if (tensors_) from_.require_places();  // others may have none yet, and ask while making them
      value_type v = tensors_ ? std::move(*tensors_) : from_.tensors_of(b);
      tensors_.reset();
      copy_ahead(loading_->take());
      return v;
    } catch (...) {
      tensors_.reset();
      loading_->again();  // on all ranks: the next call tries again
      throw;
    }
  }
  /// Of a loader that stays where it is, and as if there were a last batch.
  template <class... No>
    requires(sizeof...(No) == 0)
  value_type next() const {
    static_assert(ok<wrong_arguments<No...>>,
                  "input::prefetch: next() moves a loader on, and this one is const; let it be "
                  "auto load = ...");
    return {};
  }
  template <class... No> const value_type* begin(No...) const {
    static_assert(ok<wrong_arguments<No...>>,
                  "input::prefetch: a loader has no last batch; count the steps, "
                  "load.batches_per_epoch() to an epoch, and ask for each: load.next()");
    return nullptr;
  }
  template <class... No> const value_type* end(No...) const { return nullptr; }

  /// Where the next batch begins.
  input::position position() const { return loading_->at(); }
  /// Goes there, on all ranks alike. Throws dimesh::error where there is no such record; where an
  /// epoch has no batch next() throws, as for one that is reached batch by batch.
  void seek(input::position p) {
    loading_->seek(p);
    tensors_.reset();
  }
  /// Records of the batch that next() gave last: fewer than its rows where it was filled up.
  index_t records() const { return loading_->records(); }
  /// Batches of the epoch that the next batch belongs to.
  index_t batches_per_epoch() const { return loading_->batches_per_epoch(); }

 private:
  /// Of tensors that are copies: the next batch, if it is ready, is on its way to where they live
  /// while the step runs. `before`: what the last one is copied from.
  void copy_ahead(std::shared_ptr<detail::host_batch> before) {
    const detail::host_source& source = *from_.source();
    if (!source.copies()) return;
    source.wait_for_copies();
    before.reset();
    if (!loading_->ready()) return;
    detail::host_batch& b = loading_->batch();
    if (!b.failed) try {
        tensors_ = from_.tensors_of(b);
      } catch (...) {
        tensors_.reset();  // the next call says why, if it is so still
      }
  }

  B from_;
  std::unique_ptr<detail::loading> loading_;
  std::optional<value_type> tensors_;  // the next ones, where their copies have begun
};

/// Batches made by `threads` threads of each rank (0: by the caller, when it asks), at most `ahead`
/// of them before they are asked for. Throws dimesh::error where that is no number of either.
inline auto prefetch(int threads, index_t ahead = 4) {
  if (threads < 0 || ahead < 1)
    throw error("input::prefetch: " + std::to_string(threads) + " threads, " +
                std::to_string(ahead) + " batches ahead; give 0 or more, and 1 or more");
  return adaptor{[=](const auto& from) {
    using made = std::remove_cvref_t<decltype(from)>;
    if constexpr (std::is_same_v<made, detail::no_records>) {
      return detail::batches_of_nothing<poison>{};
    } else if constexpr (Stage<made>) {
      static_assert(ok<not_a_tensor<record_of<made>>>,
                    "input::prefetch: records become tensors first: files | batch<S>(g, "
                    "batch{64}) | prefetch(2)");
      return detail::batches_of_nothing<poison>{};
    } else {
      return loader<made>(from, threads, ahead);
    }
  }};
}

/// A pipeline of batches goes on by prefetch().
template <class S, class M, class D, Stage From, class... Open, class F>
auto operator|(const batches<S, M, D, From, Open...>& b, const adaptor<F>& to) {
  static_assert(ok<std::conditional_t<detail::OfRecords<F>, wrong_arguments<S>, no_fault>>,
                "input: records are put in order, mapped and packed before they are batches: "
                "files | shuffle(7) | batch<S>(g, batch{64})");
  if constexpr (detail::OfRecords<F>)
    return detail::nothing_made_of(b);
  else
    return to.make(b);
}

}  // namespace dimesh::input
