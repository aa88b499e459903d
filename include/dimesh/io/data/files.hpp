// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are many files read? Opened by several threads at once, since to inflate one and to look for
// its records takes a processor's time; and some at a time, a block of records of each in turn, so
// that neighbours come from several files though none was shuffled.
//
//   const auto parts = input::open_all<input::packed>(input::glob("train-*.packed"));
//   auto s = input::interleave(parts, 4, 16);    // 16 records of each of 4 files in turn
//   auto t = input::interleave(parts);           // one file after the other
//
// Where a record stands is arithmetic on the sizes of the files: nothing is read for it, and the
// order is the same whoever opened what first.
#pragma once

#include <sched.h>
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "dimesh/io/data/stage.hpp"

namespace dimesh::input {

namespace detail {

/// The processors that this rank may use: a rank that is bound to one has one.
inline int processors() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (sched_getaffinity(0, sizeof mine, &mine) == 0) return CPU_COUNT(&mine);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// f(0) .. f(n - 1) by so many threads, the caller among them. Throws what f throws of the smallest
/// number, whichever was first.
template <class F> void for_each_by(int threads, std::size_t n, const F& f) {
  std::vector<std::exception_ptr> failed(n);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < n; i = next++) try {
        f(i);
      } catch (...) {
        failed[i] = std::current_exception();
      }
  };
  {
    std::vector<std::jthread> helpers;
    const auto wanted = std::min(static_cast<std::size_t>(threads), n);
    try {
      for (std::size_t t = 1; t < wanted; ++t) helpers.emplace_back(work);
    } catch (const std::system_error&) {}  // there are no more threads: fewer will do
    work();
  }
  for (const std::exception_ptr& e : failed)
    if (e) std::rethrow_exception(e);
}

/// 0 threads: as many as processors.
inline int threads_of(const char* what, int threads) {
  if (threads < 0)
    throw error(std::string("input::") + what + ": " + std::to_string(threads) +
                " threads; give 1 or more, or 0 for one on each processor");
  return threads == 0 ? processors() : threads;
}

/// In which order the records of sequences of these sizes come: `at_once` sequences at a time, a
/// block of each in turn as long as it has any, then the next `at_once` of them.
class turns {
 public:
  struct place {
    std::size_t sequence;
    index_t record;
  };

  turns(const std::vector<index_t>& sizes, index_t at_once, index_t block) : block_(block) {
    const std::size_t n = sizes.size();
    for (std::size_t begin = 0; begin < n;) {
      const auto more = static_cast<std::size_t>(at_once);
      const std::size_t end = more < n - begin ? begin + more : n;
      add(sizes, begin, end);
      begin = end;
    }
  }
  index_t size() const { return size_; }
  place of(index_t i) const {
    if (i < 0 || i >= size_) refuse_place("interleave", i, size_);
    const auto after = [](index_t k, const phase& p) { return k < p.first; };
    const phase& p = *(std::upper_bound(phases_.begin(), phases_.end(), i, after) - 1);
    const index_t per = p.ends.back(), round = (i - p.first) / per, at = (i - p.first) % per;
    const auto k = std::upper_bound(p.ends.begin(), p.ends.end(), at) - p.ends.begin();
    const index_t before = k == 0 ? 0 : p.ends[static_cast<std::size_t>(k) - 1];
    return {p.sequences[static_cast<std::size_t>(k)], (p.round + round) * block_ + at - before};
  }

 private:
  /// Rounds in which the same sequences give as many records each.
  struct phase {
    index_t first, round;
    std::vector<std::size_t> sequences;
    std::vector<index_t> ends;  // of their records in a round
  };

  /// Sequences begin .. end - 1, until none has any more. What each gives changes in the round in
  /// which one ends, and after it.
  void add(const std::vector<index_t>& sizes, std::size_t begin, std::size_t end) {
    std::vector<index_t> changes{0};
    for (std::size_t s = begin; s < end; ++s)
      for (const index_t r : {sizes[s] / block_, sizes[s] / block_ + 1}) changes.push_back(r);
    std::sort(changes.begin(), changes.end());
    changes.erase(std::unique(changes.begin(), changes.end()), changes.end());
    for (std::size_t c = 0; c + 1 < changes.size(); ++c) {
      phase p{size_, changes[c], {}, {}};
      index_t per = 0;
      for (std::size_t s = begin; s < end; ++s) {
        const index_t left = sizes[s] - p.round * block_;
        if (left <= 0) continue;
        per += std::min(left, block_);
        p.sequences.push_back(s);
        p.ends.push_back(per);
      }
      if (per == 0) continue;
      size_ += per * (changes[c + 1] - p.round);
      phases_.push_back(std::move(p));
    }
  }

  index_t block_, size_ = 0;
  std::vector<phase> phases_;
};

template <Stage S> struct interleaved {
  static constexpr bool fixed = S::fixed;
  using inner_pass = std::remove_cvref_t<pass_of<S>>;
  struct pass {
    std::shared_ptr<const std::vector<inner_pass>> inner;
    std::shared_ptr<const turns> order;
    void require_unchanged() const {
      for (const inner_pass& p : *inner) detail::require_unchanged(p);
    }
    index_t size() const { return order->size(); }
    auto operator()(index_t i) const {
      const auto at = order->of(i);
      return (*inner)[at.sequence](at.record);
    }
    std::string where(index_t i) const {
      const auto at = order->of(i);
      return (*inner)[at.sequence].where(at.record);
    }
  };

  interleaved(std::vector<S> all, index_t at_once, index_t block)
      : inner_(std::make_shared<const std::vector<S>>(std::move(all))),
        at_once_(at_once),
        block_(block) {
    if constexpr (fixed) always_ = made(0);
  }
  pass epoch(index_t e) const {
    if constexpr (fixed)
      return always_;
    else
      return made(e);
  }

 private:
  pass made(index_t e) const {
    std::vector<inner_pass> passes;
    std::vector<index_t> sizes;
    for (const S& s : *inner_) {
      passes.push_back(s.epoch(e));
      sizes.push_back(passes.back().size());
    }
    return {std::make_shared<const std::vector<inner_pass>>(std::move(passes)),
            std::make_shared<const turns>(sizes, at_once_, block_)};
  }
  std::shared_ptr<const std::vector<S>> inner_;
  index_t at_once_, block_;
  pass always_{};
};

}  // namespace detail

/// open(path) of every file, in their order, by so many threads at once (0: one on each processor
/// that this rank may use). Throws what the first file in order has against it.
template <class F>
auto open_all(const std::vector<std::string>& paths, const F& open, int threads = 0)
    -> std::vector<std::remove_cvref_t<decltype(open(paths[0]))>> {
  using source = std::remove_cvref_t<decltype(open(paths[0]))>;
  std::vector<std::shared_ptr<source>> opened(paths.size());
  detail::for_each_by(detail::threads_of("open_all", threads), paths.size(),
                      [&](std::size_t i) { opened[i] = std::make_shared<source>(open(paths[i])); });
  std::vector<source> all;
  for (const auto& one : opened) all.push_back(std::move(*one));
  return all;
}
/// Source(path) of every file: open_all<input::packed>(input::glob("*.packed")).
template <class Source>
std::vector<Source> open_all(const std::vector<std::string>& paths, int threads = 0) {
  return input::open_all(paths, [](const std::string& path) { return Source(path); }, threads);
}
/// The records of stages of one kind: of `at_once` of them, `block` records of each in turn as long
/// as it has any; then of the next. Every record comes once. Throws dimesh::error where a number is
/// less than 1.
template <Stage S> auto interleave(std::vector<S> stages, index_t at_once = 1, index_t block = 1) {
  if (at_once < 1 || block < 1)
    throw error("input::interleave: " + std::to_string(block) + " records of each of " +
                std::to_string(at_once) + " stages; give 1 or more of both");
  return detail::interleaved<S>(std::move(stages), at_once, block);
}

}  // namespace dimesh::input
