// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of each record, and which are left out? Functions are called by the threads that
// read ahead, several at once, in no order: they are const and share nothing that they change.
//
//   lines | input::map([](std::string_view s) { return parse(s); })
//   images | input::map(7, [](auto image, random_key k) { return crop(image, k); })
//   lines | input::filter([](std::string_view s) { return !s.empty(); }) | input::shuffle(7)
//
// A filter reads its records once, when an epoch begins or, where all epochs are alike, when it is
// made: how many are left must be known before any place is. Put it before the shuffle.
#pragma once

#include <cstdint>

#include "dimesh/io/data/wrong_pipes.hpp"
#include "dimesh/random.hpp"

namespace dimesh::input {

namespace detail {

template <Stage S, class F> struct mapped {
  static constexpr bool fixed = S::fixed;
  S inner;
  F f;

  struct pass {
    std::remove_cvref_t<pass_of<S>> inner;
    F f;
    void require_unchanged() const { detail::require_unchanged(inner); }
    index_t size() const { return inner.size(); }
    auto operator()(index_t i) const { return f(inner(i)); }
    std::string where(index_t i) const { return inner.where(i); }
  };
  pass epoch(index_t e) const { return {inner.epoch(e), f}; }
};

template <Stage S, class F> struct mapped_by_key {
  static constexpr bool fixed = false;
  S inner;
  F f;
  random_key key;

  struct pass {
    std::remove_cvref_t<pass_of<S>> inner;
    F f;
    random_key key;
    void require_unchanged() const { detail::require_unchanged(inner); }
    index_t size() const { return inner.size(); }
    auto operator()(index_t i) const {
      return f(inner(i), key.fold(static_cast<std::uint64_t>(i)));
    }
    std::string where(index_t i) const { return inner.where(i); }
  };
  pass epoch(index_t e) const {
    return {inner.epoch(e), f, key.fold(static_cast<std::uint64_t>(e))};
  }
};

/// Records of a pass by a list of their places.
template <class P> struct picked {
  P inner;
  std::shared_ptr<const std::vector<index_t>> places;
  void require_unchanged() const { detail::require_unchanged(inner); }
  index_t size() const { return static_cast<index_t>(places->size()); }
  auto operator()(index_t i) const { return inner(place(i)); }
  std::string where(index_t i) const { return inner.where(place(i)); }
  index_t place(index_t i) const {
    if (i < 0 || i >= size()) refuse_place("filter", i, size());
    return (*places)[static_cast<std::size_t>(i)];
  }
};

template <Stage S, class F> struct filtered {
  static constexpr bool fixed = S::fixed;
  using inner_pass = std::remove_cvref_t<pass_of<S>>;
  S inner;
  F keeps;
  std::shared_ptr<const std::vector<index_t>> always;  // where all epochs are alike

  filtered(const S& s, const F& f) : inner(s), keeps(f) {
    if constexpr (fixed) always = places(inner.epoch(0));
  }
  picked<inner_pass> epoch(index_t e) const {
    inner_pass p = inner.epoch(e);
    auto kept = fixed ? always : places(p);
    return {std::move(p), std::move(kept)};
  }

 private:
  std::shared_ptr<const std::vector<index_t>> places(const inner_pass& p) const {
    auto kept = std::make_shared<std::vector<index_t>>();
    for (index_t i = 0; i < p.size(); ++i)
      if (kept_at(p, i)) kept->push_back(i);
    detail::require_unchanged(p);
    return kept;
  }
  bool kept_at(const inner_pass& p, index_t i) const {
    try {
      return static_cast<bool>(keeps(p(i)));
    } catch (const std::exception& e) {
      throw error("input::filter: at " + p.where(i) + ": " + e.what());
    }
  }
};

}  // namespace detail

/// f(record) in place of each record.
template <class F> auto map(const F& f) {
  return detail::records_adaptor([=](const auto& s) {
    using before = std::remove_cvref_t<decltype(s)>;
    using fault = detail::record_fault<before, F>;
    static_assert(ok<fault>,
                  "input::map: the function takes one record, and is const: map([](const auto& "
                  "record) { ... }); with a seed in front, a random_key, too");
    if constexpr (ok<fault>)
      return detail::mapped<before, F>{s, f};
    else
      return detail::no_records{};
  });
}
/// f(record, key): the key is a function of seed, epoch and place, for random changes that every
/// restart and every layout repeats.
template <class F> auto map(std::uint64_t seed, const F& f) {
  return detail::records_adaptor([=](const auto& s) {
    using before = std::remove_cvref_t<decltype(s)>;
    using fault = detail::record_fault<before, F, random_key>;
    static_assert(ok<fault>,
                  "input::map: behind a seed, the function takes one record and a random_key, and "
                  "is const: map(7, [](const auto& record, random_key k) { ... })");
    if constexpr (ok<fault>)
      return detail::mapped_by_key<before, F>{s, f, random_key(seed)};
    else
      return detail::no_records{};
  });
}
/// The records of which `keeps` says true. What it throws comes as dimesh::error with the record's
/// place.
template <class F> auto filter(const F& keeps) {
  return detail::records_adaptor([=](const auto& s) {
    using before = std::remove_cvref_t<decltype(s)>;
    using fault = detail::record_fault<before, F>;
    static_assert(ok<fault>,
                  "input::filter: the function takes one record, is const, and says whether it "
                  "stays: filter([](const auto& record) { return true; })");
    if constexpr (ok<fault>)
      return detail::filtered<before, F>(s, keeps);
    else
      return detail::no_records{};
  });
}

}  // namespace dimesh::input
