// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do batches come one after the other, whatever tensors they are for? Made ahead, in the memory
// of the host; what a loader (prefetch.hpp) has below its types.
//
//   auto l = start_loading(source, everyone, threads, ahead);
//   host_batch& b = l->batch();     // the one whose turn it is
//   l->agree();                     // collective: all ranks have it, or all throw
//   l->take();  l->again();         // goes on to the next; tries it once more
#pragma once

#include <deque>

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
  /// Throws dimesh::error on all ranks where one could not make it: what that one says. Where
  /// batches are made ahead, ranks ask each other once for several of them: those that meet at each
  /// step wait for each other there. Collective.
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
inline position batch_after(const host_source& from, const position& p) {
  return from.normal({p.epoch, p.record + from.rows()});
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
        together_(threads > 0 && c.size() > 1 ? std::max<index_t>(1, ahead / 2) : 1),
        ahead_(
            threads, (ahead - together_ + 1) * parts_,
            [of = from_, n = parts_](const batch_part& p) {
              return p.number + 1 < n ? batch_part{p.of, p.number + 1}
                                      : first_part(batch_after(*of, p.of->at));
            },
            [of = from_, n = parts_](const batch_part& p) {
              of->build(*p.of, p.number, n);
              if (p.number == 0) p.of->next = batch_after(*of, p.of->at);
              return p.of;
            }) {
    seek({});
  }
  host_batch& batch() override {
    if (made_.empty()) fetch();
    return *made_.front();
  }
  bool ready() override { return !made_.empty() || ahead_.has(parts_); }
  void agree() override {
    if (agreed_ > 0) return;
    const index_t n = is_first_ ? 1 : together_;  // the first one is there as soon as may be
    while (static_cast<index_t>(made_.size()) < n && (made_.empty() || !made_.back()->failed))
      fetch();
    std::optional<index_t> place;  // of the first row that failed, as places go on from here
    const host_batch* bad = nullptr;
    for (index_t k = 0; bad == nullptr && k < static_cast<index_t>(made_.size()); ++k)
      if (const host_batch& b = *made_[static_cast<std::size_t>(k)]; b.failed)
        place = k * from_->rows() + *b.failed - b.at.record, bad = &b;
    const auto first = first_place(*everyone_, place);
    const index_t good = first ? first->place / from_->rows() : n;
    if (good == 0)
      throw error(dimesh::detail::text_from(everyone_->handle(), first->rank,
                                            bad != nullptr ? bad->text : std::string()));
    agreed_ = good;
    is_first_ = false;
  }
  std::shared_ptr<host_batch> take() override {
    const auto taken = std::move(made_.front());
    made_.pop_front();
    --agreed_;
    records_ = taken->records, at_ = taken->next;
    return taken;
  }
  void again() override {
    made_.clear();
    agreed_ = 0;
    is_first_ = true;
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
  /// Waits for one more.
  void fetch() {
    const position here = made_.empty() ? at_ : made_.back()->next;
    std::shared_ptr<host_batch> one;
    try {
      for (index_t k = 0; k < parts_; ++k) one = ahead_.get();
    } catch (...) {
      one = std::make_shared<host_batch>(here);
      one->fail(here.record, current_text());
    }
    made_.push_back(std::move(one));
  }

  std::shared_ptr<const host_source> from_;
  const dimesh::detail::communicator* everyone_;
  index_t parts_;
  index_t together_;  // for so many at a time ranks ask each other
  read_ahead<batch_part, std::shared_ptr<host_batch>> ahead_;
  std::deque<std::shared_ptr<host_batch>> made_;  // fetched; the first one's turn it is
  index_t agreed_ = 0;  // so many of them all ranks have
  bool is_first_ = true;
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
