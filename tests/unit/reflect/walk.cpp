// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/reflect/walk.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "dimesh/error.hpp"
#include "dimesh/reflect/hana.hpp"
#include "dimesh/reflect/leaves.hpp"
#include "dimesh/reflect/lengths.hpp"
#include "dimesh/reflect/map_leaves.hpp"
#include "dimesh/reflect/paths.hpp"
#include "dimesh/shaped.hpp"

namespace {

namespace dm = dimesh;

struct batch : dm::dim<8> {};
struct hidden : dm::dim<6> {};
struct label : dm::dim<4> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<2> {};
struct pod : dm::mesh<rows, cols> {};
using hybrid = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, cols>>;

template <class L> struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (dm::tensor<float, L, batch, hidden>, w),
                           (dm::tensor<double, L, hidden>, b), (float, rate));
};
template <class L> struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (dm::tensor<float, L, label>, first), (layer<L>, inner),
                           (std::array<layer<L>, 2>, layers));
};
template <class L, int Depth> struct deep {
  BOOST_HANA_DEFINE_STRUCT(deep, (std::array<layer<L>, Depth>, at));
};
template <class L, class Kind> struct kinded {
  BOOST_HANA_DEFINE_STRUCT(kinded, (dm::tensor<float, L, batch>, x));
};

using shapes = network<dm::shaped<hybrid>>;

}  // namespace

TEST_CASE("for_each_tensor: visits every tensor once, in order, with its path") {
  std::vector<std::string> seen;
  dm::for_each_tensor(
      [&](const dm::member_path& path, const auto&) { seen.push_back(path.text()); }, shapes{});
  CHECK(seen == std::vector<std::string>{"first", "inner.w", "inner.b", "layers[0].w",
                                         "layers[0].b", "layers[1].w", "layers[1].b"});
  std::vector<std::string> names;
  dm::for_each_tensor(
      [&](const dm::member_path& path, const auto&) { names.push_back(path.name()); }, shapes{});
  CHECK(names == std::vector<std::string>{"first", "w", "b", "w", "b", "w", "b"});
}

TEST_CASE("for_each_tensor: tensors alone, tuples, arrays") {
  using x_type = dm::tensor<float, dm::shaped<hybrid>, batch>;
  std::vector<std::string> seen;
  auto note = [&](const dm::member_path& path, const auto&) { seen.push_back(path.text()); };
  dm::for_each_tensor(note, x_type{});
  dm::for_each_tensor(note, std::tuple<x_type, layer<dm::shaped<hybrid>>>{});
  dm::for_each_tensor(note, boost::hana::tuple<x_type, int, x_type>{});
  dm::for_each_tensor(note, std::array<x_type, 2>{});
  CHECK(seen == std::vector<std::string>{"", "[0]", "[1].w", "[1].b", "[0]", "[2]", "[0]", "[1]"});
}

namespace {
constexpr dm::index_t elements() {
  dm::index_t n = 0;
  dm::for_each_tensor([&](const auto&, const auto& x) { n += x.local_size(); }, shapes{});
  return n;
}
static_assert(elements() == 4 + 3 * (4 * 3 + 3));

// Two structs in step: the members correspond, and may be written.
constexpr bool in_step() {
  shapes a;
  network<dm::gradient<dm::shaped<hybrid>>> b;
  int count = 0;
  dm::for_each_tensor(
      [&](const auto&, auto& x, const auto& y) {
        using S = dm::spec_of<std::remove_cvref_t<decltype(x)>>;
        using T = dm::spec_of<std::remove_cvref_t<decltype(y)>>;
        static_assert(std::is_same_v<T, dm::detail::cotangent_spec<S>>);
        x.set_once(1);
        ++count;
      },
      a, b);
  return count == 7 && a.layers[1].b.once() == 1 && a.first.once() == 1;
}
static_assert(in_step());

template <class X, template <class> class M> using rebound = dm::rebind_layout<X, M>;
using std::is_same_v;
static_assert(is_same_v<rebound<network<hybrid>, dm::gradient>, network<dm::gradient<hybrid>>>);
static_assert(is_same_v<rebound<network<hybrid>, dm::tracked>, network<dm::tracked<hybrid>>>);
static_assert(is_same_v<rebound<shapes, dm::tracked>, network<dm::tracked<dm::shaped<hybrid>>>>);
static_assert(is_same_v<rebound<deep<hybrid, 3>, dm::shaped>, deep<dm::shaped<hybrid>, 3>>);
static_assert(is_same_v<rebound<kinded<hybrid, int>, dm::shaped>, kinded<dm::shaped<hybrid>, int>>);
using plain = dm::tensor<float, hybrid, batch, hidden>;
static_assert(is_same_v<rebound<plain, dm::gradient>,
                        dm::tensor<float, dm::gradient<hybrid>, batch, hidden>>);
static_assert(
    is_same_v<rebound<plain, dm::shaped>, dm::tensor<float, dm::shaped<hybrid>, batch, hidden>>);
static_assert(is_same_v<rebound<std::tuple<plain, float>, dm::tracked>,
                        std::tuple<dm::tensor<float, dm::tracked<hybrid>, batch, hidden>, float>>);
static_assert(is_same_v<rebound<std::array<layer<hybrid>, 2>, dm::shaped>,
                        std::array<layer<dm::shaped<hybrid>>, 2>>);
}  // namespace

namespace {
template <class L> using vector = dm::tensor<float, L, batch>;
#define MEMBERS(L) (vector<L>, a), (vector<L>, b), (vector<L>, c), (vector<L>, d)
#define MORE_MEMBERS(L) (vector<L>, e), (vector<L>, f), (vector<L>, g), (vector<L>, h)
#define AND_MORE(L) (vector<L>, i), (vector<L>, j), (vector<L>, k), (vector<L>, l)
#define AND_THESE(L) (vector<L>, m), (vector<L>, n), (vector<L>, o), (vector<L>, p)
template <class L> struct none {
  BOOST_HANA_DEFINE_STRUCT(none);
};
template <class L> struct sixteen {
  BOOST_HANA_DEFINE_STRUCT(sixteen, MEMBERS(L), MORE_MEMBERS(L), AND_MORE(L), AND_THESE(L));
};
template <class L> struct seventeen {  // more than bindings are written for
  BOOST_HANA_DEFINE_STRUCT(seventeen, MEMBERS(L), MORE_MEMBERS(L), AND_MORE(L), AND_THESE(L),
                           (vector<L>, q));
};
struct mixin {};
template <class L> struct derived : mixin {
  BOOST_HANA_DEFINE_STRUCT(derived, (vector<L>, x), (vector<L>, y));
};
template <class L> struct constructed {
  constexpr constructed() {}
  BOOST_HANA_DEFINE_STRUCT(constructed, (vector<L>, x), (vector<L>, y));
};
template <class L> using no_vectors = std::array<vector<L>, 0>;
template <class L> using two_sixteens = std::array<sixteen<L>, 2>;
template <class L> using three_nones = std::array<none<L>, 3>;
template <class L> struct mixed {
  BOOST_HANA_DEFINE_STRUCT(mixed, (no_vectors<L>, nothing), (two_sixteens<L>, two),
                           (three_nones<L>, empty), (derived<L>, tagged), (vector<L>, last));
};

/// Marks each tensor of one struct beside a constant one, and counts those that another walk finds
/// marked in the same order.
template <class S> constexpr int visits() {
  S written{};
  const S read{};
  int n = 0;
  dm::for_each_tensor(
      [&](const auto&, auto& x, auto& y) {
        static_assert(!std::is_const_v<std::remove_reference_t<decltype(x)>>);
        static_assert(std::is_const_v<std::remove_reference_t<decltype(y)>>);
        x.set_once(static_cast<unsigned>(++n));
      },
      written, read);
  int found = 0;
  dm::for_each_tensor(
      [&](const auto&, const auto& x) {
        if (x.once() == static_cast<unsigned>(found + 1)) ++found;
      },
      written);
  return found == n ? n : -1;
}
template <template <class> class S> constexpr int visits_of = visits<S<dm::shaped<hybrid>>>();
static_assert(visits_of<none> == 0);
static_assert(visits_of<sixteen> == 16);
static_assert(visits_of<seventeen> == 17);
static_assert(visits_of<derived> == 2);
static_assert(visits_of<constructed> == 2);
static_assert(visits_of<no_vectors> == 0);
static_assert(visits_of<mixed> == 32 + 2 + 1);

constexpr bool finds_the_name_of_the_last() {
  bool is_q = false;
  int n = 0;
  dm::for_each_tensor(
      [&](const auto& path, const auto&) {
        if (++n == 17) is_q = path.name()[0] == 'q' && path.name()[1] == 0;
      },
      seventeen<dm::shaped<hybrid>>{});
  return is_q;
}
static_assert(finds_the_name_of_the_last());

constexpr bool walks_references() {
  vector<dm::shaped<hybrid>> a, b;
  unsigned n = 0;
  dm::for_each_tensor([&](const auto&, auto& x) { x.set_once(++n); }, std::tie(a, b));
  return a.once() == 1 && b.once() == 2;
}
static_assert(walks_references());
}  // namespace

TEST_CASE("for_each_tensor: what stands beside a tensor need not be one") {
  sixteen<dm::shaped<hybrid>> one{};
  std::tuple<int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int> ints;
  int n = 0;
  dm::for_each_tensor([&](const auto&, const auto&, int& i) { i = ++n; }, one, ints);
  CHECK(std::get<0>(ints) == 1);
  CHECK(std::get<15>(ints) == 16);
}

TEST_CASE("for_each_tensor: structs without tensors are nothing to walk") {
  int calls = 0;
  dm::for_each_tensor([&](const auto&, const auto&) { ++calls; }, std::tuple<int, float>{});
  CHECK(calls == 0);
}

TEST_CASE(
    "build_tensors: makes every tensor in order, of types that cannot be default-constructed") {
  std::vector<std::string> seen;
  auto note = [&](const dm::member_path& path, auto t) {
    seen.push_back(path.text());
    return typename decltype(t)::type(dm::mesh_sizes<pod>{});
  };
  (void)dm::build_tensors<shapes>(note);
  CHECK(seen.size() == 7);
  CHECK(seen.back() == "layers[1].b");
  using x_type = dm::tensor<float, dm::shaped<hybrid>, batch>;
  const auto t =
      dm::build_tensors<std::tuple<int, x_type, boost::hana::tuple<x_type, float>>>(note);
  CHECK(std::get<0>(t) == 0);
  CHECK(seen.size() == 9);
  CHECK(seen.back() == "[2][0]");
}

// ---- vectors: lengths that only the run knows ---------------------------------------------------

namespace {
template <class L> struct tower {
  using experts_type = std::vector<layer<L>>;
  BOOST_HANA_DEFINE_STRUCT(tower, (dm::tensor<float, L, label>, gate), (experts_type, experts));
};
template <class L> struct city {
  using towers_type = std::vector<tower<L>>;
  using pair_type = std::array<std::vector<dm::tensor<float, L, batch>>, 2>;
  BOOST_HANA_DEFINE_STRUCT(city, (dm::tensor<float, L, label>, first), (towers_type, towers),
                           (std::vector<float>, rates), (pair_type, pair),
                           (dm::tensor<float, L, label>, last));
};
using shape_city = city<dm::shaped<hybrid>>;
static_assert(dm::detail::has_vectors<shape_city>);
static_assert(dm::detail::has_vectors<std::vector<layer<hybrid>>>);
static_assert(!dm::detail::has_vectors<std::vector<float>>);
static_assert(!dm::detail::has_vectors<std::array<std::vector<layer<hybrid>>, 0>>);
static_assert(is_same_v<rebound<city<hybrid>, dm::gradient>, city<dm::gradient<hybrid>>>);
static_assert(is_same_v<rebound<std::vector<layer<hybrid>>, dm::shaped>,
                        std::vector<layer<dm::shaped<hybrid>>>>);

/// Towers of 2 and 0 experts, pairs of 1 and 3.
shape_city uneven_city() {
  shape_city c;
  c.towers.resize(2);
  c.towers[0].experts.resize(2);
  c.rates = {1, 2};
  c.pair[0].resize(1);
  c.pair[1].resize(3);
  return c;
}
const std::vector<std::string> uneven_paths = {"first",
                                               "towers[0].gate",
                                               "towers[0].experts[0].w",
                                               "towers[0].experts[0].b",
                                               "towers[0].experts[1].w",
                                               "towers[0].experts[1].b",
                                               "towers[1].gate",
                                               "pair[0][0]",
                                               "pair[1][0]",
                                               "pair[1][1]",
                                               "pair[1][2]",
                                               "last"};

std::string text_of_error(void (*call)()) {
  try {
    call();
  } catch (const dm::error& e) {
    return e.what();
  }
  return "nothing was thrown";
}
}  // namespace

TEST_CASE("vectors: every tensor once, in order, with its path; empty ones are nothing to walk") {
  const shape_city c = uneven_city();
  std::vector<std::string> seen, names;
  dm::for_each_tensor(
      [&](const dm::member_path& path, const auto&) {
        seen.push_back(path.text());
        names.push_back(path.name());
      },
      c);
  CHECK(seen == uneven_paths);
  CHECK(names[4] == "w");
  CHECK(names[8] == "pair");
  CHECK(dm::detail::count_in(c) == 12);
  for (int i = 0; i < 12; ++i)
    CHECK(dm::path_of(c, i).text() == uneven_paths[static_cast<std::size_t>(i)]);
  int calls = 0;
  dm::for_each_tensor([&](const auto&, const auto&) { ++calls; }, std::vector<layer<hybrid>>{});
  CHECK(calls == 0);
  std::vector<layer<dm::shaped<hybrid>>> alone(3);
  dm::for_each_tensor([&](const auto&, const auto&) { ++calls; }, alone);
  CHECK(calls == 6);
}

TEST_CASE("vectors: structs in step are those of one form, and may be written") {
  const shape_city c = uneven_city();
  auto g = dm::detail::in_form_of<city<dm::gradient<dm::shaped<hybrid>>>>(c);
  unsigned n = 0;
  dm::for_each_tensor([&](const auto&, const auto&, auto& y) { y.set_once(++n); }, c, g);
  CHECK(n == 12);
  CHECK(g.towers[0].experts[1].b.once() == 6);
  CHECK(g.pair[1][2].once() == 11);
  CHECK(g.rates.empty());  // no tensors: as a default-made struct has it
  const auto same = dm::detail::in_place_of<city<dm::gradient<dm::shaped<hybrid>>>>(c);
  CHECK(same.towers[0].experts.size() == c.towers[0].experts.size());
  CHECK(same.rates == c.rates);
}

TEST_CASE("vectors of different lengths: an error that names the call, outside and inside") {
  CHECK(text_of_error([] {
          shape_city a = uneven_city(), b = uneven_city();
          b.towers.resize(3);
          dm::for_each_tensor([](auto&&...) {}, a, b);
        }) ==
        "for_each_tensor: the vectors 'towers' of two structs side by side have 2 and 3 elements; "
        "make one in the form of the other (empty_like, zeros_like, start)");
  CHECK(text_of_error([] {
          shape_city a = uneven_city(), b = uneven_city(), c = uneven_city();
          c.towers[1].experts.resize(1);
          dm::for_each_tensor([](auto&&...) {}, a, b, c);
        }) ==
        "for_each_tensor: the vectors 'experts' of two structs side by side have 0 and 1 elements; "
        "make one in the form of the other (empty_like, zeros_like, start)");
}

TEST_CASE("build_tensors: vectors as long as they are said to be, by name") {
  std::vector<std::string> seen;
  const auto c = dm::build_tensors<shape_city>(
      [&](const dm::member_path& path, auto t) {
        seen.push_back(path.text());
        return typename decltype(t)::type(dm::mesh_sizes<pod>{});
      },
      [](std::string_view name) -> std::size_t {
        return name == "towers" ? 2 : name == "experts" ? 1 : 0;
      });
  CHECK(c.towers.size() == 2);
  CHECK(c.towers[1].experts.size() == 1);
  CHECK(c.pair[1].empty());
  CHECK(seen == std::vector<std::string>{
                    "first", "towers[0].gate", "towers[0].experts[0].w", "towers[0].experts[0].b",
                    "towers[1].gate", "towers[1].experts[0].w", "towers[1].experts[0].b", "last"});
}

namespace {
// A path's stream is the hash of its text, worked out without the text, also while compiling.
constexpr std::uint64_t hash_of(std::string_view text) {
  dm::detail::text_hash h;
  h.add(text);
  return h.bits;
}
static_assert(hash_of("") == 0xcbf29ce484222325u);
static_assert(hash_of("a") == 0xaf63dc4c8601ec8cu);  // from the authors' table
static_assert(dm::path_of<shapes>(5).stream() == hash_of("layers[1].w"));
static_assert(dm::path_of<deep<hybrid, 120>>(2 * 117).stream() == hash_of("at[117].w"));
}  // namespace

TEST_CASE("streams: of the path's text; no two are alike") {
  const shape_city c = uneven_city();
  std::vector<std::uint64_t> streams;
  for (int i = 0; i < 12; ++i) {
    const auto path = dm::path_of(c, i);
    CHECK(path.stream() == hash_of(path.text()));
    for (const auto other : streams) CHECK(other != path.stream());
    streams.push_back(path.stream());
  }
  CHECK(dm::path_of<std::tuple<int, shapes>>(0).stream() == hash_of("[1].first"));
}
