// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random numbers for elements that are none, or of which they would be one part.
#include <dimesh/dimesh.hpp>
#include <dimesh/random/fill.hpp>

#include "names.hpp"

struct color {
  float red, green;
};
using waves = dm::tensor<std::complex<float>, whole, batch>;
using colors = dm::tensor<color, whole, batch>;
using vector = dm::tensor<float, whole, batch>;
constexpr dm::random_key key{1};

// mistake: element_is_complex__drawn
// lines: 12
// expect: fill: the elements are complex, and the numbers drawn real; draw both parts, and join them: as_complex(x, y)
// expect: element_is_complex<std::complex<float>
// also: NORMAL
// also: EXPONENTIAL
// also: GAMMA
// also: TRUNCATED
// also: PERMUTED
#ifdef COMPILE_FAIL
#if defined NORMAL
void f(waves& z) { dm::fill_normal(z, key, 0, 1); }
#elif defined EXPONENTIAL
void f(waves& z) { dm::fill_exponential(z, key, 1); }
#elif defined GAMMA
void f(waves& z) { dm::fill_gamma(z, key, 1, 1); }
#elif defined TRUNCATED
void f(waves& z) { dm::fill_truncated_normal(z, key, 0, 1); }
#elif defined PERMUTED
void f(waves& z) { dm::fill_permutation(z, key); }
#else
void f(waves& z) { dm::fill_uniform(z, key, 0, 1); }
#endif
#else
void f(waves& z, vector& x, vector& y) {
  dm::fill_exponential(x, key.fold(1), 1);
  dm::fill_normal(y, key.fold(2), 0, 1);
  z = dm::as_complex(x, y);
}
#endif

// mistake: element_is_complex__made_of_drawn
// lines: 12
// expect: fill: the elements are complex, and the numbers drawn real; draw both parts, and join them: as_complex(x, y)
// expect: element_is_complex<std::complex<float>
// also: NORMAL
#ifdef COMPILE_FAIL
#ifdef NORMAL
auto f(const dm::grid<pod>& g) { return dm::normal<waves>(g, key, 0, 1); }
#else
auto f(const dm::grid<pod>& g) { return dm::uniform<waves>(g, key, 0, 1); }
#endif
#else
auto f(const dm::grid<pod>& g) {
  return dm::as_complex(dm::normal<vector>(g, key.fold(1), 0, 1),
                        dm::normal<vector>(g, key.fold(2), 0, 1));
}
#endif

// mistake: elements_differ__drawn
// lines: 12
// expect: fill: the elements are no real numbers, which are what is drawn; draw a tensor of float or double, and map it
// expect: elements_differ<double, color>
// also: NORMAL
// also: TRUTHS
// also: PERMUTED
#ifdef COMPILE_FAIL
#if defined NORMAL
auto f(const dm::grid<pod>& g) { return dm::normal<colors>(g, key, 0, 1); }
#elif defined TRUTHS
void f(colors& x) { dm::fill_bernoulli(x, key, 0.5); }
#elif defined PERMUTED
void f(colors& x) { dm::fill_permutation(x, key); }
#else
void f(colors& x) { dm::fill_gamma(x, key, 1, 1); }
#endif
#else
colors f(const dm::grid<pod>& g) {
  return dm::map([](float v) { return color{v, 1 - v}; }, dm::uniform<vector>(g, key, 0, 1));
}
#endif

// mistake: fraction_cut__normal
// lines: 12
// expect: fill: the elements are whole numbers, and the numbers drawn have fractions; draw a tensor of float or double
// expect: fraction_cut<double, int>
#ifdef COMPILE_FAIL
auto f(const dm::grid<pod>& g) { return dm::normal<dm::tensor<int, whole, batch>>(g, key, 0, 4); }
#else
auto f(const dm::grid<pod>& g) { return dm::cast<int>(dm::normal<vector>(g, key, 0, 4)); }
#endif
