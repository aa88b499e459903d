// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/element/element_traits.hpp"

#include <doctest/doctest.h>

#include "dimesh/element/bfloat16.hpp"
#include "dimesh/element/half.hpp"

namespace {
namespace dm = dimesh;
using dm::element_kind;
using dm::element_traits;

struct color {
  unsigned char red, green, blue;
};
enum class label : int {};

template <class T> inline constexpr element_kind kind = element_traits<T>::kind;
static_assert(kind<bool> == element_kind::boolean);
static_assert(kind<std::int8_t> == element_kind::int8 && kind<char32_t> == element_kind::uint32);
static_assert(kind<short> == element_kind::int16 && kind<unsigned short> == element_kind::uint16);
static_assert(kind<long> == (sizeof(long) == 8 ? element_kind::int64 : element_kind::int32));
static_assert(kind<long long> == element_kind::int64 && kind<std::size_t> == element_kind::uint64);
static_assert(kind<dm::half> == element_kind::half && kind<dm::bfloat16> == element_kind::bfloat16);
static_assert(kind<float> == element_kind::float32 && kind<double> == element_kind::float64);
static_assert(kind<long double> == element_kind::long_double);
static_assert(kind<std::complex<float>> == element_kind::complex64);
static_assert(kind<Kokkos::complex<double>> == element_kind::complex128);
static_assert(kind<color> == element_kind::other && kind<label> == element_kind::other);

template <class T> constexpr int sums = element_traits<T>::is_summable;
static_assert(sums<int> + sums<std::uint8_t> + sums<float> + sums<dm::half> + sums<long double> +
                  sums<std::complex<float>> ==
              6);
static_assert(sums<bool> + sums<color> + sums<label> == 0);
static_assert(element_traits<bool>::is_ordered && !element_traits<std::complex<float>>::is_ordered);
static_assert(dm::is_real<double> && dm::is_real<dm::half> && !dm::is_real<int>);
static_assert(!dm::is_real<std::complex<double>> && !dm::is_real<bool>);
static_assert(std::is_same_v<dm::computed<dm::half>, float>);
static_assert(std::is_same_v<dm::computed<std::complex<float>>, std::complex<float>>);
static_assert(element_traits<double>::is_of_blas && !element_traits<long double>::is_of_blas);

TEST_CASE("store: converted, by way of the type that is computed in") {
  dm::half h{};
  dm::store(h, 1.5);
  CHECK(h == 1.5f);
  int i = 0;
  dm::store(i, 2.75f);
  CHECK(i == 2);
}
}  // namespace
