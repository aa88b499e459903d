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

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "dimesh/create.hpp"
#include "dimesh/io/data/agree.hpp"
#include "dimesh/io/data/rows.hpp"
#include "dimesh/io/data/stage.hpp"
#include "dimesh/memory/storage.hpp"

namespace dimesh::input {

/// What becomes of the records that do not fill a batch.
enum class last_batch { drop, pad, fail };

/// Where a pipeline is: the next record, and the epoch that it belongs to. The same on all ranks,
/// whatever their number and the layout.
struct position {
  index_t epoch = 0, record = 0;
  bool operator==(const position&) const = default;
};

namespace detail {

/// A batch on its way: this rank's blocks of all tensors, or why there is none.
struct host_batch {
  position at, next;
  index_t records = 0;
  std::vector<dimesh::detail::storage> blocks;
  std::optional<index_t> failed;  // at this record of the epoch
  std::string text;
};

/// What keeps a tensor's rows from being records.
template <class D, class X> constexpr bool takes_rows() {
  if constexpr (spec_of<X>::rank == 0)
    return false;
  else
    return std::is_same_v<dimesh::detail::type_at<0, typename spec_of<X>::dims>, D> &&
           ok<typename dimesh::detail::fill_fault<X>::type>;
}

template <class D, class Leaves> struct all_take_rows;
template <class D, class... X> struct all_take_rows<D, dimesh::detail::list<X...>> {
  static constexpr bool value = (takes_rows<D, X>() && ...);
};
template <class S> struct tensors_in : dimesh::detail::leaves_at<S, S> {};
template <Tensor S> struct tensors_in<S> {
  using type = dimesh::detail::list<S>;
};

}  // namespace detail

/// A pipeline of S, a struct of tensors (or one tensor) whose first dim is D: what it needs to make
/// any batch. Made by batch<S>(...).
template <class S, class M, class D, Stage From, class... Open> class batches {
  using pass = std::remove_cvref_t<pass_of<From>>;
  using record = record_of<From>;

 public:
  using value_type = S;
  static_assert(detail::is_record<record>,
                "input::batch: a record is a number, a range of numbers in memory, or a tuple of "
                "these; make it so by a map before the batch");

  batches(const From& from, const grid<M>& g, D rows, last_batch last,
          const std::tuple<Open...>& open)
      : from_(from),
        grid_(&g),
        rows_(rows),
        last_(last),
        open_(open),
        passes_(std::make_shared<cache>()) {
    const S form = make_one();
    for_each_tensor([this](const auto& path, const auto& x) { this->add(path.text(), x); }, form);
    const auto members = static_cast<index_t>(detail::members_of<record>::count);
    const auto tensors = static_cast<index_t>(places_.size());
    const bool masked = tensors == members + 1;
    if (tensors != members && !masked)
      throw error("input::batch: a record has " + std::to_string(members) +
                  " members, the struct " + std::to_string(tensors) +
                  " tensors; give a tensor to each, and one more if there is to be a mask");
    if (last == last_batch::pad && !masked)
      throw error(
          "input::batch: batches are filled up, and nothing tells records from zeros; add "
          "a tensor to the struct for the mask");
    if (masked && places_.back().whole != 1)
      throw error("input::batch: '" + places_.back().name +
                  "' is the mask, one number for each record; it has the batch's dim alone");
    if (masked) places_.back().member = -1;
  }

  const grid<M>& mesh_grid() const { return *grid_; }
  index_t rows() const { return places_[0].extents[0]; }
  /// Records of an epoch.
  index_t records(index_t epoch) const { return pass_at(epoch)->size(); }
  /// Batches of an epoch.
  index_t count(index_t epoch) const {
    const index_t n = records(epoch), b = rows();
    return last_ == last_batch::drop ? n / b : (n + b - 1) / b;
  }

  /// The place at or after p where a batch begins. Throws dimesh::error where there is none.
  position normal(position p) const {
    const index_t n = records(p.epoch), left = n - p.record, b = rows();
    if (left >= b || (left > 0 && last_ != last_batch::drop)) return p;
    const index_t then = records(p.epoch + 1);
    if (then == 0 || (then < b && last_ == last_batch::drop))
      throw error("input::batch: epoch " + std::to_string(p.epoch + 1) + " has " +
                  std::to_string(then) + " records, a batch has " + std::to_string(b));
    return {p.epoch + 1, 0};
  }
  /// Throws where p is no place of an epoch.
  void require(position p) const {
    if (p.epoch < 0 || p.record < 0 || p.record > records(p.epoch))
      throw error("input: there is no record " + std::to_string(p.record) + " in epoch " +
                  std::to_string(p.epoch));
  }

  /// This rank's blocks of the batch at p. Threads may call it; it does not talk to other ranks.
  detail::host_batch build(position p) const {
    detail::host_batch b;
    b.at = p;
    index_t row = 0;
    std::shared_ptr<const pass> from;
    try {
      from = pass_at(p.epoch);
      detail::require_unchanged(*from);
      const index_t left = from->size() - p.record;
      b.records = left < rows() ? left : rows();
      if (b.records < rows() && last_ == last_batch::fail)
        throw error("the last batch of the epoch has " + std::to_string(b.records) +
                    " records, and " + std::to_string(rows()) +
                    " are wanted; drop it, or let it be filled up");
      for (const auto& p : places_) {
        b.blocks.push_back(dimesh::detail::storage::acquire(p.bytes(), p.space));
        if (b.records < rows()) std::memset(b.blocks.back().data(), 0, p.bytes());
      }
      for (; row < b.records; ++row)
        if (needs(row)) put((*from)(p.record + row), row, b);
      row = 0;
      detail::require_unchanged(*from);
    } catch (...) {
      b.failed = p.record + row;
      b.text = "input: record " + std::to_string(p.record + row) + " of epoch " +
               std::to_string(p.epoch) + place_text(from.get(), p.record + row) + ": " +
               detail::current_text();
    }
    return b;
  }
  /// The tensors of what was built on every rank; throws dimesh::error on all where it failed on
  /// one. Collective.
  S finish(detail::host_batch& b) const {
    detail::agree(grid_->everyone(), b.failed, b.text);
    S s = make_one();
    std::size_t k = 0;
    for_each_tensor(
        [&](const auto&, auto& x) {
          this->take(dimesh::detail::core_of(x), places_[k], b.blocks[k]);
          ++k;
        },
        s);
    return s;
  }

 private:
  /// The passes of the epochs that were asked for last.
  struct cache {
    std::mutex lock;
    std::array<std::pair<index_t, std::shared_ptr<const pass>>, 2> last{
        {{-1, nullptr}, {-1, nullptr}}};
  };

  /// A block that was made where the tensor lives is its memory; others are copied there.
  static void take(dimesh::detail::tensor_core& x, const detail::row_place& p,
                   dimesh::detail::storage& block) {
    if (p.is_near) {
      x.memory = std::move(block);
    } else {
      dimesh::detail::begin_to_fill(x);
      const auto& space = dimesh::detail::facts_of_space(x.facts->space);
      space.copy_in(x.memory.data(), block.data(), p.bytes());
    }
  }
  S make_one() const {
    return std::apply([this](const auto&... o) { return make<S>(*grid_, rows_, o...); }, open_);
  }
  template <class X> void add(const std::string& name, const X& x) {
    using T = value_of<X>;
    detail::row_place p;
    p.name = name.empty() ? "the tensor" : name;
    p.rows = x.block(0);
    p.element = sizeof(T);
    const auto* const space = dimesh::detail::core_of(x).facts->space;
    p.is_near = dimesh::detail::facts_of_space(space).is_near;
    p.space = p.is_near ? space : &dimesh::detail::facts_of_memory<dimesh::detail::pinned_space>;
    const auto extents = x.shape().extents();
    p.extents.assign(extents.begin(), extents.end());
    for (int d = 1; d < X::rank; ++d) {
      p.inner.push_back(x.block(d));
      p.local *= x.block(d).length;
      p.whole *= p.extents[static_cast<std::size_t>(d)];
    }
    p.member = static_cast<index_t>(places_.size());
    const bool beyond = p.member >= static_cast<index_t>(detail::members_of<record>::count);
    puts_.push_back(beyond ? nullptr : detail::puts<T, record>[p.member]);
    ones_.push_back(detail::put_one<T>);
    places_.push_back(std::move(p));
  }
  bool needs(index_t row) const {
    for (const auto& p : places_)
      if (row >= p.rows.offset && row < p.rows.offset + p.rows.length) return true;
    return false;
  }
  void put(const record& r, index_t row, detail::host_batch& b) const {
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const auto& p = places_[k];
      if (row < p.rows.offset || row >= p.rows.offset + p.rows.length) continue;
      std::byte* const to = static_cast<std::byte*>(b.blocks[k].data()) +
                            static_cast<std::size_t>((row - p.rows.offset) * p.local) * p.element;
      if (p.member < 0)
        ones_[k](to);
      else
        puts_[k](r, p, to);
    }
  }
  std::shared_ptr<const pass> pass_at(index_t e) const {
    const std::lock_guard here(passes_->lock);
    auto& [recent, other] = passes_->last;
    if (recent.first != e) std::swap(recent, other);
    if (recent.first != e) recent = {e, std::make_shared<const pass>(from_.epoch(e))};
    return recent.second;
  }
  static std::string place_text(const pass* from, index_t i) {
    if (from == nullptr || i >= from->size()) return {};
    try {
      return " (" + from->where(i) + ")";
    } catch (...) {
      return {};  // the record's own fault says more
    }
  }

  From from_;
  const grid<M>* grid_;
  D rows_;
  last_batch last_;
  std::tuple<Open...> open_;
  std::shared_ptr<cache> passes_;
  std::vector<detail::row_place> places_;
  std::vector<detail::put_row<record>> puts_;
  std::vector<void (*)(std::byte*)> ones_;
};

/// Batches of S on a grid, rows{n} records each; extents that S leaves open follow. Throws
/// dimesh::error where records and tensors do not match. The grid outlives it.
template <class S, class M, Dim D, Dim... Open>
auto batch(const grid<M>& g, D rows, last_batch last, Open... open) {
  static_assert(detail::all_take_rows<D, typename detail::tensors_in<S>::type>::value,
                "input::batch: a record is a row of each tensor: the batch's dim comes first, no "
                "dim has a halo, and no axis is partial");
  return adaptor{[&g, rows, last, extents = std::tuple(open...)](const auto& from) {
    return batches<S, M, D, std::remove_cvref_t<decltype(from)>, Open...>(from, g, rows, last,
                                                                          extents);
  }};
}
/// The same; the last batch is left out where it is not full.
template <class S, class M, Dim D, Dim... Open> auto batch(const grid<M>& g, D rows, Open... open) {
  return input::batch<S>(g, rows, last_batch::drop, open...);
}

}  // namespace dimesh::input
