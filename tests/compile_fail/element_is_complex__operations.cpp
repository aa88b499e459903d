// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where real elements are wanted, or an order: what the common header has.
#include <dimesh/dimesh.hpp>

#include "names.hpp"

using waves = dm::tensor<std::complex<float>, whole, batch, pixel>;
extern const waves z;

// mistake: element_is_complex__max
// The greatest of them.
// expect: max: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::max<pixel>(z); }
#else
auto f() { return dm::max<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__min
// The smallest.
// expect: min: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::min<pixel>(z); }
#else
auto f() { return dm::min<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__argmax
// Where the greatest stands.
// expect: argmax: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::argmax<pixel>(z); }
#else
auto f() { return dm::argmax<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__argmin
// Where the smallest stands.
// expect: argmin: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::argmin<pixel>(z); }
#else
auto f() { return dm::argmin<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__softmax
// Shares, which exponentials of real numbers are.
// expect: softmax: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::softmax<pixel>(z); }
#else
auto f() { return dm::softmax<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__log_softmax
// Their logarithms.
// expect: log_softmax: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::log_softmax<pixel>(z); }
#else
auto f() { return dm::log_softmax<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__log_sum_exp
// The logarithm of what they are divided by.
// expect: log_sum_exp: complex numbers have no order; take real(x) or norm2(x) first
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::log_sum_exp<pixel>(z); }
#else
auto f() { return dm::log_sum_exp<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__relu
// An activation that asks which is greater.
// expect: relu: the operand is a sum yet to be made, or complex; complete it, or take its real part
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::relu(z); }
#else
auto f() { return dm::relu(dm::real(z)); }
#endif

// mistake: element_is_complex__exp
// A function that the library has of real numbers.
// expect: exp: the operand is a sum yet to be made, or complex; complete it, or map a function of complex numbers
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::exp(z); }
#else
auto f() {
  return dm::map([](auto v) { return std::exp(v); }, z);
}
#endif

// mistake: element_is_complex__abs
// A magnitude.
// expect: abs: the operand is a sum yet to be made, or complex; complete it, or take sqrt(norm2(x))
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::abs(z); }
#else
auto f() { return dm::sqrt(dm::norm2(z)); }
#endif

// mistake: element_is_complex__less
// One less than the other.
// expect: operator<: the operands do not fit; complete what is partial, relayout what is split differently, take real parts of what is complex
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return z < z; }
#else
auto f() { return dm::norm2(z) < dm::norm2(z); }
#endif

// mistake: element_is_complex__greater_number
// Greater than a number.
// expect: operator>: the operand is a sum yet to be made, or complex; complete it, or take its real part
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return z > 0; }
#else
auto f() { return dm::norm2(z) > 0; }
#endif

// mistake: element_is_complex__maximum
// The greater of two.
// expect: maximum: the operands do not fit; complete what is partial, relayout what is split differently, take real parts of what is complex
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::maximum(z, z); }
#else
auto f() { return dm::maximum(dm::real(z), dm::imag(z)); }
#endif

// mistake: element_is_complex__layer_norm
// lines: 11
// Deviations from a mean, squared.
// expect: layer_norm: the elements are complex, and real ones are wanted; norm real(x) and imag(x), or divide by a root of mean(norm2(x))
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::layer_norm<pixel>(z); }
#else
auto f() { return dm::layer_norm<pixel>(dm::real(z)); }
#endif

// mistake: element_is_complex__rms_norm
// lines: 11
// Squares.
// expect: rms_norm: the elements are complex, and real ones are wanted; norm real(x) and imag(x), or divide by a root of mean(norm2(x))
// expect: element_is_complex<std::complex<float>
#ifdef COMPILE_FAIL
auto f() { return dm::rms_norm<pixel>(z); }
#else
auto f() { return dm::rms_norm<pixel>(dm::imag(z)); }
#endif
