// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How is a batch made of records, before it is tensors? In memory of the host, as this rank's
// blocks. What makes it knows where rows belong, and not of which type tensors are, so that it is
// compiled once for all layouts.
//
//   host_source& s = ...;                            // host_batches<From> of any stage
//   host_batch one({epoch, record});
//   s.build(one, 0, 2);  s.build(one, 1, 2);         // two halves of its rows, on any threads
//   s.put_into(cores, one);                          // the tensors have it
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "dimesh/core/fill_elements.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/io/data/agree.hpp"
#include "dimesh/io/data/places.hpp"
#include "dimesh/io/data/stage.hpp"
#include "dimesh/memory/memory.hpp"

namespace dimesh::input {
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

/// Makes batches for tensors whose types are gone, of records that only who derives from it knows.
class host_source {
 public:
  /// Of records with so many members, the last tensor may be the mask.
  host_source(std::vector<row_place> places, std::size_t members, last_batch last)
      : places_(std::move(places)), last_(last) {
    require_members(members);
    if (rows() < 1) throw error("input::batch: a batch of no records; give it one or more");
    for (const row_place& p : places_) {
      if (p.rows.length == 0) continue;
      const index_t begin = own_.length == 0 ? p.rows.offset : std::min(own_.offset, p.rows.offset);
      const index_t end = std::max(own_.offset + own_.length, p.rows.offset + p.rows.length);
      own_ = {begin, end - begin};
    }
  }
  host_source(const host_source&) = delete;
  host_source& operator=(const host_source&) = delete;
  virtual ~host_source() = default;

  index_t rows() const { return places_[0].extents[0]; }
  /// All rows that this rank holds any of lie among these.
  block own() const { return own_; }
  /// Records of an epoch.
  virtual index_t records(index_t epoch) const = 0;
  /// Batches of an epoch.
  index_t count(index_t epoch) const;
  /// Throws dimesh::error where the epoch has no batch.
  void require_batch(index_t epoch) const;
  bool ends_before(const position& p) const;  ///< has p's epoch no batch that begins at p?
  /// Where the batch of record p begins: behind the last one, that is the next epoch, which is
  /// asked when it is built. Throws where p is no place of an epoch.
  position begin_at(const position& p) const;

  /// This rank's rows of the batch, of so many parts that it is cut into part k. Threads may call
  /// it, for one batch, too; it does not talk to other ranks.
  void build(host_batch& b, index_t part, index_t parts) const;
  /// What was built becomes the tensors'. What lives where the host does not write is copied there,
  /// in the order of the device's work: b is kept until that is done (wait_for_copies).
  void put_into(tensor_core* const* tensors, host_batch& b) const;
  /// Throws dimesh::error where rows of these tensors lie elsewhere than those that are built.
  void require_places(tensor_core* const* tensors) const;
  /// Are there tensors that are copied?
  bool copies() const;  // (All live in the space of the one mesh.)
  void wait_for_copies() const;

 protected:
  /// Puts the records of rows begin .. end of b into its blocks; `row` is the one at work.
  virtual void put_records(host_batch& b, index_t begin, index_t end, index_t& row) const = 0;
  /// " (line 4 of 'a.txt')", or nothing.
  virtual std::string where(index_t epoch, index_t record) const = 0;

  const std::vector<row_place>& places() const { return places_; }

 private:
  void require_members(std::size_t members);
  void make_blocks(host_batch& b) const;

  std::vector<row_place> places_;
  last_batch last_;
  block own_{};
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void host_source::require_members(std::size_t members) {
  const bool masked = places_.size() == members + 1;
  if (places_.size() != members && !masked)
    throw error("input::batch: a record has " + std::to_string(members) + " members, the struct " +
                std::to_string(places_.size()) +
                " tensors; give a tensor to each, and one more if there is to be a mask");
  if (last_ == last_batch::pad && !masked)
    throw error(
        "input::batch: batches are filled up, and nothing tells records from zeros; add "
        "a tensor to the struct for the mask");
  if (masked && places_.back().whole != 1)
    throw error("input::batch: '" + places_.back().name +
                "' is the mask, one number for each record; it has the batch's dim alone");
  if (masked) places_.back().member = -1;
}
DIMESH_OUTLINE inline index_t host_source::count(index_t epoch) const {
  const index_t n = records(epoch), b = rows();
  return last_ == last_batch::drop ? n / b : (n + b - 1) / b;
}
DIMESH_OUTLINE inline void host_source::require_batch(index_t epoch) const {
  const index_t n = records(epoch), b = rows();
  if (n == 0 || (n < b && last_ == last_batch::drop))
    throw error("input::batch: epoch " + std::to_string(epoch) + " has " + std::to_string(n) +
                " records, a batch has " + std::to_string(b));
}
DIMESH_OUTLINE inline bool host_source::ends_before(const position& p) const {
  const index_t left = records(p.epoch) - p.record;
  return left <= 0 || (left < rows() && last_ == last_batch::drop);
}
DIMESH_OUTLINE inline position host_source::begin_at(const position& p) const {
  if (p.epoch > 0 && p.record == 0) return p;  // behind an epoch, whatever this one has
  if (p.epoch < 0 || p.record < 0 || p.record > records(p.epoch))
    throw error("input: there is no record " + std::to_string(p.record) + " in epoch " +
                std::to_string(p.epoch));
  if (!ends_before(p)) return p;
  if (p.record == 0) require_batch(1);  // so has the first epoch none
  return {p.epoch + 1, 0};
}
/// Where records are put, and how many there are; zeros where they are too few. Once a batch.
DIMESH_OUTLINE inline void host_source::make_blocks(host_batch& b) const {
  const std::lock_guard here(b.lock);
  if (!b.blocks.empty()) return;
  const index_t count = std::min(records(b.at.epoch) - b.at.record, rows());
  if (count < rows() && last_ == last_batch::fail)
    throw error("the last batch of the epoch has " + std::to_string(count) + " records, and " +
                std::to_string(rows()) + " are wanted; drop it, or let it be filled up");
  std::vector<dimesh::detail::storage> blocks;
  for (const row_place& p : places_)
    blocks.push_back(dimesh::detail::storage::acquire(p.bytes(), p.space));
  dimesh::detail::is_settled(true);  // kernels may still read what lay there
  for (std::size_t k = 0; count < rows() && k < places_.size(); ++k)
    std::memset(blocks[k].data(), 0, places_[k].bytes());
  b.records = count;
  b.blocks = std::move(blocks);
}
DIMESH_OUTLINE inline void host_source::build(host_batch& b, index_t part, index_t parts) const {
  const auto begin_of = [&](index_t k) { return own_.offset + k * own_.length / parts; };
  index_t row = 0;
  try {
    make_blocks(b);
    put_records(b, begin_of(part), std::min(begin_of(part + 1), b.records), row);
  } catch (...) {
    const index_t at = b.at.record + row;
    b.fail(at, "input: record " + std::to_string(at) + " of epoch " + std::to_string(b.at.epoch) +
                   where(b.at.epoch, at) + ": " + current_text());
  }
}
DIMESH_OUTLINE inline void host_source::require_places(tensor_core* const* tensors) const {
  for (std::size_t k = 0; k < places_.size(); ++k) require_place(*tensors[k], places_[k]);
}
DIMESH_OUTLINE inline void host_source::put_into(tensor_core* const* tensors, host_batch& b) const {
  require_places(tensors);
  for (std::size_t k = 0; k < places_.size(); ++k) {
    tensor_core& x = *tensors[k];
    const row_place& p = places_[k];
    if (p.is_near) {  // made where the tensor lives; who watches this thread has not seen it made
      using dimesh::detail::watcher;
      if (watcher != nullptr) [[unlikely]]
        dimesh::detail::report_memory(*watcher, static_cast<index_t>(p.bytes()),
                                      dimesh::detail::pool::of(p.home).figures().live);
      x.memory = std::move(b.blocks[k]);
      continue;
    }
    dimesh::detail::begin_to_fill(x);
    dimesh::detail::facts_of_space(p.home).begin_copy_in(x.memory.data(), b.blocks[k].data(),
                                                         p.bytes());
  }
}
DIMESH_OUTLINE inline bool host_source::copies() const { return !places_[0].is_near; }
DIMESH_OUTLINE inline void host_source::wait_for_copies() const {
  dimesh::detail::facts_of_space(places_[0].home).wait_for_copies();
}
#endif

/// The batches of a stage.
template <Stage From> class host_batches final : public host_source {
  using pass = std::remove_cvref_t<pass_of<From>>;
  using record = record_of<From>;

 public:
  host_batches(const From& from, std::vector<row_place> places, last_batch last,
               const row_writer<record>* writers, std::size_t kinds)
      : host_source(std::move(places), members_of<record>::count, last), from_(from) {
    // An array's leaves are listed once, and its places come again and again.
    for (const row_place& p : this->places()) {
      const row_writer<record>* w = writers;
      for (std::size_t left = kinds; left > 1 && w->kind != p.kind; --left) ++w;
      writers_.push_back(w);
    }
  }
  index_t records(index_t epoch) const override { return pass_at(epoch)->size(); }

 private:
  void put_records(host_batch& b, index_t begin, index_t end, index_t& row) const override {
    const auto from = pass_at(b.at.epoch);
    detail::require_unchanged(*from);
    for (row = begin; row < end; ++row)
      if (needs(row)) put((*from)(b.at.record + row), row, b);
    row = 0;
    detail::require_unchanged(*from);
  }
  bool needs(index_t row) const {
    return std::any_of(places().begin(), places().end(),
                       [row](const row_place& p) { return p.has(row); });
  }
  void put(const record& r, index_t row, host_batch& b) const {
    for (std::size_t k = 0; k < places().size(); ++k) {
      const row_place& p = places()[k];
      if (!p.has(row)) continue;
      std::byte* const to = static_cast<std::byte*>(b.blocks[k].data()) +
                            static_cast<std::size_t>((row - p.rows.offset) * p.local) * p.element;
      if (p.member < 0)
        writers_[k]->put_one(to);
      else
        writers_[k]->put[p.member](r, p, to);
    }
  }
  std::string where(index_t epoch, index_t at) const override {
    try {
      const auto from = pass_at(epoch);
      return at < from->size() ? " (" + from->where(at) + ")" : "";
    } catch (...) {
      return {};  // the record's own fault says more
    }
  }
  /// Those of the epochs that were asked for last are kept.
  std::shared_ptr<const pass> pass_at(index_t e) const {
    const std::lock_guard here(lock_);
    auto& [recent, other] = last_passes_;
    if (recent.first != e) std::swap(recent, other);
    if (recent.first != e) recent = {e, std::make_shared<const pass>(from_.epoch(e))};
    return recent.second;
  }

  From from_;
  std::vector<const row_writer<record>*> writers_;  // of each place
  mutable std::mutex lock_;
  mutable std::array<std::pair<index_t, std::shared_ptr<const pass>>, 2> last_passes_{
      {{-1, nullptr}, {-1, nullptr}}};
};

}  // namespace detail
}  // namespace dimesh::input
