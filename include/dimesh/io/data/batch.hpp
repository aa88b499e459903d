// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do records become a struct of tensors? The k-th member of a record fills a row of the k-th
// tensor. A rank asks the pipeline for the records of its own block of the batch only: those along
// whose axes the batch is not split read the same ones.
//
//   template <class L> struct images {
//     BOOST_HANA_DEFINE_STRUCT(images, (dm::tensor<float, L, batch, pixel>, x),
//                                      (dm::tensor<std::int32_t, L, batch>, y));
//   };
//   auto load = files | input::shuffle(7) | input::batch<images<L>>(g, batch{64})
//                     | input::prefetch(2);              // see prefetch.hpp
//
// The last batch of an epoch is left out (last_batch::drop), filled up with zeros, which a mask
// tells apart (pad: one tensor more than the record has members, 1 where there is a record), or an
// error (fail).
#pragma once

#include <memory>
#include <utility>

#include "dimesh/create.hpp"
#include "dimesh/io/data/host_batch.hpp"
#include "dimesh/io/data/wrong_pipes.hpp"

namespace dimesh::input {

namespace detail {

/// What keeps a tensor's rows from being records.
template <class D, class X> constexpr bool takes_rows() {
  using S = spec_of<X>;
  if constexpr (S::rank == 0)
    return false;
  else if constexpr (!std::is_same_v<dimesh::detail::type_at<0, typename S::dims>, D>)
    return false;
  else if constexpr (dimesh::detail::is_probe<X>)
    return true;  // places_of asks the layout
  else
    return S::table.first_haloed() < 0 && !S::table.any_partial();
}

template <class D, class Leaves> struct all_take_rows;
template <class D, class... X> struct all_take_rows<D, dimesh::detail::list<X...>> {
  static constexpr bool value = (takes_rows<D, X>() && ...);
};
template <class S> struct tensors_in : dimesh::detail::leaves_at<S, S> {};
template <Tensor S> struct tensors_in<S> {
  using type = dimesh::detail::list<S>;
};

/// What writes rows of each of these tensors' elements.
template <class Record, class Leaves> struct writers_of;
template <class Record, class... X> struct writers_of<Record, dimesh::detail::list<X...>> {
  static constexpr std::size_t count = sizeof...(X);  // nvcc does not see the size of `all`
  static constexpr row_writer<Record> all[] = {row_writer<Record>::template of<value_of<X>>()...};
};

}  // namespace detail

/// A pipeline of S, a struct of tensors (or one tensor) whose first dim is D: what it needs to make
/// any batch. Made by batch<S>(...).
template <class S, class M, class D, Stage From, class... Open> class batches {
  using record = record_of<From>;

 public:
  using value_type = S;
  static_assert(detail::is_record<record>,
                "input::batch: a record is a number, a range of numbers in memory, or a tuple of "
                "these; make it so by a map before the batch");

  batches(const From& from, const grid<M>& g, D rows, last_batch last,
          const std::tuple<Open...>& open)
      : grid_(&g), rows_(rows), open_(open) {
    using writers = detail::writers_of<record, typename detail::tensors_in<S>::type>;
    const S form = make_one();
    const dimesh::detail::core_list<S> cores(form);
    const auto path = [](const void* of, int k) { return path_of(*static_cast<const S*>(of), k); };
    source_ = std::make_shared<const detail::host_batches<From>>(
        from, detail::places_of(&form, cores.at, cores.size, path), last, writers::all,
        writers::count);
  }

  /// Where nobody makes them.
  template <class... No>
    requires(sizeof...(No) == 0)
  S next() const {
    static_assert(ok<wrong_arguments<No...>>,
                  "input::batch: batches come out of a loader: auto load = files | batch<S>(g, "
                  "batch{64}) | prefetch(2); load.next()");
    return {};
  }

  const grid<M>& mesh_grid() const { return *grid_; }
  /// Makes its batches on the host.
  const std::shared_ptr<const detail::host_source>& source() const { return source_; }

  /// The tensors of what was built.
  S tensors_of(detail::host_batch& b) const {
    S s = make_one();
    source_->put_into(dimesh::detail::core_list<S>(s).at, b);
    return s;
  }
  /// Throws dimesh::error where tensors that are made now have other layouts than when this was
  /// made: of those whose layout is a value.
  void require_places() const {
    if constexpr (of_values(typename detail::tensors_in<S>::type{})) {
      S s = make_one();
      source_->require_places(dimesh::detail::core_list<S>(s).at);
    }
  }

 private:
  template <class... X> static constexpr bool of_values(dimesh::detail::list<X...>) {
    return (dimesh::detail::is_probe<X> || ...);
  }
  S make_one() const {
    return std::apply([this](const auto&... o) { return make<S>(*grid_, rows_, o...); }, open_);
  }

  const grid<M>* grid_;
  D rows_;
  std::tuple<Open...> open_;
  std::shared_ptr<const detail::host_source> source_;
};

/// Batches of S on a grid, rows{n} records each; extents that S leaves open follow. Throws
/// dimesh::error where records and tensors do not match. The grid outlives it.
template <class S, class M, Dim D, Dim... Open>
  requires(dimesh::detail::is_made<S>())
auto batch(const grid<M>& g, D rows, last_batch last, Open... open) {
  static_assert(detail::all_take_rows<D, typename detail::tensors_in<S>::type>::value,
                "input::batch: a record is a row of each tensor: the batch's dim comes first, no "
                "dim has a halo, and no axis is partial");
  return adaptor{[&g, rows, last, extents = std::tuple(open...)](const auto& from) {
    using before = std::remove_cvref_t<decltype(from)>;
    if constexpr (std::is_same_v<before, detail::no_records>)
      return detail::batches_of_nothing<S>{};
    else
      return batches<S, M, D, before, Open...>(from, g, rows, last, extents);
  }};
}
/// The same; the last batch is left out where it is not full.
template <class S, class M, Dim D, Dim... Open>
  requires(dimesh::detail::is_made<S>())
auto batch(const grid<M>& g, D rows, Open... open) {
  return input::batch<S>(g, rows, last_batch::drop, open...);
}

namespace detail {
/// A grid, the batch's dim, and then perhaps what becomes of the last batch, and extents.
template <class S, class... A> inline constexpr bool makes_batches = false;
template <class S, class M, Dim D, class... E>
inline constexpr bool makes_batches<S, grid<M>, D, E...> =
    dimesh::detail::is_made<S>() && (Dim<E> && ...);
template <class S, class M, Dim D, class... E>
inline constexpr bool makes_batches<S, grid<M>, D, last_batch, E...> =
    makes_batches<S, grid<M>, D, E...>;
}  // namespace detail

/// Arguments of other kinds, or in another order.
template <class S, class... A>
  requires(!detail::makes_batches<S, A...>)
auto batch(const A&...) {
  static_assert(ok<dimesh::detail::maker_fault<S, A...>>,
                "input::batch: the tensors' type stands in the angle brackets; grid, then the "
                "batch's dim with its records: batch<images<L>>(g, batch{64})");
  return detail::nothing_batched<S>();
}
/// A grid that ends before the batches.
template <class S, class M, class... A>
  requires detail::makes_batches<S, grid<M>, A...>
auto batch(const grid<M>&&, const A&...) {
  static_assert(ok<wrong_arguments<grid<M>>>,
                "input::batch: the grid ends with this line, and the batches are made on it; name "
                "it: grid<pod> g; batch<S>(g, batch{64})");
  return detail::nothing_batched<S>();
}
/// Tensors of no type.
template <class... No, class A, class... More>
  requires(sizeof...(No) == 0)
auto batch(const A&, const More&...) {
  static_assert(ok<not_a_tensor<dimesh::detail::list<No...>>>,
                "input::batch: the tensors' type stands in the angle brackets; grid, then the "
                "batch's dim with its records: batch<images<L>>(g, batch{64})");
  return detail::nothing_batched<poison>();
}

}  // namespace dimesh::input
