// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Right programs that are written in other ways than the tutorial's compile, and give the right
// numbers: where names may be declared and what may name them, layouts that are computed, grids
// that are held in other ways, classes that hold tensors.
// ranks: 1 2 4
#include <doctest/doctest.h>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/cost.hpp>
#include <dimesh/op/expand.hpp>
#include <dimesh/pipeline/micro_batch.hpp>

#include <concepts>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace shop::names {
struct customer : dimesh::dim<8> {};
struct item final : dimesh::dim<4> {};
struct across : dimesh::axis<> {};
struct machine : dimesh::mesh<across> {};
}  // namespace shop::names

namespace {
namespace dm = dimesh;
template <class X> auto total(const X& x) { return dm::value(dm::complete(dm::sum(x))); }

struct batch : dm::dim<8> {};
struct hidden : dm::dim<4> {};
struct length : dm::dim<> {};
struct rows : dm::axis<> {};
struct line : dm::mesh<rows> {};
using by_batch = dm::layout<line, dm::split<batch, rows>>;

TEST_CASE("names of other namespaces, by using, by alias, derived, in classes, in templates") {
  {
    using namespace shop::names;
    const dimesh::grid<machine> g;
    using shopping =
        dimesh::tensor<double, dimesh::layout<machine, dimesh::split<customer, across>>, customer,
                       item>;
    CHECK(total(dimesh::constant<shopping>(g, 0.5)) == 16);
  }
  using shop::names::machine;
  namespace n = shop::names;
  using who = n::customer;
  const dm::grid<machine> g;
  using amounts = dm::tensor<float, dm::layout<machine, dm::split<who, n::across>>, n::customer>;
  CHECK(total(dm::sum<who>(dm::constant<amounts>(g, 2))) == 16);
  using dimesh::einsum, dimesh::complete, dimesh::constant;
  const auto x = constant<amounts>(g, 2);
  CHECK(dm::value(complete(einsum<>(x, x))) == 32);
}

namespace letters {
struct n : dm::dim<> {};
namespace known {
struct n : dm::dim<3> {};
}  // namespace known
namespace along {
struct n : dm::axis<> {};
struct box : dm::mesh<n> {};
}  // namespace along
}  // namespace letters

TEST_CASE("dims and axes that are called n, as the number that they carry") {
  namespace l = letters;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const dm::grid<l::along::box> g(l::along::n{ranks});
  CHECK(dm::mesh_sizes<l::along::box>(l::along::n{5}).ranks() == 5);
  using L = dm::layout<l::along::box, dm::split<l::n, l::along::n>>;
  auto x = dm::zeros<dm::tensor<double, L, l::n, l::known::n>>(g, l::n{2 * ranks});
  x.set(7, l::n{1}, l::known::n{2});
  CHECK(total(x) == 7);
  CHECK(x.extent<l::n>() == 2 * ranks);
  CHECK(dm::shape<l::n, l::known::n>(l::n{4}, l::known::n{3}).size() == 12);
  CHECK(dm::expand<l::n>(dm::sum<l::n>(x), l::n{9}).extent<l::n>() == 9);
  CHECK(dm::micro_extent(l::n{8}, 4) == 2);
}

namespace members {  // what is looked up in dims and axes elsewhere
struct extent : dm::dim<> {};
struct name : dm::dim<6> {};
namespace known {
struct extent : dm::dim<4> {};
}  // namespace known
struct size : dm::axis<> {};
struct value : dm::axis<1> {};
struct sizes : dm::mesh<size, value> {};
namespace two {
struct size : dm::axis<2> {};
struct pair : dm::mesh<size> {};
}  // namespace two
}  // namespace members
static_assert(dm::is_static_mesh<members::two::pair> && !dm::is_static_mesh<members::sizes>);
static_assert(dm::shape<members::known::extent>().size() == 4);

TEST_CASE("dims that are called extent and name, axes that are called size and value") {
  namespace m = members;
  const dm::grid<m::sizes> g;
  const dm::index_t ranks = g.ranks();
  CHECK_THROWS_WITH_AS((void)dm::mesh_sizes<m::two::pair>(m::two::size{3}),
                       doctest::Contains("has 2 ranks by its type"), dm::error);
  using L = dm::layout<m::sizes, dm::split<m::extent, m::size>, dm::split<m::name, m::value>>;
  using table = dm::tensor<double, L, m::extent, m::name>;
  const auto x = dm::constant<table>(g, 2, m::extent{3 * ranks});
  const auto square = [](const auto& v) { return dm::sum(v * v); };
  CHECK(total(dm::complete(dm::value_and_grad(square, x)()).gradient) == 4.0 * 18 * double(ranks));
  CHECK(dm::whole<m::extent>(x).extent<m::extent>() == 3 * ranks);
  CHECK(total(dm::sum<m::extent>(dm::expand<m::known::extent>(x))) == 2.0 * 72 * double(ranks));
  CHECK(dm::micro_extent(m::known::extent{}, 4) == 1);
}

struct wide : batch {};  // a dim of its own, with batch's extent
struct attention {
  struct head : dm::dim<2> {};
  using key = hidden;
  template <class L> using scores = dm::tensor<float, L, batch, head, key>;
};
template <int N> struct level : dm::dim<(1 << N)> {};
template <class Tag> struct tagged : dm::dim<3> {};
template <class Owner> struct has_names {
  struct own : dm::dim<5> {};
};

TEST_CASE("dims in classes and templates, dims that derive from dims, local dims") {
  const dm::grid<line> g;
  const auto scores = dm::constant<attention::scores<by_batch>>(g, 1);
  CHECK(total(dm::sum<attention::head>(scores)) == 64);
  CHECK(scores.extent<attention::key>() == 4);
  const auto x = dm::constant<dm::tensor<float, by_batch, batch>>(g, 1);
  const auto y = dm::constant<dm::tensor<float, by_batch, wide>>(g, 1);
  CHECK(total(dm::outer(x, y)) == 64);
  using deep = dm::tensor<float, dm::layout<line>, level<2>, level<3>, tagged<int>, tagged<char>>;
  CHECK(total(dm::sum<level<2>, tagged<char>>(dm::constant<deep>(g, 1))) == 4 * 8 * 9);
  using two = dm::tensor<float, dm::layout<line>, has_names<int>::own, has_names<long>::own>;
  CHECK(total(dm::constant<two>(g, 1)) == 25);
  struct local : dm::dim<7> {};
  CHECK(total(dm::constant<dm::tensor<int, dm::layout<line>, local>>(g, 1)) == 7);
  enum { size = 6 };
  struct counted : dm::dim<size> {};
  CHECK(total(dm::constant<dm::tensor<int, dm::layout<line>, counted>>(g, 1)) == 6);
}

// Layouts by template, by condition, by rule, in a variable, in a list.
template <bool Split> using maybe = std::conditional_t<Split, by_batch, dm::layout<line>>;
template <class D> using by = dm::layout<line, dm::split<D, rows>>;
constexpr by_batch as_variable{};
template <class L> struct policy {
  using layout = L;
  template <class... D> using of = dm::tensor<float, layout, D...>;
};
template <class P> auto filled(const dm::grid<line>& g) {
  return dm::constant<typename P::template of<batch, hidden>>(g, 1);
}
constexpr auto layout_for(auto n) {
  if constexpr (n() % 8 == 0)
    return dm::layout<line, dm::split<batch, rows>>{};
  else
    return dm::layout<line, dm::split<dm::uneven<batch>, rows>>{};
}
template <class... L> float in_all(const dm::grid<line>& g) {
  return (total(dm::constant<dm::tensor<float, L, batch, hidden>>(g, 1)) + ...);
}

TEST_CASE("layouts: templates of them, chosen by conditions, as variables, in packs") {
  const dm::grid<line> g;
  CHECK(total(dm::constant<dm::tensor<float, maybe<true>, batch>>(g, 1) +
              dm::relayout<maybe<true>>(
                  dm::constant<dm::tensor<float, maybe<false>, batch>>(g, 1))) == 16);
  CHECK(total(dm::constant<dm::tensor<float, by<hidden>, batch, hidden>>(g, 1)) == 32);
  using L = std::remove_const_t<decltype(as_variable)>;
  CHECK(total(filled<policy<L>>(g) + filled<policy<by_batch>>(g)) == 64);
  using U = decltype(layout_for(std::integral_constant<int, 3>{}));
  CHECK(total(dm::constant<dm::tensor<float, U, batch>>(g, 1)) == 8);
  CHECK(in_all<by<batch>, by<hidden>, dm::layout<line>, U>(g) == 4 * 32);
  const auto chosen = [&](const std::string& name) {  // a layout of the run
    const auto x = dm::constant<dm::tensor<float, dm::layout<line>, batch, hidden>>(g, 1);
    return name == "batch" ? total(dm::relayout<by<batch>>(x)) : total(dm::relayout<by<hidden>>(x));
  };
  CHECK(chosen("batch") + chosen("hidden") == 64);
}

TEST_CASE(
    "grids: const, by pointer, shared, optional, in a vector, moved into a class, two of them") {
  const auto shared = std::make_shared<const dm::grid<line>>();
  using vector = dm::tensor<float, by_batch, batch>;
  const dm::grid<line>* pointer = shared.get();
  const auto x = dm::constant<vector>(*pointer, 1);
  CHECK(&x.grid() == pointer);
  std::optional<dm::grid<line>> later;
  later.emplace();
  CHECK(total(dm::constant<vector>(*later, 1)) == 8);
  std::vector<std::unique_ptr<dm::grid<line>>> many;
  many.push_back(std::make_unique<dm::grid<line>>(MPI_COMM_WORLD));
  CHECK(total(dm::constant<vector>(*many[0], 1)) == 8);
  struct solver {
    dm::grid<line> g;  // before what lives on it
    vector x = dm::constant<vector>(g, 3);
    float norm() const { return total(x * x); }
  };
  const solver s;
  CHECK(s.norm() == 72);
  const dm::grid<line> again(rows{shared->ranks()});
  CHECK(total(dm::zeros_like(dm::constant<vector>(again, 1))) == 0);
}

struct first : dm::axis<> {};
struct second : dm::axis<1> {};
struct plane : dm::mesh<first, second> {};
TEST_CASE("two meshes in one program, one function for both") {
  const dm::grid<line> g;
  const dm::grid<plane> h;
  const auto sum_on = []<class M>(const dm::grid<M>& where, auto axis) {
    using L = dm::layout<M, dm::split<batch, typename decltype(axis)::type>>;
    return total(dm::constant<dm::tensor<float, L, batch>>(where, 1));
  };
  CHECK(sum_on(g, std::type_identity<rows>{}) + sum_on(h, std::type_identity<first>{}) == 16);
}

TEST_CASE("extents of the run, from text, in any order, zero") {
  const dm::grid<line> g;
  struct width : dm::dim<> {};
  const char* argument = "12";
  const length n{std::atoi(argument)};
  using text =
      dm::tensor<double, dm::layout<line, dm::split<dm::uneven<length>, rows>>, length, width>;
  const auto x = dm::constant<text>(g, 1, width{2}, n);
  CHECK(x.extent<length>() == 12);
  CHECK(total(x) == 24);
  for (const int size : {0, 1, 5})
    CHECK(total(dm::constant<text>(g, 1, length{size}, width{1})) == size);
  std::vector<text> batches;
  for (dm::index_t k = 1; k <= 3; ++k) batches.emplace_back(g, length{k}, width{k});
  CHECK(batches[2].extent<width>() == 3);
}

// A class with tensors for members, a static function, a comparison, an operator of its own.
class field {
 public:
  using tensor = dm::tensor<double, by_batch, batch>;
  explicit field(const dm::grid<line>& g) : u_(dm::zeros<tensor>(g)) {}
  static field of(const dm::grid<line>& g, double v) {
    field f(g);
    dm::fill(f.u_, v);
    return f;
  }
  field& step() & {
    u_ = u_ * 0.5 + 1;
    return *this;
  }
  friend field operator+(const field& a, const field& b) { return field(a.u_ + b.u_); }
  friend std::ostream& operator<<(std::ostream& o, const field& f) {
    return o << "sum " << f.sum();
  }
  double sum() const { return total(u_); }
  const tensor& get() const { return u_; }

 private:
  explicit field(tensor u) : u_(std::move(u)) {}
  tensor u_;
};

TEST_CASE("classes that hold tensors") {
  const dm::grid<line> g;
  field f = field::of(g, 2), copy = f;
  f.step().step();
  CHECK(f.sum() == 16);
  CHECK(copy.sum() == 16);
  CHECK((f + copy).sum() == 32);
  std::ostringstream text;
  text << field::of(g, 1);
  CHECK(text.str() == "sum 8");
  CHECK(total(f.get()) == 16);
}

// Functions that say what they take.
template <dm::TensorOf<float, batch, hidden> X> auto scaled(const X& x) { return x * 2; }
auto summed(const dm::Tensor auto& x) { return dm::complete(dm::sum(x)); }
template <class L> auto typed(const dm::basic_tensor<float, L, batch, hidden>& x) {
  return dm::sum<hidden>(x);
}
template <class X>
  requires std::same_as<typename X::value_type, float>
auto squared(const X& x) -> X {
  return x * x;
}
decltype(auto) same(const dm::tensor<float, by_batch, batch, hidden>& x) { return (x); }
TEST_CASE("functions with concepts, deduced layouts, trailing and deduced returns") {
  const dm::grid<line> g;
  const auto x = dm::constant<dm::tensor<float, by_batch, batch, hidden>>(g, 1);
  CHECK(dm::value(summed(scaled(x))) == 64);
  CHECK(dm::value(dm::complete(dm::sum(typed(squared(same(x)))))) == 32);
}

// What a call costs, as a constant, a limit, and a template argument.
struct norm {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::complete(dm::sum(x * x));
  }
};
struct four : dm::axis<4> {};
struct fixed : dm::mesh<four> {};
using shape =
    dm::tensor<float, dm::shaped<dm::layout<fixed, dm::split<batch, four>>>, batch, hidden>;
constexpr auto cost = dm::cost_of<norm, shape>;
constexpr auto bytes = cost.bytes<four>;
template <auto Bytes> constexpr bool is_cheap = Bytes <= 4;
static_assert(is_cheap<cost.bytes<four>> && bytes == 4);
inline constexpr auto same_cost = dm::count(norm{}, shape{});
static_assert(same_cost.bytes<four>() == cost.bytes<four>);

TEST_CASE("exceptions pass through, and what they leave behind still works") {
  const dm::grid<line> g;
  auto x = dm::constant<dm::tensor<float, by_batch, batch>>(g, 1);
  const auto half_way = [&](bool fails) {
    const auto y = x * 2;
    if (fails) throw std::runtime_error("mine");
    x = y;
  };
  CHECK_THROWS_AS(half_way(true), std::runtime_error);
  CHECK(total(x) == 8);
  half_way(false);
  CHECK(total(x) == 16);
  using open = dm::tensor<float, dm::layout<line>, length>;
  CHECK_THROWS_AS((void)open(g), dm::error);
}
}  // namespace
