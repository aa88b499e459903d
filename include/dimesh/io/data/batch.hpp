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

/// A batch on its way: this rank's blocks of all tensors, or why there is none. Several threads may
/// make it, a part of its rows each.
struct host_batch {
  position at, next;
  index_t records = 0;
  std::vector<dimesh::detail::storage> blocks;
  std::optional<index_t> failed;  // at this record of the epoch: the first one
  std::string text;
  std::mutex lock;  // of all of the above, but for the rows

  explicit host_batch(position here) : at(here), next(here) {}
  void fail(index_t record, const std::string& why) {
    const std::lock_guard here(lock);
    if (failed && *failed <= record) return;
    failed = record;
    text = why;
  }
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
    for_each_tensor([this](const auto& path, const auto& x) { plan_.add(path.text(), x); }, form);
    const auto members = static_cast<index_t>(detail::members_of<record>::count);
    const auto& places = plan_.places();
    const auto tensors = static_cast<index_t>(places.size());
    const bool masked = tensors == members + 1;
    if (tensors != members && !masked)
      throw error("input::batch: a record has " + std::to_string(members) +
                  " members, the struct " + std::to_string(tensors) +
                  " tensors; give a tensor to each, and one more if there is to be a mask");
    if (last == last_batch::pad && !masked)
      throw error(
          "input::batch: batches are filled up, and nothing tells records from zeros; add "
          "a tensor to the struct for the mask");
    if (masked && places.back().whole != 1)
      throw error("input::batch: '" + places.back().name +
                  "' is the mask, one number for each record; it has the batch's dim alone");
    if (masked) plan_.mask_last();
  }

  const grid<M>& mesh_grid() const { return *grid_; }
  index_t rows() const { return plan_.places()[0].extents[0]; }
  /// How many of them this rank makes.
  index_t own_rows() const { return plan_.own().length; }
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

  /// This rank's rows of the batch, of so many parts that it is cut into part k. Threads may call
  /// it, for one batch, too; it does not talk to other ranks.
  void build(detail::host_batch& b, index_t part, index_t parts) const {
    const block own = plan_.own();
    const auto begin_of = [&](index_t k) { return own.offset + k * own.length / parts; };
    const index_t epoch = b.at.epoch;
    index_t row = 0;
    std::shared_ptr<const pass> from;
    try {
      from = pass_at(epoch);
      detail::require_unchanged(*from);
      make_blocks(b, from->size() - b.at.record);
      row = begin_of(part);
      for (const index_t end = std::min(begin_of(part + 1), b.records); row < end; ++row)
        if (plan_.needs(row)) plan_.put((*from)(b.at.record + row), row, b.blocks);
      row = 0;
      detail::require_unchanged(*from);
    } catch (...) {
      const index_t at = b.at.record + row;
      b.fail(at, "input: record " + std::to_string(at) + " of epoch " + std::to_string(epoch) +
                     place_text(from.get(), at) + ": " + detail::current_text());
    }
  }
  /// Throws dimesh::error on all ranks where a batch could not be built on one. Collective.
  void require_built(const detail::host_batch& b) const {
    detail::agree(grid_->everyone(), b.failed, b.text);
  }
  /// The tensors of what was built. What lives where the host does not write is copied there, in
  /// the order of the device's work: b is kept until that is done (wait_for_copies).
  S tensors_of(detail::host_batch& b) const {
    S s = make_one();
    std::size_t k = 0;
    for_each_tensor(
        [&](const auto&, auto& x) {
          this->take(dimesh::detail::core_of(x), plan_.places()[k], b.blocks[k]);
          ++k;
        },
        s);
    return s;
  }
  /// Are there tensors that are copied? Then it is worth while to begin with the next batch.
  bool copies() const {
    return std::any_of(plan_.places().begin(), plan_.places().end(),
                       [](const auto& p) { return !p.is_near; });
  }
  static void wait_for_copies() {
    if constexpr (!dimesh::detail::host_reaches<memory>) device().fence();
  }

 private:
  /// The passes of the epochs that were asked for last.
  struct cache {
    std::mutex lock;
    std::array<std::pair<index_t, std::shared_ptr<const pass>>, 2> last{
        {{-1, nullptr}, {-1, nullptr}}};
  };

  using memory = dimesh::detail::memory_of<M>;
  using device = typename memory::execution_space;

  /// Where records are put, and how many there are; zeros where they are too few. Once a batch.
  void make_blocks(detail::host_batch& b, index_t left) const {
    const std::lock_guard here(b.lock);
    if (!b.blocks.empty()) return;
    const index_t records = std::min(left, rows());
    if (records < rows() && last_ == last_batch::fail)
      throw error("the last batch of the epoch has " + std::to_string(records) + " records, and " +
                  std::to_string(rows()) + " are wanted; drop it, or let it be filled up");
    std::vector<dimesh::detail::storage> blocks;
    for (const auto& p : plan_.places()) {
      blocks.push_back(dimesh::detail::storage::acquire(p.bytes(), p.space));
      if (records < rows()) std::memset(blocks.back().data(), 0, p.bytes());
    }
    b.records = records;
    b.blocks = std::move(blocks);
  }
  /// A block that was made where the tensor lives is its memory; others are copied there.
  static void take(dimesh::detail::tensor_core& x, const detail::row_place& p,
                   dimesh::detail::storage& block) {
    if (p.is_near) {
      x.memory = std::move(block);
      return;
    }
    dimesh::detail::begin_to_fill(x);
    if constexpr (dimesh::detail::host_reaches<memory>) {
      const auto& space = dimesh::detail::facts_of_space(x.facts->space);
      space.copy_in(x.memory.data(), block.data(), p.bytes());
    } else {
      // After the kernels that came before, whose memory this may have been; nobody waits for it.
      using dimesh::detail::pinned_space;
      using moves = dimesh::detail::space_moves<memory>;
      Kokkos::deep_copy(device(),
                        typename moves::template bytes<memory, char>(
                            static_cast<char*>(x.memory.data()), p.bytes()),
                        typename moves::template bytes<pinned_space, const char>(
                            static_cast<const char*>(block.data()), p.bytes()));
    }
  }
  S make_one() const {
    return std::apply([this](const auto&... o) { return make<S>(*grid_, rows_, o...); }, open_);
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
  detail::rows_of<record> plan_;
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
