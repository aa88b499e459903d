// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do ranks that wait for one another in a checked build learn why? By small notices on a
// communicator of their own, which nobody waits for inside MPI: each rank can ask the others what
// they are doing, and answers while it waits itself; one that has come to the end of the program
// says so.
//
//   board::start();                        // collective over MPI_COMM_WORLD; by the runtime
//   board* b = board::here();              // null where nobody started it
//   b->send(to, {...}, "text");   b->poll();   b->take(...)
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "dimesh/detail/extent_history.hpp"
#include "dimesh/detail/mpi.hpp"
#include "dimesh/ledger/timeline.hpp"

namespace dimesh::detail {

/// What a rank is about to do, as others compare it. Texts are cut to fit.
struct errand {
  std::int64_t count = 0;
  std::uint64_t operands = 0;  // a hash of the layouts and extents of the operation's operands
  std::int64_t place = 0;      // communicating calls of this rank so far; told, not compared
  std::uint32_t element = 0;   // kind << 16 | bytes
  std::uint32_t tag = 0;       // messages of the communicator so far
  std::uint64_t kept = 0;      // which blocks this rank's local operations took, and a hash of
  std::uint64_t values = 0;    // them: compared where `kept` is the same
  past_extents extents;  // of all tensors that went into the operands: compared dim by dim
  char call[40] = "", within[40] = "", along[40] = "", phase[40] = "";
};
inline void put_text(char (&to)[40], std::string_view from) {
  const std::size_t n = from.size() < 39 ? from.size() : 39;
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
  to[n] = 0;
}

enum class notice_kind : std::int32_t { errand, verdict, question, answer, left };

struct notice_head {
  notice_kind kind = notice_kind::errand;
  std::int32_t from = 0;   // rank of the board
  std::uint64_t key = 0;   // of the group that meets
  std::uint64_t turn = 0;  // of its meetings
};
struct notice {
  notice_head head;
  errand what;
  std::string text;
};

/// One for a process. Threads may use it at the same time.
class board {
 public:
  static board* here() { return slot(); }
  /// Collective over MPI_COMM_WORLD. It ends when MPI does.
  static void start() {
    if (slot() == nullptr) slot() = new board;
  }
  /// The same by the first grid, where no runtime has done so: if all ranks make it.
  static void start_over(MPI_Comm comm) {
    int size = 0, all = 0;
    if (slot() != nullptr) return;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    if (size == all) start();
  }
  board(const board&) = delete;
  board& operator=(const board&) = delete;

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Seconds that ranks wait for one another before they ask why; 0: for ever.
  double patience() const { return patience_; }
  std::int64_t next_place() {
    const std::lock_guard here(lock_);
    return ++place_;
  }

  void send(int to, notice_kind kind, std::uint64_t key, std::uint64_t turn, const errand& what,
            const std::string& text = {}) {
    const std::lock_guard here(lock_);
    letter& l = letters_.emplace_back();
    const notice_head head{kind, rank_, key, turn};
    l.bytes.resize(sizeof head + sizeof what + text.size());
    std::memcpy(l.bytes.data(), &head, sizeof head);
    std::memcpy(l.bytes.data() + sizeof head, &what, sizeof what);
    std::memcpy(l.bytes.data() + sizeof head + sizeof what, text.data(), text.size());
    PMPI_Isend(l.bytes.data(), static_cast<int>(l.bytes.size()), MPI_BYTE, to, 0, comm_,
               &l.request);
  }
  /// Takes in what has come, answers questions, lets go of what has been sent.
  void poll() {
    const std::lock_guard here(lock_);
    for (auto l = letters_.begin(); l != letters_.end();) {
      int done = 0;
      PMPI_Test(&l->request, &done, MPI_STATUS_IGNORE);
      l = done ? letters_.erase(l) : std::next(l);
    }
    for (;;) {
      int there = 0, bytes = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      PMPI_Improbe(MPI_ANY_SOURCE, 0, comm_, &there, &message, &status);
      if (!there) return;
      PMPI_Get_count(&status, MPI_BYTE, &bytes);
      std::vector<char> in(static_cast<std::size_t>(bytes));
      PMPI_Mrecv(in.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
      notice n;
      std::memcpy(&n.head, in.data(), sizeof n.head);
      std::memcpy(&n.what, in.data() + sizeof n.head, sizeof n.what);
      n.text.assign(in.begin() + sizeof n.head + sizeof n.what, in.end());
      sort_in(std::move(n));
    }
  }
  /// The notice of a kind for a meeting, if it has come: from rank `from` (-1: any).
  bool take(notice_kind kind, std::uint64_t key, std::uint64_t turn, int from, notice& out) {
    const std::lock_guard here(lock_);
    for (auto n = mail_.begin(); n != mail_.end(); ++n)
      if (n->head.kind == kind && n->head.key == key && n->head.turn == turn &&
          (from < 0 || n->head.from == from)) {
        out = std::move(*n);
        mail_.erase(n);
        return true;
      }
    return false;
  }
  /// The notice that somebody will send, or has sent, is thrown away when it is there.
  void ignore(notice_kind kind, std::uint64_t key, std::uint64_t turn, int from) {
    const std::lock_guard here(lock_);
    if (notice there; take(kind, key, turn, from, there)) return;
    ignored_.push_back({kind, from, key, turn});
  }
  /// Errands of meetings of this group that are over, and answers, are thrown away.
  void forget(std::uint64_t key, std::uint64_t turn) {
    const std::lock_guard here(lock_);
    mail_.remove_if([&](const notice& n) { return n.head.key == key && n.head.turn <= turn; });
  }
  bool has_left(int rank) const { return !farewell(rank).empty(); }
  /// By value, as other threads may take in another.
  std::string farewell(int rank) const {
    const std::lock_guard here(lock_);
    return farewell_[static_cast<std::size_t>(rank)];
  }
  /// What this rank tells those who ask; empty: it is in no call.
  void set_status(std::string text) {
    const std::lock_guard here(lock_);
    status_ = std::move(text);
  }
  void ask(int rank) {
    const std::lock_guard here(lock_);
    answers_[static_cast<std::size_t>(rank)].clear();
    send(rank, notice_kind::question, 0, 0, {});
  }
  std::string answer(int rank) const {
    const std::lock_guard here(lock_);
    return answers_[static_cast<std::size_t>(rank)];
  }

  /// Waits a little: without sleep at first, so that a meeting of ranks that are there is short.
  static void rest(double since) {
    if (timeline::now() - since < 2e-4)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }

  /// Tells all others that this rank makes no more calls, and waits until they have said the same,
  /// as MPI_Finalize would; but here it answers those who ask.
  void leave() {
    const bool throwing = std::uncaught_exceptions() > 0;
    char text[120];
    std::snprintf(text, sizeof text, "has come to the end of the program%s, after %lld calls",
                  throwing ? " by an exception" : "", static_cast<long long>(place_));
    set_status(text);
    for (int r = 0; r < size_; ++r)
      if (r != rank_) send(r, notice_kind::left, 0, 0, {}, text);
    const double since = timeline::now();
    bool told = patience_ <= 0;
    for (bool all = false; !all;) {
      poll();
      all = letters_.empty();
      std::string missing;
      for (int r = 0; r < size_; ++r)
        if (r != rank_ && !has_left(r)) all = false, missing += " " + std::to_string(r);
      if (all) break;
      if (!told && timeline::now() - since > patience_) {
        std::fprintf(stderr,
                     "dimesh: rank %d: has waited %g s at the end of the program; not there yet: "
                     "ranks%s\n",
                     rank_, patience_, missing.c_str());
        told = true;
      }
      rest(since);
    }
    PMPI_Comm_free(&comm_);
    slot() = nullptr;
  }

 private:
  struct letter {
    std::vector<char> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  board() {
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    PMPI_Comm_rank(comm_, &rank_);
    PMPI_Comm_size(comm_, &size_);
    farewell_.resize(static_cast<std::size_t>(size_));
    answers_.resize(static_cast<std::size_t>(size_));
    if (const char* text = std::getenv("DIMESH_TIMEOUT")) patience_ = std::atof(text);
    // What MPI_Finalize does first: MPI still works then, whoever started it.
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &board::on_finalize, &key, nullptr);
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, this);
  }
  static int on_finalize(MPI_Comm, int, void* value, void*) {
    auto* const b = static_cast<board*>(value);
    b->leave();
    delete b;
    return MPI_SUCCESS;
  }
  static board*& slot() {
    static board* it = nullptr;
    return it;
  }
  void sort_in(notice n) {
    const auto from = static_cast<std::size_t>(n.head.from);
    switch (n.head.kind) {
      case notice_kind::question:
        return send(n.head.from, notice_kind::answer, 0, 0, {}, status_);
      case notice_kind::answer:
        answers_[from] = std::move(n.text);
        return;
      case notice_kind::left:
        farewell_[from] = std::move(n.text);
        return;
      case notice_kind::errand:
      case notice_kind::verdict:
        if (!is_ignored(n.head)) mail_.push_back(std::move(n));
    }
  }
  bool is_ignored(const notice_head& head) {
    for (auto i = ignored_.begin(); i != ignored_.end(); ++i)
      if (i->kind == head.kind && i->key == head.key && i->turn == head.turn &&
          i->from == head.from) {
        ignored_.erase(i);
        return true;
      }
    return false;
  }

  mutable std::recursive_mutex lock_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  double patience_ = 60;
  std::int64_t place_ = 0;
  std::list<letter> letters_;
  std::list<notice> mail_;
  std::list<notice_head> ignored_;
  std::string status_;
  std::vector<std::string> farewell_, answers_;
};

}  // namespace dimesh::detail
