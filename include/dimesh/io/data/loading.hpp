// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do batches come one after the other, whatever tensors they are for? Made ahead, in the memory
// of the host; what a loader (prefetch.hpp) has below its types.
//
//   auto l = start_loading(source, everyone, threads, ahead);
//   host_batch b = l->get();  l->taken(b);      // or l->again(): the next get() tries the same one
#pragma once

#include "dimesh/detail/compiled.hpp"
#include "dimesh/io/data/host_batch.hpp"
#include "dimesh/io/data/read_ahead.hpp"

namespace dimesh::input {

namespace detail {

class loading {
 public:
  virtual ~loading() = default;
  virtual host_batch get() = 0;
  virtual void taken(const host_batch& b) = 0;
  virtual void again() = 0;
  virtual void seek(position p) = 0;
  /// Of the batch that get() gives next.
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
  agree(c, text.empty() ? std::optional<index_t>() : 0, text);
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

class loading_ahead final : public loading {
 public:
  loading_ahead(std::shared_ptr<const host_source> from, int threads, index_t ahead)
      : from_(std::move(from)),
        ahead_(
            threads, ahead, [of = from_](const position& p) { return batch_after(*of, p); },
            [of = from_](const position& p) {
              host_batch b = of->build(p);
              b.next = batch_after(*of, p);
              return b;
            }) {
    seek({});
  }
  host_batch get() override {
    try {
      return ahead_.get();
    } catch (...) {
      host_batch b;
      b.failed = at_.record;
      b.text = current_text();
      return b;
    }
  }
  void taken(const host_batch& b) override { records_ = b.records, at_ = b.next; }
  void again() override { ahead_.begin(at_); }
  void seek(position p) override {
    at_ = from_->begin_at(p);
    again();
  }
  position at() const override { return at_; }
  index_t records() const override { return records_; }
  index_t batches_per_epoch() const override { return from_->count(at_.epoch); }

 private:
  std::shared_ptr<const host_source> from_;
  read_ahead<position, host_batch> ahead_;
  position at_;
  index_t records_ = 0;
};

DIMESH_OUTLINE inline std::unique_ptr<loading> start_loading(
    std::shared_ptr<const host_source> from, const dimesh::detail::communicator& c, int threads,
    index_t ahead) {
  require_same_records(*from, c);
  return std::make_unique<loading_ahead>(std::move(from), threads, ahead);
}
#endif

}  // namespace detail
}  // namespace dimesh::input
