// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How does what a stage gives get to the next one, when each rank runs its own operations only? By
// messages that the sender starts when it has them and the receiver when it will need them: one for
// each tensor, with a tag for each boundary and direction. Before the first of them goes a header:
// extents, and along which axes a value is counted once; only the sender knows them. A rank that
// fails sends an empty message wherever one is waited for, and one that says so to those who wait
// until it takes theirs: the others fail, too, and do not wait.
#pragma once

#include <memory>
#include <vector>

#include "dimesh/collective/element.hpp"
#include "dimesh/collective/staging.hpp"
#include "dimesh/pipeline/cell_run.hpp"

namespace dimesh::detail::pipeline {

/// One boundary in one direction.
struct channel {
  int tag = 0, header_tag = 1;
  std::vector<index_t> header = {};  // of all messages
  bool known = false;  // it went before the first message; where no tensor goes, nothing does

  /// Are the extents of two headers the same, wherever values count once? x: what they are of.
  static bool same_extents(const std::vector<index_t>& a, const std::vector<index_t>& b,
                           const cores& x) {
    std::size_t at = 0;
    for (const tensor_core& one : x) {
      ++at;
      for (int d = 0; d < one.facts->rank; ++d, ++at)
        if (a[at] != b[at]) return false;
    }
    return true;
  }
  static std::vector<index_t> header_of(const cores& x) {
    std::vector<index_t> all;
    for (const tensor_core& one : x) {
      all.push_back(static_cast<index_t>(one.once));
      for (int d = 0; d < one.facts->rank; ++d) all.push_back(one.extent(d));
    }
    return all;
  }
};

/// Messages under way, and the tensors that they read or write.
struct transfer {
  collective::requests under_way;
  cores tensors;
  int other = -1;  // the coordinate that they go to
};

/// The messages of one rank along the pipeline's axis. (A rehearsal, forecast.hpp, sends none.)
class messenger {
 public:
  index_t messages = 0, bytes = 0;  ///< sent, without headers

  messenger(const void* object, const grid_state& g, int axis, bool waits)
      : object_(object),
        grid_(&g),
        along_(&g.along(1u << axis)),
        failed_tag_(along_->next_tag()),
        waits_(waits) {}
  /// One that sends nothing, and so asks for no communicator, which all would have to make.
  messenger(const void* object, const grid_state& g, bool waits)
      : object_(object), grid_(&g), waits_(waits) {}
  virtual ~messenger() = default;

  /// Begins to send tensors to a coordinate. They stay until what it gives is settled.
  virtual std::unique_ptr<transfer> send(channel& c, int to, const cores& x, int micro) {
    const std::vector<index_t> header = channel::header_of(x);
    auto sent = std::make_unique<transfer>();
    transfer& t = *sent;
    t.tensors = x;
    t.other = to;
    if (!c.known && !header.empty()) {
      c.header = header;
      c.known = true;
      const auto kept = std::make_shared<const std::vector<index_t>>(header);
      t.under_way.keep(kept);
      check(MPI_Isend(kept->data(), static_cast<int>(kept->size()), MPI_INT64_T, to, c.header_tag,
                      along_->handle(), t.under_way.add()),
            call);
    } else if (c.header != header) {
      refuse_header(c, header, x, micro);
    }
    for (tensor_core& one : t.tensors) {
      refuse_ragged(one);
      begin(one, to, c.tag, true, t.under_way);
      ++messages, bytes += one.bytes();
    }
    if (waits_) settle(sent);
    return sent;
  }
  bool waits() const { return waits_; }
  /// Can a receive begin before it is needed?
  bool knows(const channel& c) const { return !waits_ && c.known; }
  /// Begins to receive tensors with these facts from a coordinate.
  virtual std::unique_ptr<transfer> receive(channel& c, int from, const cores& like) {
    auto t = std::make_unique<transfer>();
    std::size_t numbers = 0;
    for (const tensor_core& one : like) numbers += 1 + static_cast<std::size_t>(one.facts->rank);
    if (!c.known && numbers > 0) {
      c.header.resize(numbers);
      c.known = true;
      const waiting here(call);
      MPI_Status status;
      check(MPI_Recv(c.header.data(), static_cast<int>(numbers), MPI_INT64_T, from, c.header_tag,
                     along_->handle(), &status),
            call);
      int come = 0;
      MPI_Get_count(&status, MPI_BYTE, &come);
      if (come == 0) refuse_to_wait();
    }
    const index_t* at = c.header.data();
    for (const tensor_core& one : like) {
      tensor_core x(one.facts);
      const auto once = static_cast<unsigned>(*at++);
      x.make_on(object_, *grid_, at, storage{});
      x.once = once;
      at += one.facts->rank;
      begin(x, from, c.tag, false, t->under_way);
      t->tensors.push_back(std::move(x));
    }
    return t;
  }
  static cores arrive(transfer& t) {
    if (!t.under_way.wait_for_all(call)) refuse_to_wait();
    return std::move(t.tensors);
  }
  /// Tags for messages that this run alone receives. All ranks along the axis ask for them.
  virtual channel open() {
    const int data = along_->next_tag();
    return {data, along_->next_tag()};
  }
  /// Says to whoever waits for messages of a channel that nothing more comes.
  virtual void give_up(const channel& c, int to) noexcept {
    send_nothing(to, c.known ? c.tag : c.header_tag);
  }
  /// Says to whoever waits until its messages are taken that nothing more is.
  virtual void take_no_more(int from) noexcept { send_nothing(from, failed_tag_); }
  /// Waits until what was sent has left, and lets go of it. An error where it will not leave,
  /// because the rank that it goes to failed.
  virtual void settle(std::unique_ptr<transfer>& t) {
    if (!t) return;
    const waiting here(call);
    for (t->under_way.progress(call); !t->under_way.done(); t->under_way.progress(call)) {
      int failed = 0;
      check(MPI_Iprobe(t->other, failed_tag_, along_->handle(), &failed, MPI_STATUS_IGNORE), call);
      if (failed) refuse_to_wait();
    }
    t->under_way.wait(call);
    t.reset();
  }
  /// Lets MPI work on what is under way.
  virtual void progress(const std::unique_ptr<transfer>& t) {
    if (t) t->under_way.progress(call);
  }

 private:
  static constexpr const char* call = "pipeline";

  /// Nobody waits for it to arrive, and perhaps nobody takes it: a request that is never started
  /// keeps the communicator, so that none gets its number later and finds the message.
  void send_nothing(int to, int tag) noexcept {
    MPI_Request keeps = MPI_REQUEST_NULL;
    MPI_Recv_init(nullptr, 0, MPI_BYTE, to, tag, along_->handle(), &keeps);
    collective::requests nothing;
    MPI_Isend(nullptr, 0, MPI_BYTE, to, tag, along_->handle(), nothing.add());
  }
  [[noreturn]] static void refuse_header(const channel& c, const std::vector<index_t>& header,
                                         const cores& x, int micro) {
    words w;
    w << "pipeline: micro-batch " << micro;
    if (channel::same_extents(c.header, header, x))
      w << " is counted once along other axes than the first; make all of them in one way";
    else
      w << " has other extents than the first; cut the batch into equal ones, or fill the "
           "last one up and mask the rows that are none";
    w.raise();
  }
  [[noreturn]] static void refuse_to_wait() {
    (words() << "pipeline: another rank of this pipeline failed, and exchanges no more messages; "
                "its own error says why")
        .raise();
  }
  static void refuse_ragged(const tensor_core& x) {
    if (x.facts->ragged != 0)
      (words() << "pipeline: a tensor with a ragged dim goes from one stage to the next; relayout "
                  "it to even blocks first")
          .raise();
  }
  void begin(tensor_core& x, int other, int tag, bool sends, collective::requests& r) const {
    const collective::wire w{x.facts->kind, x.facts->element};
    const index_t n = x.elements(), limit = (index_t{1} << 30) / w.units();
    r.keep(x.memory);
    const in_space here(x.facts->space);
    // Kernels may still write what is sent, or read what lay where it arrives.
    if constexpr (!hosts_only) Kokkos::fence();
    auto* const data = static_cast<std::byte*>(x.memory.data());
    for (index_t at = 0; at < n; at += limit) {
      const index_t part = limit < n - at ? limit : n - at;
      const auto count = static_cast<int>(part * w.units());
      std::byte* const own = data + at * w.size;
      collective::staged near(&r);
      if (!sends) {
        std::byte* const to = near.writes(own, part * w.size);
        near.bring();
        check(MPI_Irecv(to, count, w.type(), other, tag, along_->handle(),
                        r.add(collective::under_way::receive)),
              call);
        continue;
      }
      const collective::told told(event_kind::message, *along_, part * w.size);
      const std::byte* const from = near.reads(own, part * w.size);
      check(MPI_Isend(from, count, w.type(), other, tag, along_->handle(), r.add()), call);
    }
  }

  const void* object_;
  const grid_state* grid_;
  const communicator* along_ = nullptr;
  int failed_tag_ = 0;
  bool waits_;
};

}  // namespace dimesh::detail::pipeline
