// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a stage of an input pipeline? Something that says which record stands at which place of
// an epoch. Nothing is read before it is asked for, and nothing is remembered: the record at a
// place is a function of the stage, the epoch and the place. So a position is two integers,
// threads share stages, and all ranks see one order whatever part of it they read.
//
//   auto s = input::lines(files) | input::shuffle(7) | input::map(parse);   // s: a Stage
//   const auto pass = s.epoch(3);          // how the records come in epoch 3
//   pass(17);  pass.size();                // record 17 of it
//   pass.where(17)                         -> "line 4 of 'a.txt'": for messages
#pragma once

#include <concepts>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "dimesh/detail/config.hpp"
#include "dimesh/error.hpp"

namespace dimesh::input {

/// How records come in one epoch. Several threads may call it.
template <class P>
concept Pass = requires(const P& p, index_t i) {
  p(i);
  { p.size() } -> std::convertible_to<index_t>;
  { p.where(i) } -> std::convertible_to<std::string>;
};
/// `fixed`: all epochs are alike.
template <class S>
concept Stage = std::copy_constructible<S> && requires(const S& s, index_t e) {
  { s.epoch(e) } -> Pass;
  { S::fixed } -> std::convertible_to<bool>;
};

template <Stage S> using pass_of = decltype(std::declval<const S&>().epoch(index_t{}));
template <Stage S>
using record_of = std::remove_cvref_t<decltype(std::declval<const pass_of<S>&>()(index_t{}))>;

/// What stands right of a `|`: makes a stage of a stage.
template <class F> struct adaptor {
  F make;
};
template <class F> adaptor(F) -> adaptor<F>;

namespace detail {
/// What makes records of records: it stands before the batch.
template <class F> struct of_records : F {
  using F::operator();
  static constexpr bool takes_records = true;
};
template <class F> constexpr auto records_adaptor(F make) {
  return adaptor<of_records<F>>{{std::move(make)}};
}
template <class F> concept OfRecords = F::takes_records;
}  // namespace detail

template <Stage S, class F> auto operator|(const S& stage, const adaptor<F>& to) {
  return to.make(stage);
}
/// Adaptors join to one.
template <class F, class G> auto operator|(const adaptor<F>& first, const adaptor<G>& then) {
  return adaptor{[first, then](const auto& stage) { return first.make(stage) | then; }};
}

namespace detail {

/// Throws dimesh::error where a file that a pass reads is no longer the one that was opened. Asking
/// the system costs as much as several records: batches ask, before they read and after it.
template <class P> void require_unchanged(const P& p) {
  if constexpr (requires { p.require_unchanged(); }) p.require_unchanged();
}

template <class R> inline constexpr bool is_view = std::ranges::view<R>;
template <class... R> inline constexpr bool is_view<std::tuple<R...>> = (is_view<R> || ...);
template <class A, class B>
inline constexpr bool is_view<std::pair<A, B>> = is_view<A> || is_view<B>;
/// Are the records that S makes there as long as the R that is made of them?
template <class S, class R>
inline constexpr bool outlives = std::is_same_v<record_of<S>, R> || !is_view<R>;

/// a * b; neither is negative. Throws dimesh::error where that is more than can be counted.
inline index_t product(const char* what, index_t a, index_t b) {
  if (b > 0 && a > std::numeric_limits<index_t>::max() / b)
    throw error(std::string("input::") + what + ": " + std::to_string(a) + " times " +
                std::to_string(b) + " records are more than can be counted");
  return a * b;
}

/// A stage whose epochs are alike is its own pass: `Of` has size(), operator() and where().
template <class Of> struct source {
  static constexpr bool fixed = true;
  const Of& epoch(index_t) const { return static_cast<const Of&>(*this); }
};

[[noreturn]] inline void refuse_place(const char* what, index_t i, index_t n) {
  throw error(std::string("input: ") + what + " has no record " + std::to_string(i) + "; it has " +
              std::to_string(n));
}

/// Several epochs of a stage one after the other, from epoch `first` on, with `each` records: as
/// many as the first of them has, where nothing is said. Where they differ, up to `kept` passes are
/// made beforehand, since making one may cost more than a record. An epoch of another number of
/// records is an error, here or where its records are asked for.
template <Stage S> class passes {
  using pass = std::remove_cvref_t<pass_of<S>>;

 public:
  static constexpr index_t kept = 64;

  passes(const S& stage, index_t first, index_t count, std::optional<index_t> each = {})
      : stage_(std::make_shared<const S>(stage)), first_(first) {
    const index_t n = S::fixed ? 1 : (count < kept ? count : kept);
    for (index_t k = 0; k < n; ++k) made_.push_back(stage_->epoch(first + k));
    each_ = each ? *each : made_[0].size();
    for (const pass& p : made_) require_size(p);
    size_ = product("repeat or mixture", each_, count);
  }
  index_t size() const { return size_; }
  void require_unchanged() const {
    if (!made_.empty()) detail::require_unchanged(made_[0]);  // epochs share their files
  }
  auto operator()(index_t i) const {
    return at(i, [](const pass& p, index_t j) { return p(j); });
  }
  std::string where(index_t i) const {
    return at(i, [](const pass& p, index_t j) { return p.where(j); });
  }

 private:
  template <class F> auto at(index_t i, F f) const {
    if (i < 0 || i >= size()) refuse_place("repeat or mixture", i, size());
    const index_t k = S::fixed ? 0 : i / each_;
    if (k < static_cast<index_t>(made_.size()))
      return f(made_[static_cast<std::size_t>(k)], i % each_);
    const pass p(stage_->epoch(first_ + k));
    require_size(p);
    return f(p, i % each_);
  }
  void require_size(const pass& p) const {
    if (p.size() != each_)
      throw error("input: epochs of " + std::to_string(each_) + " and of " +
                  std::to_string(p.size()) +
                  " records follow one another; filter and pack before the shuffle");
  }
  std::shared_ptr<const S> stage_;
  index_t first_, each_ = 0, size_ = 0;
  std::vector<pass> made_;
};

}  // namespace detail

/// Records that are in memory already. T: what can be copied.
template <class T> class records : public detail::source<records<T>> {
 public:
  explicit records(std::vector<T> all)
      : all_(std::make_shared<const std::vector<T>>(std::move(all))) {}
  index_t size() const { return static_cast<index_t>(all_->size()); }
  const T& operator()(index_t i) const {
    if (i < 0 || i >= size()) detail::refuse_place("records", i, size());
    return (*all_)[static_cast<std::size_t>(i)];
  }
  std::string where(index_t i) const { return "record " + std::to_string(i); }

 private:
  std::shared_ptr<const std::vector<T>> all_;
};

/// The numbers 0 .. n-1.
class numbers : public detail::source<numbers> {
 public:
  /// Throws dimesh::error where n is negative.
  explicit numbers(index_t n) : n_(n) {
    if (n < 0) throw error("input::numbers: " + std::to_string(n) + " of them; give 0 or more");
  }
  index_t size() const { return n_; }
  index_t operator()(index_t i) const {
    if (i < 0 || i >= n_) detail::refuse_place("numbers", i, n_);
    return i;
  }
  std::string where(index_t i) const { return "number " + std::to_string(i); }

 private:
  index_t n_;
};

/// What becomes of the records that do not fill a batch.
enum class last_batch { drop, pad, fail };

/// Where a pipeline is: the next record, and the epoch that it belongs to. The same on all ranks,
/// whatever their number and the layout.
struct position {
  index_t epoch = 0, record = 0;
  bool operator==(const position&) const = default;
};

}  // namespace dimesh::input
