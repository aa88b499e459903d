// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user's own functions have names that operations have, too: calls without angle brackets, which
// find both because the arguments are tensors, are the user's where they take tensors as they are.
#include <complex>
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/missing_headers.hpp>
#include <dimesh/op/is_legal.hpp>
#include <dimesh/op/refusals/missing_headers.hpp>
#include <dimesh/op/refusals/misuse.hpp>
#include <dimesh/op/refusals/names_elsewhere.hpp>
#include <dimesh/op/refusals/unnamed_calls.hpp>
#include <dimesh/op/refusals/unnamed_dims.hpp>
#include <dimesh/op/refusals/wrong_operands.hpp>
#include <dimesh/op/shuffle.hpp>
#include <dimesh/op/slice.hpp>
#include <dimesh/op/sort.hpp>
#include <functional>

namespace dm = dimesh;

namespace app {
struct time : dm::dim<8> {};
struct ranks : dm::axis<> {};
struct line : dm::mesh<ranks> {};
using reals = dm::tensor<double, dm::layout<line>, time>;

double pick(const reals& x, std::size_t at);
reals shuffle(const reals& x, unsigned seed);
reals top_k(const reals& x, long k);
reals sort(reals x, bool up);
reals slice(const reals& x, long begin, long end);
double outer(const reals& x, const reals& y, const reals& z);
template <class X> double select(const X& x, const X& y);
double layer_norm(const reals& x);
double softmax_cross_entropy(const reals& x, const reals& y);
double pow(const reals& x, int n);
double var(const reals& x);
template <class X> double attention(const X& q, const X& k, const X& v);
double masked_mean(reals x, const reals& mask);
template <class F, class X> double vjp(F f, const X& x);
template <class F, class... X> double jvp(const F& f, const X&... x);
int count(const std::function<bool(double)>& f, const reals& x);
reals matmul(const reals& x, const reals& y);
template <class X, class Y> double dot(const X& x, const Y& y);
double norm(reals x, double p = 2);
void print(const reals& x);
template <class X> void save(const X& x, const char* name);
template <class X> X transpose(X x);
template <class X> X reshape(const X& x, long n);
template <class C, class X, class Y> double where(const C& c, const X& x, const Y& y);
template <class F, class P> double grad(const F& f, const P& p);
reals full(const dm::grid<line>& g, double value);
reals eye(long n);
template <class X, class... A> X ones(const A&... a);

template <class X>
inline constexpr bool all_are_users = requires(const X& x) {
  { pick(x, 3) } -> std::same_as<double>;
  { shuffle(x, 1) } -> std::same_as<reals>;
  { top_k(x, 3) } -> std::same_as<reals>;
  { sort(x, true) } -> std::same_as<reals>;
  { slice(x, 0, 4) } -> std::same_as<reals>;
  { outer(x, x, x) } -> std::same_as<double>;
  { select(x, x) } -> std::same_as<double>;
  { layer_norm(x) } -> std::same_as<double>;
  { softmax_cross_entropy(x, x) } -> std::same_as<double>;
  { pow(x, 2) } -> std::same_as<double>;
  { var(x) } -> std::same_as<double>;
  { attention(x, x, x) } -> std::same_as<double>;
  { masked_mean(x, x) } -> std::same_as<double>;
  {
    vjp([](double v) { return v; }, x)
  } -> std::same_as<double>;
  {
    jvp([](double v) { return v; }, x, x)
  } -> std::same_as<double>;
  {
    count([](double v) { return v > 0; }, x)
  } -> std::same_as<int>;
  { matmul(x, x) } -> std::same_as<reals>;
  { dot(x, x) } -> std::same_as<double>;
  { norm(x) } -> std::same_as<double>;
  { print(x) } -> std::same_as<void>;
  { save(x, "x") } -> std::same_as<void>;
  { transpose(x) } -> std::same_as<X>;
  { reshape(x, 8) } -> std::same_as<X>;
  { where(x, x, 0) } -> std::same_as<double>;
  {
    grad([](double v) { return v; }, x)
  } -> std::same_as<double>;
  { full(x.grid(), 1) } -> std::same_as<reals>;
  { ones<X>(x.grid()) } -> std::same_as<X>;
};
static_assert(all_are_users<reals>);

// With angle brackets, too: of names whose headers are not there, and of those whose are.
struct first_one {};
template <class D, class X> first_one cumsum(const X& x);
template <class D, class X> first_one gather(X&& x, int at);
template <class D> first_one flip(const reals& x);
template <class X>
inline constexpr bool all_named_are_users = requires(const X& x) {
  { cumsum<time>(x) } -> std::same_as<first_one>;
  { gather<time>(x, 1) } -> std::same_as<first_one>;
  { flip<time>(x) } -> std::same_as<first_one>;
};
static_assert(all_named_are_users<reals>);
static_assert(!std::is_same_v<decltype(dm::flip<time>(std::declval<const reals&>())), dm::poison>);

using complexes = dm::tensor<std::complex<double>, dm::layout<line>, time>;
static_assert(dm::is_mappable<complexes> && !dm::is_real_mappable<complexes>);
static_assert(dm::is_mappable<reals> && dm::is_real_mappable<reals>);
}  // namespace app

// Where all of the namespace is in sight, too.
namespace all_in_sight {
using namespace dimesh;
app::reals eye(long n);
double norm(double x, double y);
static_assert(std::is_same_v<decltype(eye(8)), app::reals>);
static_assert(std::is_same_v<decltype(norm(1, 2)), double>);
}  // namespace all_in_sight
