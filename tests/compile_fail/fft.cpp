// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Fourier transforms refuse.
#include <dimesh/dimesh.hpp>
#include <dimesh/op/fft.hpp>
#include <dimesh/op/fft_all_to_all.hpp>
#include <dimesh/op/fft_exchange.hpp>

#include "names.hpp"

struct half : dm::dim<4> {};  // of hidden
struct point : dm::dim<8> {};
using number = std::complex<double>;
using samples = dm::tensor<double, hybrid, batch, hidden>;
using spectrum = dm::tensor<number, whole, batch, half>;
using alone = dm::tensor<double, by_batch, batch>;

// mistake: dim_is_split__fft
// expect: fft, ifft, rfft, irfft: a dim is split, and a rank sees its block only; use fft_exchange, which leaves it split, fft_all_to_all, or whole<dim>
// expect: dim_is_split<hidden, cols>
#ifdef COMPILE_FAIL
auto f(const samples& x) { return dm::fft<hidden>(x); }
#else
auto f(const samples& x) { return dm::fft_all_to_all<hidden>(x); }
#endif

// mistake: dim_is_split__rfft
// expect: fft, ifft, rfft, irfft: a dim is split, and a rank sees its block only; use fft_exchange, which leaves it split, fft_all_to_all, or whole<dim>
#ifdef COMPILE_FAIL
auto f(const samples& x) { return dm::rfft<hidden, half>(x); }
#else
auto f(const samples& x) { return dm::rfft<hidden, half>(dm::whole<hidden>(x)); }
#endif

// mistake: dim_not_in_tensor__fft
// expect: fft, ifft, rfft, irfft: the tensor lacks a dim; name dims of its own
#ifdef COMPILE_FAIL
auto f(const spectrum& x) { return dm::ifft<hidden>(x); }
#else
auto f(const spectrum& x) { return dm::ifft<batch>(x); }
#endif

// mistake: dim_repeated__fft
// expect: fft, ifft, rfft, irfft: a dim is named twice; name each once
#ifdef COMPILE_FAIL
auto f(const spectrum& x) { return dm::irfft<half, hidden, half>(x); }
#else
auto f(const spectrum& x) { return dm::irfft<half, hidden, batch>(x); }
#endif

// mistake: dim_has_halo__fft
// expect: fft, ifft, rfft, irfft: blocks of a dim carry halos, which would count twice; transform the tensor without them
#ifdef COMPILE_FAIL
auto f(const samples& x) {
  return dm::fft<hidden>(dm::halo_exchange<1, hidden>(dm::whole<hidden>(x)));
}
#else
auto f(const samples& x) { return dm::fft<hidden>(dm::whole<hidden>(x)); }
#endif

// mistake: partial_operand__fft
// expect: fft, ifft, rfft, irfft: the tensor holds maxima or minima of parts along this axis; complete it first
#ifdef COMPILE_FAIL
auto f(const samples& x) { return dm::fft<batch>(dm::max<hidden>(dm::whole<batch>(x))); }
#else
auto f(const samples& x) {
  return dm::fft<batch>(dm::complete(dm::max<hidden>(dm::whole<batch>(x))));
}
#endif

// mistake: dim_already_in_tensor__rfft
// expect: rfft, irfft (.._all_to_all, .._exchange): the tensor has the new dim already; choose another for the result
#ifdef COMPILE_FAIL
auto f(const spectrum& x) { return dm::irfft<half, batch>(x); }
#else
auto f(const spectrum& x) { return dm::irfft<half, hidden>(x); }
#endif

// mistake: extents_differ__rfft
// expect: rfft, irfft (.._all_to_all, .._exchange): of N real numbers the half transform has N / 2 + 1; give one of the dims another extent
// expect: extents_differ<half, point>
#ifdef COMPILE_FAIL
auto f(const spectrum& x) { return dm::irfft<half, point>(x); }
#else
auto f(const spectrum& x) { return dm::irfft<half, hidden>(x); }
#endif

// mistake: dim_is_split__fft_all_to_all
// expect: fft_all_to_all (ifft_.., ..): the dim is split, and the tensor has no other to split instead; fft_exchange<dim> leaves it split, whole<dim> gathers it
// expect: dim_is_split<batch, rows>
#ifdef COMPILE_FAIL
auto f(const alone& x) { return dm::fft_all_to_all<batch>(x); }
#else
auto f(const alone& x) { return dm::fft_exchange<batch>(x); }
#endif

// mistake: dim_not_in_tensor__fft_all_to_all
// expect: fft_all_to_all, fft_exchange (ifft_.., ..): the tensor lacks a dim; name dims of its own
#ifdef COMPILE_FAIL
auto f(const samples& x) { return dm::fft_all_to_all<label>(x); }
#else
auto f(const samples& x) { return dm::ifft_all_to_all<hidden>(x); }
#endif

// mistake: dim_repeated__fft_all_to_all
// expect: fft_all_to_all, fft_exchange (ifft_.., ..): a dim is named twice; name each once
#ifdef COMPILE_FAIL
auto f(const samples& x) { return dm::rfft_all_to_all<hidden, half, hidden>(x); }
#else
auto f(const samples& x) { return dm::rfft_all_to_all<hidden, half, batch>(x); }
#endif

// mistake: dim_not_in_tensor__fft_exchange
// expect: fft_all_to_all, fft_exchange (ifft_.., ..): the tensor lacks a dim; name dims of its own
#ifdef COMPILE_FAIL
auto f(const alone& x) { return dm::fft_exchange<hidden>(x); }
#else
auto f(const alone& x) { return dm::ifft_exchange<batch>(x); }
#endif

// mistake: dim_already_in_tensor__rfft_exchange
// expect: rfft, irfft (.._all_to_all, .._exchange): the tensor has the new dim already; choose another for the result
// expect: dim_already_in_tensor<batch>
#ifdef COMPILE_FAIL
auto f(const samples& x) { return dm::rfft_exchange<hidden, batch>(x); }
#else
auto f(const samples& x) { return dm::rfft_exchange<hidden, half>(x); }
#endif

// mistake: extents_differ__irfft_exchange
// expect: rfft, irfft (.._all_to_all, .._exchange): of N real numbers the half transform has N / 2 + 1; give one of the dims another extent
// expect: extents_differ<half, point>
#ifdef COMPILE_FAIL
auto f(const spectrum& x) { return dm::irfft_exchange<half, point>(x); }
#else
auto f(const spectrum& x) { return dm::irfft_exchange<half, hidden>(x); }
#endif

// mistake: element_not_differentiable__rfft_exchange
// expect: fft_all_to_all, fft_exchange (ifft_.., ..): not of such elements; rfft_.. takes float or double, irfft_.. std::complex of them, the others both; cast<T> them
// expect: element_not_differentiable<std::complex<double>
using complex_samples = dm::tensor<number, hybrid, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const complex_samples& x) { return dm::rfft_exchange<hidden, half>(x); }
#else
auto f(const complex_samples& x) { return dm::rfft_exchange<hidden, half>(dm::real(x)); }
#endif

// mistake: dim_has_halo__fft_exchange
// expect: fft_all_to_all, fft_exchange (ifft_.., ..): blocks with halos stay where they are; transform the tensor without them
#ifdef COMPILE_FAIL
auto f(const alone& x) { return dm::fft_exchange<batch>(dm::halo_exchange<1, batch>(x)); }
#else
auto f(const alone& x) { return dm::fft_exchange<batch>(x); }
#endif

// mistake: dim_has_halo__fft_all_to_all
// expect: fft_all_to_all, fft_exchange (ifft_.., ..): blocks with halos stay where they are; transform the tensor without them
#ifdef COMPILE_FAIL
auto f(const samples& x) { return dm::fft_all_to_all<hidden>(dm::halo_exchange<1, hidden>(x)); }
#else
auto f(const samples& x) { return dm::fft_all_to_all<hidden>(x); }
#endif

// mistake: partial_operand__fft_all_to_all
// expect: fft_all_to_all, fft_exchange (ifft_.., ..): the tensor holds maxima or minima of parts along this axis; complete it first
#ifdef COMPILE_FAIL
auto f(const samples& x) { return dm::fft_all_to_all<batch>(dm::max<hidden>(x)); }
#else
auto f(const samples& x) { return dm::fft_all_to_all<hidden, batch>(x); }
#endif

// mistake: element_not_differentiable__fft
// expect: fft, ifft, rfft, irfft: such elements are not transformed; rfft takes float or double, irfft std::complex of them, the others both; cast<T> them
// expect: element_not_differentiable<dimesh::bfloat16>
using stored = dm::tensor<dm::bfloat16, whole, batch, hidden>;
#ifdef COMPILE_FAIL
auto f(const stored& x) { return dm::fft<hidden>(x); }
#else
auto f(const stored& x) { return dm::fft<hidden>(dm::cast<float>(x)); }
#endif

// mistake: element_not_differentiable__irfft_all_to_all
// expect: fft_all_to_all, fft_exchange (ifft_.., ..): not of such elements; rfft_.. takes float or double, irfft_.. std::complex of them, the others both; cast<T> them
// expect: element_not_differentiable<double>
using halves = dm::tensor<double, whole, batch, half>;
#ifdef COMPILE_FAIL
auto f(const halves& x) { return dm::irfft_all_to_all<half, hidden>(x); }
#else
auto f(const halves& x) { return dm::irfft_all_to_all<half, hidden>(dm::as_complex(x)); }
#endif
