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
#include "dimesh/io/data/read_ahead.hpp"

namespace dimesh::input {

/// The batches of a pipeline, in turn. Made by prefetch(...). It moves, and does not copy.
template <class B> class loader {
 public:
  using value_type = typename B::value_type;

  /// Collective over the pipeline's grid. Throws dimesh::error, on all ranks, where they do not see
  /// the same number of records.
  loader(const B& from, int threads, index_t ahead)
      : from_(std::make_shared<const B>(from)), ahead_(make_ahead(threads, ahead)) {
    same_records();
    seek({});
  }

  /// The next batch; after the last one of an epoch the first of the next. Collective. Throws
  /// dimesh::error on all ranks where a record cannot be had on one, naming it; the position stays:
  /// another call tries again, and seek() goes on behind it.
  value_type next() {
    detail::host_batch b;
    try {
      b = ahead_->get();
    } catch (...) {
      b.failed = at_.record;
      b.text = detail::current_text();
    }
    try {
      value_type v = from_->finish(b);
      records_ = b.records;
      at_ = b.next;
      return v;
    } catch (...) {
      ahead_->begin(at_);  // on all ranks: the next call tries again
      throw;
    }
  }
  /// Where the next batch begins.
  input::position position() const { return at_; }
  /// Goes there. Throws dimesh::error where there is no such record.
  void seek(input::position p) {
    from_->require(p);
    at_ = p.record < from_->records(p.epoch) ? p : input::position{p.epoch + 1, 0};
    at_ = from_->normal(at_);
    ahead_->begin(at_);
  }
  /// Records of the batch that next() gave last: fewer than its rows where it was filled up.
  index_t records() const { return records_; }
  /// Batches of the epoch that the next batch belongs to.
  index_t batches_per_epoch() const { return from_->count(at_.epoch); }

 private:
  using ahead_type = detail::read_ahead<input::position, detail::host_batch>;

  std::unique_ptr<ahead_type> make_ahead(int threads, index_t ahead) const {
    const auto after = [from = from_](const input::position& p) {
      return from->normal({p.epoch, p.record + from->rows()});
    };
    return std::make_unique<ahead_type>(threads, ahead, after,
                                        [after, from = from_](const input::position& p) {
                                          detail::host_batch b = from->build(p);
                                          b.next = after(p);
                                          return b;
                                        });
  }
  void same_records() const {
    const auto& c = from_->mesh_grid().everyone();
    index_t n = 0;
    std::string text;
    try {
      n = from_->records(0);
    } catch (...) {
      text = detail::current_text();
    }
    detail::agree(c, text.empty() ? std::optional<index_t>() : 0, text);
    const dimesh::detail::of_host numbers;
    index_t least = n, most = n;
    collective::all_reduce(c, &n, &least, 1, collective::reduction::min);
    collective::all_reduce(c, &n, &most, 1, collective::reduction::max);
    if (least != most)
      throw error("input: the ranks do not see the same records: one has " + std::to_string(least) +
                  ", another one " + std::to_string(most) + "; give all of them the same files");
  }

  std::shared_ptr<const B> from_;
  std::unique_ptr<ahead_type> ahead_;
  input::position at_;
  index_t records_ = 0;
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
