// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Right programs that are written in other ways than the tutorial's compile, and give the right
// numbers: tensors as values in whatever C++ holds, moves, compares and hands on values.
// ranks: 1 2 4
#include <doctest/doctest.h>
#include <dimesh/dimesh.hpp>
#include <dimesh/op/logic.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace {
namespace dm = dimesh;

struct batch : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct length : dm::dim<> {};
struct rows : dm::axis<> {};
struct line : dm::mesh<rows> {};
using by_batch = dm::layout<line, dm::split<batch, rows>>;
using activations = dm::tensor<float, by_batch, batch, hidden>;
using bias = dm::tensor<float, by_batch, hidden>;

/// The sum of all elements on every rank, whatever the layout.
template <class X> auto total(const X& x) { return dm::value(dm::complete(dm::sum(x))); }
activations ones(const dm::grid<line>& g) { return dm::constant<activations>(g, 1.0f); }
activations counted(const dm::grid<line>& g) {
  return dm::generate<activations>(
      g, [](dm::index_t i, dm::index_t j) { return static_cast<float>(4 * i + j); });
}

TEST_CASE("const: grids, tensors, references, functions, results") {
  const dm::grid<line> g;
  const auto x = ones(g);
  const auto& same = x;
  auto&& any = x;
  const auto y = same + any;
  const auto f = [](const auto& a) { return dm::square(a); };
  CHECK(total(f(y)) == 128);
  const auto s = dm::sum<batch>(y);
  const auto all = dm::complete(s);
  CHECK(total(all) == 64);
  const bias& b = all;
  CHECK(dm::value(dm::max<hidden>(b)) == 16);
  const auto* pointer = &b;
  CHECK(total(*pointer * 2) == 128);
}

TEST_CASE("containers: vector, deque, array, map, optional, variant, pointers") {
  const dm::grid<line> g;
  std::vector<activations> all;
  for (int i = 0; i < 3; ++i) all.push_back(dm::constant<activations>(g, float(i)));
  all.emplace_back(ones(g) * 3);
  all.insert(all.begin(), ones(g));
  CHECK(total(std::accumulate(all.begin() + 1, all.end(), all.front())) == 7 * 32);
  std::deque<bias> last(2, dm::constant<bias>(g, 1));
  last.push_front(dm::zeros<bias>(g));
  last.pop_back();
  CHECK(total(last.back() - last.front()) == 4);
  std::map<std::string, activations> named{{"one", ones(g)}};
  named["two"] = named.at("one") + named["one"];
  named.try_emplace("three", named["two"] + 1);
  CHECK(total(named["three"]) == 96);
  std::unordered_map<int, bias> numbered;
  numbered.emplace(3, dm::constant<bias>(g, 2));
  CHECK(total(numbered.at(3)) == 8);
  std::array<activations, 2> two{ones(g), ones(g)};
  two[1] = two[0] + two[1];
  CHECK(total(two[1]) == 64);
  std::variant<bias, activations> either = dm::constant<bias>(g, 1);
  CHECK(std::visit([](const auto& x) { return total(x); }, either) == 4);
  either = ones(g);
  CHECK(std::visit([](const auto& x) { return total(x); }, either) == 32);
  auto owned = std::make_unique<activations>(ones(g));
  const std::shared_ptr<const activations> shared = std::move(owned);
  CHECK(total(*shared) == 32);
}

TEST_CASE("optional: absent, present, replaced") {
  const dm::grid<line> g;
  std::optional<bias> b;
  const auto shifted = [&](const activations& x) { return b ? x + *b : x; };
  CHECK(total(shifted(ones(g))) == 32);
  b = dm::constant<bias>(g, 1);
  CHECK(total(shifted(ones(g))) == 64);
  b.emplace(dm::constant<bias>(g, 2));
  CHECK(total(shifted(ones(g))) == 96);
  CHECK(total(b.value_or(dm::zeros<bias>(g))) == 8);
  b.reset();
  CHECK(total(b.value_or(dm::zeros<bias>(g))) == 0);
}

TEST_CASE("moves: swap, exchange, move-only holders, moved arguments and returns") {
  const dm::grid<line> g;
  auto x = ones(g), y = ones(g) * 2;
  std::swap(x, y);
  CHECK(total(x) == 64);
  using std::swap;
  swap(x, y);
  CHECK(total(x) == 32);
  const auto old = std::exchange(x, y + y);
  CHECK(total(old) == 32);
  CHECK(total(x) == 128);
  struct holder {
    explicit holder(activations v) : kept(std::move(v)) {}
    holder(holder&&) = default;
    holder& operator=(holder&&) = default;
    activations kept;
  };
  holder a(std::move(x)), b(ones(g));
  b = std::move(a);
  CHECK(total(b.kept) == 128);
  const auto sink = [](activations v) {
    return dm::map([](float e) { return e + 1; }, std::move(v));
  };
  CHECK(total(sink(std::move(b.kept))) == 128 + 32);
  b.kept = ones(g);  // what was moved from may be given another value
  CHECK(total(b.kept) == 32);
  b.kept = b.kept * 2 + b.kept;
  CHECK(total(b.kept) == 96);
}

TEST_CASE("tuples, pairs and structured bindings") {
  const dm::grid<line> g;
  const std::pair both{ones(g), dm::constant<bias>(g, 1)};
  const auto& [x, b] = both;
  CHECK(total(x + b) == 64);
  const auto halves = [](const auto& v) { return std::tuple(v * 0.5f, v - v * 0.5f); };
  auto [left, right] = halves(x);
  CHECK(total(left + right) == 32);
  activations again;
  std::tie(again, std::ignore) = halves(x);
  CHECK(total(again) == 16);
  CHECK(std::apply([](const auto&... v) { return (total(v) + ...); }, halves(x)) == 32);
}

TEST_CASE("expressions: ternaries, temporaries, early returns, parentheses, compound assignment") {
  const dm::grid<line> g;
  const auto x = ones(g);
  const bool twice = g.ranks() > 0;
  CHECK(total(twice ? x + x : x) == 64);
  const auto pick = [&](int n) {
    if (n == 0) return dm::zeros<activations>(g);
    if (n < 0) return -x;
    return x * static_cast<float>(n);
  };
  CHECK(total(pick(0) + pick(-1) + pick(3)) == 64);
  CHECK(dm::value(dm::complete(dm::sum(dm::square(ones(g) * 2 - 1)))) == 32);
  auto y = ones(g);
  y += x;
  (y *= 2) -= x;
  y /= 3.0f;
  CHECK(total(y) == 32);
  activations z;
  z = x;
  z += dm::constant<bias>(g, 1);
  CHECK(total(z) == 64);
  const auto sign =
      dm::map([](float v) { return v > 2   ? 1.0f
                                   : v < 2 ? -1.0f
                                           : 0.0f; }, counted(g));
  CHECK(total(sign) == 29 - 2);
  CHECK(total(dm::map([](auto v) { return v > 2 ? v : v * 0; }, counted(g))) == 496 - 3);
}

TEST_CASE("algorithms and ranges over tensors") {
  const dm::grid<line> g;
  std::vector<activations> all(5);
  std::ranges::generate(all, [&, i = 0]() mutable { return ones(g) * float(++i); });
  const auto less = [](const auto& a, const auto& b) { return total(a) > total(b); };
  std::ranges::sort(all, less);
  CHECK(total(all.front()) == 5 * 32);
  const auto most = std::ranges::max_element(all, {}, [](const auto& a) { return total(a); });
  CHECK(total(*most) == 5 * 32);
  std::vector<bias> sums;
  std::ranges::transform(all, std::back_inserter(sums),
                         [](const auto& a) { return dm::complete(dm::sum<batch>(a)); });
  CHECK(total(std::reduce(sums.begin(), sums.end(), dm::zeros<bias>(g), std::plus<>{})) == 480);
  float seen = 0;
  for (const auto& x : all | std::views::filter([](const auto& a) { return total(a) > 64; }) |
                           std::views::transform([](const auto& a) { return a * 2; }))
    seen += total(x);
  CHECK(seen == 2 * 12 * 32);
  std::rotate(all.begin(), all.begin() + 1, all.end());
  CHECK(total(all.back()) == 5 * 32);
  all.erase(all.begin(), all.begin() + 4);
  CHECK(all.size() == 1);
}

TEST_CASE("functions: pointers, std::function, bind, explicit template arguments, recursion") {
  const dm::grid<line> g;
  activations (*make)(const dm::grid<line>&) = ones;
  const std::function<activations(const activations&)> twice = [](const auto& x) { return x * 2; };
  CHECK(total(twice(make(g))) == 64);
  const auto sum_over = []<class... D>(const auto& x) { return dm::complete(dm::sum<D...>(x)); };
  CHECK(dm::value(sum_over.template operator()<batch, hidden>(ones(g))) == 32);
  CHECK(total(sum_over.operator()<batch>(ones(g))) == 32);
  const auto power = [](const auto& self, const activations& x, int n) -> activations {
    return n == 1 ? x : x * self(self, x, n - 1);
  };
  CHECK(total(power(power, ones(g) * 2, 3)) == 256);
  const auto minus = std::bind_front(std::minus<>{}, ones(g) * 3);
  CHECK(total(minus(ones(g))) == 64);
  const auto composed = [](auto... f) { return [=](auto x) { return ((x = f(x)), ...); }; };
  CHECK(total(composed([](const auto& x) { return x + 1; },
                       [](const auto& x) { return x * 3; })(ones(g))) == 192);
  int calls = 0;
  std::function<activations()> lazy = [&, made = std::optional<activations>()]() mutable {
    if (!made) ++calls, made = ones(g);
    return *made;
  };
  CHECK(total(lazy() + lazy()) == 64);
  CHECK(calls == 1);
}

TEST_CASE("elements: bool, int, short names of types, mixed numbers, no elements at all") {
  const dm::grid<line> g;
  using mask = dm::tensor<bool, by_batch, batch, hidden>;
  const mask high = counted(g) >= 16;
  CHECK(total(dm::cast<int>(high)) == 16);
  CHECK(total(dm::select(high, counted(g), 0)) == 376);
  CHECK(total(dm::cast<int>(dm::logical_and(high, dm::logical_not(counted(g) > 30)))) == 15);
  const auto ids = dm::generate<dm::tensor<int, by_batch, batch>>(
      g, [](dm::index_t i) { return static_cast<int>(i); });
  CHECK(total(ids / 2) == 12);
  CHECK(total(2 * ones(g) + 1 - 0.5f) == 80);
  CHECK(total(1 / (ones(g) * 4)) == 8);
  using open = dm::layout<line, dm::split<dm::uneven<length>, rows>>;
  const auto none = dm::zeros<dm::tensor<float, open, length, hidden>>(g, length{0});
  CHECK(total(none + none) == 0);
  CHECK(total(dm::complete(dm::sum<length>(dm::exp(none)))) == 0);
  const dm::tensor<float, dm::layout<line>, length> nothing(g, length{0});
  CHECK(nothing.local_size() == 0);
  CHECK(total(nothing) == 0);
}
}  // namespace
