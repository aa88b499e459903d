// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is a tape still there? What another tape keeps may outlive it (a pullback that was made inside a
// recorded function, and called after its end). A tape's life is told by a number that outlives
// it: places for such numbers go back to a list when their tapes end, and are never destroyed.
//
//   life_mark m = outer.life.mark();   // while the tape is there
//   m.over()                           // later: has it ended?
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace dimesh::detail {

struct life_place {
  std::atomic<std::uint64_t> ended{0};  // tapes that had this place
  life_place* next = nullptr;
};

/// Places that no tape has.
class life_list {
 public:
  static life_list& instance() {
    static life_list* it = new life_list;  // never destroyed: marks may outlive static destructors
    return *it;
  }
  [[gnu::noinline]] life_place* take() {
    const std::lock_guard lock(mutex_);
    if (free_ == nullptr) return new life_place;
    life_place* const found = free_;
    free_ = found->next;
    return found;
  }
  [[gnu::noinline]] void give_back(life_place* p) {
    p->ended.fetch_add(1, std::memory_order_release);
    const std::lock_guard lock(mutex_);
    p->next = free_;
    free_ = p;
  }

 private:
  std::mutex mutex_;
  life_place* free_ = nullptr;
};

/// A life that may be over.
struct life_mark {
  const life_place* place = nullptr;
  std::uint64_t number = 0;
  bool over() const { return place->ended.load(std::memory_order_acquire) != number; }
  bool operator==(const life_mark&) const = default;
};

/// The life of whatever this is a member of. Takes a place when somebody asks.
class life {
 public:
  constexpr life() = default;
  life(const life&) = delete;
  life& operator=(const life&) = delete;
  constexpr ~life() {
    if (place_ != nullptr) life_list::instance().give_back(place_);
  }
  life_mark mark() {
    if (place_ == nullptr) place_ = life_list::instance().take();
    return {place_, place_->ended.load(std::memory_order_relaxed)};
  }

 private:
  life_place* place_ = nullptr;
};

}  // namespace dimesh::detail
