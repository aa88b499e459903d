// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order do records come, and which of them? All of it is arithmetic on places: nothing is
// read, and nothing is kept in a buffer that a restart would have to restore.
//
//   files | input::shuffle(7)                  another order each epoch, all orders alike likely
//   files | input::skip(1000)                  files | input::take(1000)
//   files | input::repeat(3)                   three passes, each shuffled anew, as one epoch
//   input::zip(images, labels)                 std::tuple of the records at one place
//   input::mixture(7, {3, 1}, english, french) of any 4 records in a row from a multiple of 4 on,
//                                              3 of the first stage and 1 of the second
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>

#include "dimesh/io/data/wrong_pipes.hpp"
#include "dimesh/random/permutation.hpp"

namespace dimesh::input {

namespace detail {

template <Stage S> struct shuffled {
  static constexpr bool fixed = false;
  S inner;
  random_key key;

  struct pass {
    std::remove_cvref_t<pass_of<S>> inner;
    random_permutation order;
    void require_unchanged() const { detail::require_unchanged(inner); }
    index_t size() const { return order.size(); }
    auto operator()(index_t i) const {
      if (i < 0 || i >= size()) refuse_place("shuffle", i, size());
      return inner(order(i));
    }
    std::string where(index_t i) const { return inner.where(order(i)); }
  };
  pass epoch(index_t e) const {
    auto of = inner.epoch(e);
    const index_t n = of.size();
    return {std::move(of), random_permutation(key.fold(static_cast<std::uint64_t>(e)), n)};
  }
};

/// Records first .. first + count - 1, as far as there are any.
template <Stage S> struct part {
  static constexpr bool fixed = S::fixed;
  S inner;
  index_t first, count;

  struct pass {
    std::remove_cvref_t<pass_of<S>> inner;
    index_t first, count;
    void require_unchanged() const { detail::require_unchanged(inner); }
    index_t size() const { return count; }
    auto operator()(index_t i) const {
      if (i < 0 || i >= count) refuse_place("take or skip", i, count);
      return inner(first + i);
    }
    std::string where(index_t i) const { return inner.where(first + i); }
  };
  pass epoch(index_t e) const {
    auto of = inner.epoch(e);
    const index_t n = of.size(), begin = first < n ? first : n;
    return {std::move(of), begin, count < n - begin ? count : n - begin};
  }
};

template <Stage S> struct repeated {
  static constexpr bool fixed = S::fixed;
  S inner;
  index_t times;
  passes<S> epoch(index_t e) const { return {inner, product("repeat", e, times), times}; }
};

template <Stage... S> struct zipped {
  static constexpr bool fixed = (S::fixed && ...);
  std::tuple<S...> inner;

  struct pass {
    std::tuple<std::remove_cvref_t<pass_of<S>>...> inner;
    void require_unchanged() const {
      std::apply([](const auto&... p) { (detail::require_unchanged(p), ...); }, inner);
    }
    index_t size() const { return std::get<0>(inner).size(); }
    std::tuple<record_of<S>...> operator()(index_t i) const {
      return std::apply([i](const auto&... p) { return std::tuple<record_of<S>...>(p(i)...); },
                        inner);
    }
    std::string where(index_t i) const {
      std::string all;
      const auto add = [&](const auto& p) { all += (all.empty() ? "" : " and ") + p.where(i); };
      std::apply([&](const auto&... p) { (add(p), ...); }, inner);
      return all;
    }
  };
  pass epoch(index_t e) const {
    pass p{std::apply([e](const auto&... s) { return std::tuple(s.epoch(e)...); }, inner)};
    std::apply(
        [&](const auto&... of) {
          if (((of.size() != p.size()) || ...)) {
            std::string sizes;
            ((sizes += (sizes.empty() ? "" : ", ") + std::to_string(of.size())), ...);
            throw error("input::zip: the stages have " + sizes +
                        " records; take as many of each as the shortest has");
          }
        },
        p.inner);
    return p;
  }
};

template <Stage... S> struct mixed {
  static constexpr bool fixed = false;
  static constexpr std::size_t count = sizeof...(S);
  using record = record_of<std::tuple_element_t<0, std::tuple<S...>>>;
  static constexpr bool outlive = (outlives<S, record> && ...);
  std::tuple<S...> inner;
  random_key key;
  std::array<index_t, count> weight;

  struct pass {
    std::tuple<passes<S>...> inner;
    random_key key;
    std::array<index_t, count> weight, start;  // start: in the first pass, of this epoch
    index_t period, rounds;
    void require_unchanged() const {
      std::apply([](const auto&... p) { (detail::require_unchanged(p), ...); }, inner);
    }
    index_t size() const { return period * rounds; }
    record operator()(index_t i) const {
      return at(i, [](const auto& p, index_t j) { return record(p(j)); });
    }
    std::string where(index_t i) const {
      return at(i, [](const auto& p, index_t j) { return p.where(j); });
    }
    /// Round i / period deals weight[k] cards of stage k, in an order of its own.
    template <class F> auto at(index_t i, F f) const {
      if (i < 0 || i >= size()) refuse_place("mixture", i, size());
      const index_t round = i / period;
      index_t card = card_at(key.fold(static_cast<std::uint64_t>(round)), i % period);
      std::size_t k = 0;
      while (card >= weight[k]) card -= weight[k++];
      return of<0>(k, start[k] + round * weight[k] + card, f);
    }
    /// The card at a place of the round of this key. Decks of usual weights are shuffled by Fisher
    /// and Yates, and the last one of a thread is kept: its next record is of the same round.
    index_t card_at(random_key round, index_t place) const {
      if (period > 256) return random_permutation(round, period)(place);
      struct deck {
        random_key key;
        std::vector<index_t> cards;
      };
      static thread_local deck last{random_key(0), {}};
      if (last.key != round || static_cast<index_t>(last.cards.size()) != period) {
        last.key = round;
        last.cards.resize(static_cast<std::size_t>(period));
        std::iota(last.cards.begin(), last.cards.end(), index_t{0});
        for (std::size_t n = last.cards.size(); n > 1; --n) {
          const std::uint64_t draw = round.at(static_cast<index_t>(n)).word[0];
          std::swap(last.cards[n - 1], last.cards[draw * n >> 32]);
        }
      }
      return last.cards[static_cast<std::size_t>(place)];
    }
    template <std::size_t K, class F> auto of(std::size_t k, index_t j, F f) const {
      if constexpr (K + 1 < count)
        if (k != K) return of<K + 1>(k, j, f);
      return f(std::get<K>(inner), j);
    }
  };
  pass epoch(index_t e) const { return make(e, std::index_sequence_for<S...>{}); }

 private:
  template <std::size_t... K> pass make(index_t e, std::index_sequence<K...>) const {
    const std::array<index_t, count> n{std::get<K>(inner).epoch(0).size()...};
    index_t rounds = 0;
    for (std::size_t k = 0; k < count; ++k) {
      if (n[k] == 0) throw error("input::mixture: stage " + std::to_string(k) + " has no records");
      rounds = std::max(rounds, (n[k] - 1) / weight[k] + 1);
    }
    const index_t period = std::accumulate(weight.begin(), weight.end(), index_t{0});
    (void)product("mixture", period, rounds);
    // Stage k goes on where it ended in the epoch before.
    std::array<index_t, count> start{}, first{}, passed{};
    for (std::size_t k = 0; k < count; ++k) {
      const index_t dealt = rounds * weight[k], before = product("mixture", e, dealt);
      first[k] = before / n[k];
      start[k] = before % n[k];
      const index_t over = dealt % n[k];  // (start + dealt) / n rounded up, where sums may overflow
      passed[k] = dealt / n[k] + (start[k] > 0 || over > 0) + (over > n[k] - start[k]);
    }
    return {{passes<S>(std::get<K>(inner), first[K], passed[K], n[K])...},
            key.fold(static_cast<std::uint64_t>(e)),
            weight,
            start,
            period,
            rounds};
  }
};

inline void require_count(const char* what, index_t n, index_t least) {
  if (n < least)
    throw error(std::string("input::") + what + ": " + std::to_string(n) + " records or times; " +
                "give " + std::to_string(least) + " or more");
}

}  // namespace detail

/// Each epoch in an order of its own, drawn from all orders: a function of seed and epoch alone.
inline auto shuffle(std::uint64_t seed) {
  return detail::records_adaptor([=](const auto& s) {
    return detail::shuffled<std::remove_cvref_t<decltype(s)>>{s, random_key(seed)};
  });
}
template <class... No>
  requires(sizeof...(No) == 0)
auto shuffle() {
  static_assert(ok<wrong_arguments<No...>>,
                "input::shuffle: give the seed that each order is drawn by, so that a program that "
                "is started again has the same ones: shuffle(7)");
  return detail::records_adaptor([](const auto& s) { return s; });
}
/// The first n records, or all where there are fewer. Throws dimesh::error where n is negative.
inline auto take(index_t n) {
  detail::require_count("take", n, 0);
  return detail::records_adaptor(
      [=](const auto& s) { return detail::part<std::remove_cvref_t<decltype(s)>>{s, 0, n}; });
}
/// All but the first n records. Throws dimesh::error where n is negative.
inline auto skip(index_t n) {
  detail::require_count("skip", n, 0);
  return detail::records_adaptor([=](const auto& s) {
    return detail::part<std::remove_cvref_t<decltype(s)>>{s, n,
                                                          std::numeric_limits<index_t>::max()};
  });
}
/// n passes as one epoch; a shuffle before it gives each an order of its own. Throws dimesh::error
/// where n is less than 1, and, of an epoch, where its passes are not of one size, or its records
/// more than can be counted.
inline auto repeat(index_t n) {
  detail::require_count("repeat", n, 1);
  return detail::records_adaptor(
      [=](const auto& s) { return detail::repeated<std::remove_cvref_t<decltype(s)>>{s, n}; });
}
/// std::tuple of the records of all stages at a place. Throws dimesh::error where an epoch begins
/// and one has more records than another.
template <Stage... S>
  requires(sizeof...(S) > 0)
auto zip(const S&... stages) {
  return detail::zipped<S...>{{stages...}};
}
/// Records of several stages: of each sum(weights) of them, weights[k] of stage k, in an order
/// drawn by `seed`. An epoch ends when the longest stage (by its weight) has been seen whole;
/// shorter ones go on from their beginning, shuffled anew, and where they stopped in the next
/// epoch. Records are those of the first stage, which the others' become. Throws dimesh::error
/// where a weight is less than 1, where all together are more than can be counted, and, of an
/// epoch, where a stage is empty, or has another number of records than in its epoch 0.
template <Stage... S>
  requires(sizeof...(S) > 0)
auto mixture(std::uint64_t seed, const std::array<index_t, sizeof...(S)>& weights,
             const S&... stages) {
  static_assert(detail::mixed<S...>::outlive,
                "input::mixture: the records that a stage makes are gone before their views are "
                "read, which the first stage's records are; map those to values");
  index_t together = 0;
  for (const index_t w : weights) {
    if (w < 1) throw error("input::mixture: a weight of " + std::to_string(w) + "; give 1 or more");
    if (w > std::numeric_limits<index_t>::max() - together)
      throw error("input::mixture: weights that are together more than can be counted");
    together += w;
  }
  if constexpr (detail::mixed<S...>::outlive)
    return detail::mixed<S...>{{stages...}, random_key(seed), weights};
  else
    return detail::no_records{};
}

}  // namespace dimesh::input
