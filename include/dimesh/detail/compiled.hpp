// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What need not be compiled again in every file? The library is its headers, and they are all of
// it. A program may link dimesh::compiled beside them: what is marked here stands compiled there.
//
//   DIMESH_OUTLINE void run(...) { ... }      a function of the core; may be constexpr
//   DIMESH_INSTANCE(einsum_op<float>, 0);     an operation, bound: its kernels and transpose, too
//
// A plain function is declared, and its body stands in `#if DIMESH_COMPILED != 1 ... #endif`: where
// the library has it, it is not even read, and nothing that it uses is instantiated. What users
// construct and destroy calls such functions from the class: clang emits of constructors and
// destructors only what the library itself calls.
//
// Neither says anything where DIMESH_COMPILED is not defined. Where it is 1 (the target defines
// it), files leave what is marked to the linker. Functions are compiled where it is 2, in
// src/dimesh.cpp, and operations in src/operations.cpp, which defines DIMESH_INSTANCES.
#pragma once

#ifndef DIMESH_COMPILED
#define DIMESH_OUTLINE [[gnu::noinline]]
#define DIMESH_INSTANCE(...)
#elif DIMESH_COMPILED == 2
#define DIMESH_OUTLINE [[gnu::noinline, gnu::used]]
#else
// clang has the attribute, but wants it with `extern`, which members cannot have.
#ifdef __clang__
#define DIMESH_OUTLINE [[gnu::noinline]]
#else
#define DIMESH_OUTLINE [[gnu::gnu_inline, gnu::optimize("O0")]]
#endif
#endif

#ifdef DIMESH_INSTANCES
#define DIMESH_INSTANCE(...) template struct bound<__VA_ARGS__>
#elif defined(DIMESH_COMPILED)
#define DIMESH_INSTANCE(...) extern template struct bound<__VA_ARGS__>
#endif

#ifdef DIMESH_COMPILED
#if defined(DIMESH_TEST_SPACE)
#error \
    "DIMESH_TEST_SPACE changes kernels, and dimesh::compiled has its own: link dimesh::dimesh alone"
#endif

namespace dimesh::detail {

/// What files and the compiled library must agree in; the linker finds `here` where they do. The
/// name of an undefined reference says what this file was compiled with.
template <bool Checked, bool OneDnn, bool Cblas, bool Closed> struct compiled_library {
  static const char here;
};

#if defined(DIMESH_CHECKED)
inline constexpr bool is_checked = true;
#else
inline constexpr bool is_checked = false;
#endif
#if defined(DIMESH_CLOSED)
inline constexpr bool is_closed = true;
#else
inline constexpr bool is_closed = false;
#endif
#if defined(DIMESH_WITH_ONEDNN)
inline constexpr bool with_onednn = true;
#else
inline constexpr bool with_onednn = false;
#endif
#if defined(DIMESH_WITH_CBLAS)
inline constexpr bool with_cblas = true;
#else
inline constexpr bool with_cblas = false;
#endif

#if DIMESH_COMPILED == 2
template <>
[[gnu::used]] inline const char
    compiled_library<is_checked, with_onednn, with_cblas, is_closed>::here = 0;
#else
// Retained: a linker that drops sections would drop the question with its section.
#if defined(__has_cpp_attribute) && __has_cpp_attribute(gnu::retain)
[[gnu::used, gnu::retain]]
#else
[[gnu::used]]
#endif
inline const char* const linked =
    &compiled_library<is_checked, with_onednn, with_cblas, is_closed>::here;
#endif

}  // namespace dimesh::detail
#endif
