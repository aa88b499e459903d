// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Annotations that a tensor cannot take, and what is not known of a text.
#include <dimesh/dimesh.hpp>
#include <dimesh/plan/annotate.hpp>

#include "names.hpp"

using any = dm::layout<pod, dm::at_run_time>;
using x_type = dm::tensor<float, by_batch, batch, hidden>;
using haloed =
    dm::tensor<float, dm::layout<pod, dm::split<dm::halo<batch, 1>, rows>>, batch, hidden>;
struct odd : dm::dim<9> {};

// mistake: extent_not_divisible__shard
// expect: shard: the extent of a split dim is not a multiple of its mesh axes; change one, or split uneven<dim>
auto f(const dm::tensor<float, whole, odd>& x) {
#ifdef COMPILE_FAIL
  return dm::shard<dm::split<odd, rows>>(x);
#else
  return dm::shard<dm::split<dm::uneven<odd>, rows>>(x);
#endif
}

// mistake: dim_has_halo__shard
// expect: shard: the tensor holds halos, or maxima or minima of parts; complete it, or annotate it before
#ifdef COMPILE_FAIL
using tensor_type = haloed;
#else
using tensor_type = x_type;
#endif
auto f(const tensor_type& x) { return dm::shard<dm::split<hidden, cols>>(x); }

// mistake: dim_has_halo__replicate
// expect: replicate: the tensor holds halos, or maxima or minima of parts; complete it, or annotate it before
#ifdef COMPILE_FAIL
using tensor_type = haloed;
#else
using tensor_type = x_type;
#endif
auto f(const tensor_type& x) { return dm::replicate<batch>(x); }

// mistake: not_a_dim__replicate
// expect: replicate: something that is no dim is to be whole; name dims of the tensor
#ifdef COMPILE_FAIL
auto f(const x_type& x) { return dm::replicate<rows>(x); }
#else
auto f(const x_type& x) { return dm::replicate<batch>(x); }
#endif

// mistake: dim_repeated__replicate
// expect: replicate: a dim that is to be whole is named twice; name it once
#ifdef COMPILE_FAIL
auto f(const x_type& x) { return dm::replicate<batch, batch>(x); }
#else
auto f(const x_type& x) { return dm::replicate<batch>(x); }
#endif

// mistake: dim_repeated__shard
// expect: shard: the annotation has two rules for one dim; name it once, with all of its axes
#ifdef COMPILE_FAIL
auto f(const x_type& x) { return dm::shard<dm::split<hidden, rows>, dm::split<hidden, cols>>(x); }
#else
auto f(const x_type& x) { return dm::shard<dm::split<hidden, cols>>(x); }
#endif

// mistake: open_sizes__inferred
// expect: inferred: bytes depend on sizes of axes or on extents that only the run knows; count the text instead
struct many : dm::axis<> {};
struct few : dm::axis<2> {};
struct open_mesh : dm::mesh<many> {};
struct closed_mesh : dm::mesh<few> {};
template <class A> struct gathered {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::replicate(dm::shard<dm::split<batch, A>>(x));
  }
};
#ifdef COMPILE_FAIL
constexpr auto n = dm::inferred<gathered<many>, dm::probe<float, open_mesh, batch>>::bytes();
#else
constexpr auto n = dm::inferred<gathered<few>, dm::probe<float, closed_mesh, batch>>::bytes();
#endif

// mistake: open_extents__inferred
// expect: inferred: bytes depend on sizes of axes or on extents that only the run knows; count the text instead
struct length : dm::dim<> {};
template <class D> struct gathered {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::replicate(dm::shard<dm::split<D, rows>>(x));
  }
};
#ifdef COMPILE_FAIL
constexpr auto n = dm::inferred<gathered<length>, dm::probe<float, pod, length>>::bytes();
#else
constexpr auto n = dm::inferred<gathered<batch>, dm::probe<float, pod, batch>>::bytes();
#endif

// mistake: cost_of_open_extents__inferred
// expect: inferred: bytes depend on sizes of axes or on extents that only the run knows; count the text instead
struct length : dm::dim<> {};
template <class D> struct gathered {
  template <class X> constexpr auto operator()(const X& x) const {
    return dm::replicate(dm::shard<dm::split<D, rows>>(x));
  }
};
#ifdef COMPILE_FAIL
constexpr auto n =
    dm::inferred<gathered<length>, dm::probe<float, pod, length>>::cost().calls<rows>;
#else
constexpr auto n = dm::inferred<gathered<batch>, dm::probe<float, pod, batch>>::cost().calls<rows>;
#endif

// mistake: cost_after_a_quarrel__inferred
// expect: inferred: two annotations split a dim in different ways, and their tensors meet
// expect: annotation<1,
// expect: annotation<2,
struct sum_of {
  template <class X> constexpr auto operator()(const X& x) const {
    const auto a = dm::shard<dm::split<batch, rows>>(x);
#ifdef COMPILE_FAIL
    return a + dm::shard<dm::split<batch, cols>>(x);
#else
    return a + dm::shard<dm::split<batch, rows>>(x);
#endif
  }
};
using found = dm::inferred<sum_of, dm::probe<float, pod, batch>>;
constexpr dm::index_t n = found::cost().bytes<rows> + found::cost().calls<rows> +
                          found::cost().value.flops() + found::bytes();

// mistake: differ_of_open_extents__inferred
// expect: inferred: two annotations split a dim in different ways, and their tensors meet
// expect: annotation<1,
// expect: annotation<2,
// expect: annotate_operand<1,
// expect: bytes_of_the_run
struct length : dm::dim<> {};
struct sum_of {
  template <class X, class Y> constexpr auto operator()(const X& x, const Y& y) const {
    const auto a = dm::shard<dm::split<length, rows>>(x);
#ifdef COMPILE_FAIL
    return a + dm::shard<dm::split<length, cols>>(dm::rename<batch, length>(y));
#else
    return a + dm::shard<dm::split<length, rows>>(dm::rename<batch, length>(y));
#endif
  }
};
using found = dm::inferred<sum_of, dm::probe<float, pod, length>, dm::probe<float, pod, batch>>;
dm::tensor<float, found::layout, length> x;

// mistake: differ_and_axis_taken__inferred
// expect: inferred: two annotations split a dim in different ways, and their tensors meet
// expect: annotation<1,
// expect: annotation<2,
// expect: replicate_operand<1, batch>, dimesh::annotate_operand<1, dimesh::shard_of<dimesh::split<hidden, cols>
// expect: received_bytes<72>
struct other : dm::dim<6> {};
struct sum_of {
  template <class X, class Y> constexpr auto operator()(const X& x, const Y& y) const {
    const auto a = dm::shard<dm::split<hidden, rows>, dm::split<batch, cols>>(x);
    const auto b =
        dm::shard<dm::split<hidden, cols>, dm::split<pixel, rows>>(dm::rename<other, hidden>(y));
#ifdef COMPILE_FAIL
    return dm::einsum<batch, pixel>(a, b);
#else
    return dm::einsum<batch, pixel>(dm::shard<dm::split<hidden, cols>>(dm::replicate<batch>(a)), b);
#endif
  }
};
using found =
    dm::inferred<sum_of, dm::probe<float, pod, batch, hidden>, dm::probe<float, pod, other, pixel>>;
dm::tensor<float, found::layout, batch, hidden> x;

// mistake: argument_shares_axis__inferred
// expect: inferred: annotations split two dims of one tensor over the same axis; take the repair that is named, or another axis
// expect: annotation<1,
// expect: annotation<2,
// expect: replicate_instead<2, hidden>
// expect: received_bytes<0>
struct chosen {
  template <class X, class I> constexpr auto operator()(const X& x, const I& i) const {
    const auto in = dm::shard<dm::split<batch, rows>>(x);
#ifdef COMPILE_FAIL
    const auto o = dm::shard<dm::split<hidden, rows>>(dm::one_hot<hidden>(i));
#else
    const auto o = dm::replicate<hidden>(dm::one_hot<hidden>(i));
#endif
    return dm::einsum<batch, pixel>(in, o);
  }
};
using found =
    dm::inferred<chosen, dm::probe<float, pod, batch, hidden>, dm::probe<std::int32_t, pod, pixel>>;
dm::tensor<float, found::layout, batch, hidden> x;

// mistake: dim_not_in_tensor__shard_along
// expect: shard_along: the tensor lacks the dim to be split; name one of its dims
#ifdef COMPILE_FAIL
auto f(const x_type& x) { return dm::shard_along<label, rows>(x); }
#else
auto f(const x_type& x) { return dm::shard_along<hidden, rows>(x); }
#endif

// mistake: not_an_axis__shard_along
// expect: shard_along: wanted are a dim and the axes that split it, or a number of ranks: shard_along<dim, axis>(x), shard_along<dim, 4>(x)
#ifdef COMPILE_FAIL
auto f(const x_type& x) { return dm::shard_along<hidden, batch>(x); }
#else
auto f(const x_type& x) { return dm::shard_along<hidden, rows>(x); }
#endif

// mistake: axis_not_in_mesh__shard_along
// expect: shard_along: the tensor's mesh lacks an axis; name one of its axes
struct other : dm::axis<2> {};
#ifdef COMPILE_FAIL
auto f(const x_type& x) { return dm::shard_along<hidden, other>(x); }
#else
auto f(const x_type& x) { return dm::shard_along<hidden, rows>(x); }
#endif

// mistake: axis_used_twice__shard_along
// expect: shard_along: an axis is named twice, or the tensor lives at one place of it; name other axes
#ifdef COMPILE_FAIL
auto f(const x_type& x) { return dm::shard_along<batch, rows, rows>(x); }
#else
auto f(const x_type& x) { return dm::shard_along<batch, rows, cols>(x); }
#endif

// mistake: extent_not_divisible__shard_along
// expect: shard_along: the extent of the dim is not a multiple of its mesh axes; change one, or split uneven<dim>
#ifdef COMPILE_FAIL
auto f(const dm::tensor<float, whole, odd>& x) { return dm::shard_along<odd, rows>(x); }
#else
auto f(const dm::tensor<float, whole, odd>& x) { return dm::shard_along<dm::uneven<odd>, rows>(x); }
#endif

// mistake: dim_has_halo__shard_along
// expect: shard_along: the tensor holds halos, or maxima or minima of parts; complete it, or annotate it before
#ifdef COMPILE_FAIL
using tensor_type = haloed;
#else
using tensor_type = x_type;
#endif
auto f(const tensor_type& x) { return dm::shard_along<hidden, cols>(x); }
