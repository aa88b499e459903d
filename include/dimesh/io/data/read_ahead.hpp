// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is work done ahead of who needs it? Threads take places in their order, make what belongs
// there, and wait when `ahead` of them are made and not fetched. What comes out has the order of
// the places, whichever thread was first.
//
//   read_ahead<int, std::string> r(threads, ahead, next, make);
//   r.begin(0);  r.get();  r.get();      // make(0), make(next(0))
//   r.begin(7);                          // what was made is thrown away
//
// Without threads everything is made when it is fetched.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "dimesh/detail/config.hpp"

namespace dimesh::input::detail {

/// `next(place)` is called under a lock, `make(place)` by several threads at once. Both may throw:
/// get() throws it then, and again until begin() is called.
template <class Place, class T> class read_ahead {
 public:
  using next_type = std::function<Place(const Place&)>;
  using make_type = std::function<T(const Place&)>;

  read_ahead(int threads, index_t ahead, next_type next, make_type make)
      : next_(std::move(next)), make_(std::move(make)), ahead_(static_cast<std::size_t>(ahead)) {
    try {
      for (int t = 0; t < threads; ++t) workers_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // fewer will do, and none: get() makes it then
    }
  }
  read_ahead(const read_ahead&) = delete;
  read_ahead& operator=(const read_ahead&) = delete;
  ~read_ahead() {
    {
      const std::lock_guard here(lock_);
      ends_ = true;
    }
    room_.notify_all();
    for (std::thread& w : workers_) w.join();
  }

  /// What is fetched next belongs to `place`.
  void begin(const Place& place) {
    {
      const std::lock_guard here(lock_);
      slots_.clear();
      cursor_ = place;
    }
    room_.notify_all();
  }
  /// Of groups of n of them: how many are made, from the first on, so that get() waits for none and
  /// throws for none, and of what good(the last one) holds.
  template <class F> index_t ready(index_t n, const F& good) {
    const std::lock_guard here(lock_);
    index_t made = 0;
    for (const auto& s : slots_) {
      if (!s->done || s->failed) break;
      if (++made % n == 0 && !good(*s->made)) return made / n - 1;
    }
    return made / n;
  }
  /// Waits for what belongs to the place whose turn it is.
  T get() {
    std::unique_lock here(lock_);
    if (workers_.empty() && slots_.empty()) {
      const auto mine = claim();
      here.unlock();
      fill(*mine);
      here.lock();
    }
    ready_.wait(here, [this] { return !slots_.empty() && slots_.front()->done; });
    const std::shared_ptr<slot> front = slots_.front();
    if (front->failed) std::rethrow_exception(front->failed);
    slots_.pop_front();
    // Who sleeps because all is made is woken for several: to wake costs more than to make much.
    const bool few = slots_.size() <= ahead_ / 2;
    here.unlock();
    if (few) room_.notify_one();
    return std::move(*front->made);
  }

 private:
  struct slot {
    std::optional<Place> place;
    std::optional<T> made;
    std::exception_ptr failed;
    bool done = false;
  };

  /// Under the lock: the next place has a slot at the end of the queue.
  std::shared_ptr<slot> claim() {
    auto s = std::make_shared<slot>();
    s->place = *cursor_;
    slots_.push_back(s);
    try {
      cursor_ = next_(*s->place);
    } catch (...) {
      s->failed = std::current_exception();
      cursor_.reset();  // nobody knows what comes after it
    }
    return s;
  }
  void fill(slot& s) {
    std::optional<T> made;
    std::exception_ptr failed = s.failed;
    if (!failed) try {
        made.emplace(make_(*s.place));
      } catch (...) {
        failed = std::current_exception();
      }
    {
      const std::lock_guard here(lock_);
      s.made = std::move(made);
      s.failed = failed;
      s.done = true;
    }
    ready_.notify_all();
  }
  /// Who is woken takes the processor of who woke it, or so Linux does, and a training step would
  /// stand still while batches are made that it does not need yet. Not so where a thread asks for
  /// no more than its share.
  static void be_modest() {
#ifdef SCHED_BATCH
    const sched_param none{};
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);  // where it may not, it goes on
#endif
  }
  void work() {
    be_modest();
    for (;;) {
      std::unique_lock here(lock_);
      room_.wait(here, [this] { return ends_ || (cursor_ && slots_.size() < ahead_); });
      if (ends_) return;
      const auto mine = claim();
      here.unlock();
      fill(*mine);
    }
  }

  next_type next_;
  make_type make_;
  std::size_t ahead_;
  std::mutex lock_;
  std::condition_variable room_, ready_;
  std::deque<std::shared_ptr<slot>> slots_;  // in the order of places
  std::optional<Place> cursor_;
  bool ends_ = false;
  std::vector<std::thread> workers_;  // last: they use all of the above
};

}  // namespace dimesh::input::detail
