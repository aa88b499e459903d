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
    try {
      detail::host_batch& b = ahead_batch();
      from_->require_built(b);
      value_type v = tensors_ ? std::move(*tensors_) : from_->tensors_of(b);
      tensors_.reset();
      records_ = b.records;
      at_ = b.next;
      copy_ahead(std::move(batch_));
      return v;
    } catch (...) {
      begin();  // on all ranks: the next call tries again
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
    begin();
  }
  /// Records of the batch that next() gave last: fewer than its rows where it was filled up.
  index_t records() const { return records_; }
  /// Batches of the epoch that the next batch belongs to.
  index_t batches_per_epoch() const { return from_->count(at_.epoch); }

 private:
  /// A batch is made in parts, by as many threads as there are: the first of an epoch is there as
  /// soon as may be.
  struct part {
    std::shared_ptr<detail::host_batch> of;
    index_t number = 0;
  };
  using ahead_type = detail::read_ahead<part, std::shared_ptr<detail::host_batch>>;

  static part first_part(const input::position& p) {
    return {std::make_shared<detail::host_batch>(p), 0};
  }
  std::unique_ptr<ahead_type> make_ahead(index_t threads, index_t ahead) {
    parts_ = std::max<index_t>(1, std::min(threads, from_->own_rows()));
    const auto then = [from = from_](const input::position& p) {
      return from->normal({p.epoch, p.record + from->rows()});
    };
    const auto after = [parts = parts_, then](const part& p) {
      return p.number + 1 < parts ? part{p.of, p.number + 1} : first_part(then(p.of->at));
    };
    return std::make_unique<ahead_type>(static_cast<int>(threads), ahead * parts_, after,
                                        [parts = parts_, then, from = from_](const part& p) {
                                          from->build(*p.of, p.number, parts);
                                          if (p.number == 0) p.of->next = then(p.of->at);
                                          return p.of;
                                        });
  }
  /// All is made from at_ on.
  void begin() {
    tensors_.reset();
    batch_.reset();
    ahead_->begin(first_part(at_));
  }
  /// The batch whose turn it is, of this rank. What is wrong with all of them is its fault.
  detail::host_batch& ahead_batch() {
    if (batch_ == nullptr) try {
        for (index_t k = 0; k < parts_; ++k) batch_ = ahead_->get();
      } catch (...) {
        batch_ = std::make_shared<detail::host_batch>(at_);
        batch_->fail(at_.record, detail::current_text());
      }
    return *batch_;
  }
  /// Of tensors that are copies: the next batch, if it is ready, is on its way to where they live
  /// while the step runs. `before`: what the last one is copied from.
  void copy_ahead(std::shared_ptr<detail::host_batch> before) {
    if (!from_->copies()) return;
    B::wait_for_copies();
    before.reset();
    if (!ahead_->has(parts_)) return;
    const detail::host_batch& b = ahead_batch();
    if (!b.failed) try {
        tensors_ = from_->tensors_of(*batch_);
      } catch (...) {
        tensors_.reset();  // the next call says why, if it is so still
      }
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
  index_t parts_ = 1;
  std::unique_ptr<ahead_type> ahead_;
  input::position at_;
  index_t records_ = 0;
  std::shared_ptr<detail::host_batch> batch_;  // the next one, where it was fetched
  std::optional<value_type> tensors_;  // and where its copies have begun
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
