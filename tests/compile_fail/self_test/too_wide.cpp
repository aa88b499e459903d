// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Must be rejected: the sentence is wider than the limit.
// columns: 40
// expect: take: the number is negative; pass its absolute value
// expect: number_negative<-3>
template <int> struct number_negative;
struct fine;
template <class> inline constexpr bool ok = false;
template <> inline constexpr bool ok<fine> = true;
template <bool, int N> struct rule {
  using fault = fine;
};
template <int N> struct rule<true, N> {
  using fault = number_negative<N>;
};
template <int N> constexpr int take() {
  using fault = typename rule<(N < 0), N>::fault;
  static_assert(ok<fault>, "take: the number is negative; pass its absolute value");
  return N;
}
#ifdef COMPILE_FAIL
int value = take<-3>();
#else
int value = take<3>();
#endif
