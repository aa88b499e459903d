// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do batches come one after the other, whatever tensors they are for? Made ahead, in the memory
// of the host; what a loader (prefetch.hpp) has below its types.
//
//   auto l = start_loading(source, everyone, threads, ahead);
//   host_batch& b = l->batch();     // the one whose turn it is
//   l->agree();                     // collective: all ranks have it, or all throw
//   l->take();  l->again();         // goes on to the next; tries it once more
#pragma once

#include "dimesh/detail/compiled.hpp"
#include "dimesh/io/data/host_batch.hpp"
#include "dimesh/io/data/read_ahead.hpp"

namespace dimesh::input {

namespace detail {

class loading {
 public:
  virtual ~loading() = default;
  /// The batch whose turn it is, as far as this rank could make it. Waits for it.
  virtual host_batch& batch() = 0;
  /// Is it made, so that batch() waits for nothing?
  virtual bool ready() = 0;
  /// Throws dimesh::error on all ranks where one could not make it: what that one says. Ranks ask
  /// each other once for as many as all of them have made: those that meet at each step wait for
  /// each other there. Collective.
  virtual void agree() = 0;
  /// Gives that batch up: the next one's turn it is.
  virtual std::shared_ptr<host_batch> take() = 0;
  virtual void again() = 0;
  virtual void seek(position p) = 0;
  /// Of the batch whose turn it is.
  virtual position at() const = 0;
  /// Of the batch that was taken last.
  virtual index_t records() const = 0;
  virtual index_t batches_per_epoch() const = 0;
};
/// Collective. Throws, on all ranks, where they do not see the same number of records.
std::unique_ptr<loading> start_loading(std::shared_ptr<const host_source> from,
                                       const dimesh::detail::communicator& c, int threads,
                                       index_t ahead);

#if DIMESH_COMPILED != 1
/// Do all ranks see as many records? Throws where they do not.
inline void require_same_records(const host_source& from, const dimesh::detail::communicator& c) {
  index_t n = 0;
  std::string text;
  try {
    n = from.records(0);
  } catch (...) {
    text = current_text();
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
/// Where the batch after that at p begins. The next epoch is not asked: what is wrong with it is
/// said when its first batch is built.
inline position batch_after(const host_source& from, const position& p) {
  const position behind{p.epoch, p.record + from.rows()};
  return from.ends_before(behind) ? position{p.epoch + 1, 0} : behind;
}

/// A batch is made in parts, by as many threads as there are: the first of an epoch is there as
/// soon as may be.
struct batch_part {
  std::shared_ptr<host_batch> of;
  index_t number = 0;
};
inline batch_part first_part(const position& p) { return {std::make_shared<host_batch>(p), 0}; }

class loading_ahead final : public loading {
 public:
  loading_ahead(std::shared_ptr<const host_source> from, const dimesh::detail::communicator& c,
                int threads, index_t ahead)
      : from_(std::move(from)),
        everyone_(&c),
        parts_(std::max<index_t>(1, std::min<index_t>(threads, from_->own().length))),
        ahead_(
            threads, ahead * parts_,
            [of = from_, n = parts_](const batch_part& p) {
              return p.number + 1 < n ? batch_part{p.of, p.number + 1}
                                      : first_part(batch_after(*of, p.of->at));
            },
            [of = from_, n = parts_](const batch_part& p) {
              if (p.of->at.record == 0) of->require_batch(p.of->at.epoch);
              of->build(*p.of, p.number, n);
              if (p.number == 0) p.of->next = batch_after(*of, p.of->at);
              return p.of;
            }) {
    seek({});
  }
  host_batch& batch() override {
    if (batch_ == nullptr) try {
        for (index_t k = 0; k < parts_; ++k) batch_ = ahead_.get();
      } catch (...) {
        batch_ = std::make_shared<host_batch>(at_);
        batch_->fail(at_.record, current_text());
      }
    return *batch_;
  }
  bool ready() override {
    return batch_ != nullptr || ahead_.ready(parts_, [](const auto&) { return true; }) > 0;
  }
  void agree() override {
    if (agreed_ > 0) return;
    const host_batch& b = batch();
    const index_t size = everyone_->size(), all = from_->rows() * size;
    const auto is_good = [](const std::shared_ptr<host_batch>& one) { return !one->failed; };
    // What is wrong with this batch, its first row on all ranks; else how many are there, this one
    // and those that are made and good: the smallest number of all.
    const index_t mine = b.failed ? (*b.failed - b.at.record) * size + everyone_->rank()
                                  : all + 1 + ahead_.ready(parts_, is_good);
    index_t least = mine;
    const dimesh::detail::of_host numbers;
    collective::all_reduce(*everyone_, &mine, &least, 1, collective::reduction::min);
    if (least < all)
      throw error(
          dimesh::detail::text_from(everyone_->handle(), static_cast<int>(least % size), b.text));
    agreed_ = least - all;
  }
  std::shared_ptr<host_batch> take() override {
    records_ = batch_->records, at_ = batch_->next;
    --agreed_;
    return std::move(batch_);
  }
  void again() override {
    batch_.reset();
    agreed_ = 0;
    ahead_.begin(first_part(at_));
  }
  void seek(position p) override {
    at_ = from_->begin_at(p);
    again();
  }
  position at() const override { return at_; }
  index_t records() const override { return records_; }
  index_t batches_per_epoch() const override { return from_->count(at_.epoch); }

 private:
  std::shared_ptr<const host_source> from_;
  const dimesh::detail::communicator* everyone_;
  index_t parts_;
  read_ahead<batch_part, std::shared_ptr<host_batch>> ahead_;
  std::shared_ptr<host_batch> batch_;  // where it was fetched
  index_t agreed_ = 0;  // so many all ranks have, from the one on whose turn it is
  position at_;
  index_t records_ = 0;
};

DIMESH_OUTLINE inline std::unique_ptr<loading> start_loading(
    std::shared_ptr<const host_source> from, const dimesh::detail::communicator& c, int threads,
    index_t ahead) {
  require_same_records(*from, c);
  return std::make_unique<loading_ahead>(std::move(from), c, threads, ahead);
}
#endif

}  // namespace detail
}  // namespace dimesh::input
