// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What must a run keep for another one to go on where it ends? Whatever its steps change, by names:
// it stays where it is, is written to checkpoints, and is as it was when a run goes on from one.
#pragma once

#include <functional>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dimesh/io/checkpoint/load.hpp"
#include "dimesh/optim/loss_scale.hpp"
#include "dimesh/optim/schedule.hpp"
#include "dimesh/optim/state.hpp"
#include "dimesh/train/refused_keeps.hpp"

namespace dimesh {

namespace detail {
/// What a record of that folder has by that name. Throws where it has nothing.
template <class Map>
const typename Map::mapped_type& found_in(const Map& in, const std::string& name,
                                          const std::string& folder) {
  const auto at = in.find(name);
  if (at == in.end())
    throw error("training_run: '" + folder + "' says nothing of '" + name +
                "'; it was saved by another program");
  return at->second;
}
}  // namespace detail

/// The base of training_run.
class kept_state : detail::refused_keeps {
 public:
  /// Tensors, a struct of them or one, under a name. Like all that is kept, they stay where they
  /// are as long as this lives. Halos are not saved: no run goes on from a checkpoint with tensors
  /// that carry some. Keep u, and let the step be u = stencil(f, halo_exchange<1, row>(u)).
  template <class S> void keep(const std::string& name, S& tensors) {
    using fault = detail::kept_fault<S>;
    static_assert(
        ok<only<fault, not_a_tensor>>,
        "training_run::keep: this has no tensors; keep numbers as index_t or double, texts "
        "as std::string, of an optimizer its state: auto state = adam.start(params)");
    static_assert(ok<only<fault, parameters_are_const>>,
                  "training_run::keep: a run that goes on reads what was saved, and this is const; "
                  "let it be auto params = ...");
    static_assert(ok<only<fault, partial_operand>>,
                  "training_run::keep: ranks hold addends of a tensor along this axis, and no "
                  "elements; complete it first");
    if constexpr (ok<fault>) {
      take_name(name);
      detail::checkpoint::note_part(part(name, tensors), tensors_);
    }
  }
  using refused_keeps::keep;
  /// An optimizer's state (optim/state.hpp): Adam's averages as NAME.first and NAME.second, and its
  /// count of steps; sharded, those of all shards together.
  template <OptimizerState S>
    requires(!std::is_const_v<S>)
  void keep(const std::string& name, S& state) {
    S::for_each_part(state, [&](const char* const of, auto& part) { keep(name + "." + of, part); });
  }
  /// A number that steps change. Whatever is kept has a name of its own, or this throws.
  void keep(const std::string& name, index_t& count) {
    take_name(name), counts_.emplace_back(name, &count);
  }
  void keep(const std::string& name, double& number) {
    take_name(name), numbers_.emplace_back(name, &number);
  }
  /// A text without which tensors mean nothing, a vocabulary say: a file of each checkpoint, called
  /// by this name. An empty one becomes that of the checkpoint from which a run goes on, or that of
  /// the first rank; another one than these have is an error: what was made by it means something
  /// else. kept_text (train/run_options.hpp) has it before there is a run.
  void keep(const std::string& name, std::string& text) {
    if (!detail::checkpoint::is_name_for_program(name) || name == metrics_file || name == best_file)
      throw error("training_run: a text cannot be called '" + name +
                  "', as which it is a file; take a plain name that no other file has");
    take_name(name), texts_.emplace_back(name, &text);
  }
  /// The numbers of a schedule (optim/schedule.hpp), which goes on as it was saved; where it was
  /// given otherwise, the first rank says so on stderr.
  template <ScheduleOfNumbers R>
    requires(!std::is_const_v<R>)
  void keep(const std::string& name, R& rate) {
    R::for_each_number(rate, [&](const char* const of, auto& number) {
      keep(name + "." + of, number);
      given_.push_back(
          {name + "." + of, static_cast<double>(number), [&number] { return double(number); }});
    });
  }
  /// The factor of a loss that is scaled, and its count of good steps.
  void keep(const std::string& name, dynamic_loss_scale& scale) {
    keep(name + ".factor", scale.factor);
    keep(name + ".good", scale.good);
  }
  /// The place in the data: of a loader (io/data/prefetch.hpp), whose next batch is the one there.
  template <class Loader>
    requires requires(Loader& l) { l.seek(l.position()); }
  void keep(Loader& from) {
    if (seek_place_)
      throw error("training_run: it keeps the place of one loader; keep that of others as numbers");
    keep("epoch", epoch_);
    keep("record", record_);
    note_place_ = [this, &from] {
      const auto at = from.position();
      epoch_ = at.epoch, record_ = at.record;
    };
    seek_place_ = [this, &from] { from.seek({epoch_, record_}); };
  }
  /// What must be as it was in the run that this one goes on from, and the same on all ranks: a
  /// seed, say.
  void keep_same(const std::string& name, index_t number) {
    take_name(name), same_.emplace_back(name, number);
  }

 protected:
  static constexpr const char* metrics_file = "metrics.txt";
  static constexpr const char* best_file = "best.txt";
  /// Ranks without a text get the first one's. Collective; throws on all ranks where some have
  /// another one.
  void agree_on_texts(MPI_Comm everyone) const {
    for (const auto& kept : texts_) {
      const std::string first = detail::text_from(everyone, 0, *kept.second);
      detail::together(everyone, [&] {
        if (!kept.second->empty() && *kept.second != first)
          throw error("training_run: ranks keep different texts as '" + kept.first +
                      "'; give all of them that of the first rank, or none");
      });
      *kept.second = first;
    }
  }
  /// Collective; throws on all ranks where some have other numbers of what must be the same.
  void agree_on_same(MPI_Comm everyone) const {
    for (const auto& [name, number] : same_) {
      const std::string mine = std::to_string(number);
      const bool differs = detail::text_from(everyone, 0, mine) != mine;
      detail::agree_on_fault(everyone, differs ? "training_run: ranks keep different numbers as '" +
                                                     name + "'; give all of them that of the first"
                                               : "");
    }
  }
  /// As it is now.
  checkpoint_record record(index_t step) const {
    if (note_place_) note_place_();
    checkpoint_record r{.step = step};
    for (const auto& [name, number] : same_) r.integers[name] = number;
    for (const auto& [name, count] : counts_) r.integers[name] = *count;
    for (const auto& [name, number] : numbers_) r.numbers[name] = *number;
    for (const auto& [name, text] : texts_) r.files[name] = *text;
    return r;
  }
  /// Throws where halos would be those of before beside elements that are read.
  void require_no_halos() const {
    for (const auto& x : tensors_)
      for (int d = 0; d < x.core->rank(); ++d)
        if (x.core->layout().halo[d].any())
          throw error("training_run: '" + x.name +
                      "' carries halos, which are not saved; keep it without them, and let the "
                      "step exchange them");
  }
  /// Throws where a record of that folder says nothing of what is kept, or that what must be the
  /// same was not. Changes nothing.
  void require_fits(const checkpoint_record& r, const std::string& folder) const {
    for (const auto& [name, number] : same_)
      if (const auto then = detail::found_in(r.integers, name, folder); then != number)
        throw error("training_run: '" + folder + "' was saved by a run whose " + name + " was " +
                    std::to_string(then) + ", and here it is " + std::to_string(number) +
                    "; go on with that of then");
    for (const auto& kept : counts_) (void)detail::found_in(r.integers, kept.first, folder);
    for (const auto& kept : numbers_) (void)detail::found_in(r.numbers, kept.first, folder);
    for (const auto& [name, text] : texts_)
      if (const auto& then = detail::found_in(r.files, name, folder);
          !text->empty() && *text != then)
        throw error("training_run: '" + folder + "' was saved with another '" + name +
                    "'; make what depends on it from kept_text(options, \"" + name + "\")");
  }
  /// What a record that fits says; tensors are there.
  void take(const checkpoint_record& r, const std::string& folder, bool tells) {
    for (const auto& [name, count] : counts_) *count = r.integers.at(name);
    for (const auto& [name, number] : numbers_) *number = r.numbers.at(name);
    for (const auto& [name, text] : texts_) *text = r.files.at(name);
    for (const given_number& one : given_)
      if (const double now = one.now(); now != one.then && tells)
        std::cerr << "training_run: " << one.name << " is " << now << ", as '" << folder
                  << "' has it, not " << one.then << "\n";
    if (seek_place_) seek_place_();
  }
  std::vector<detail::checkpoint::named_core> tensors_;

 private:
  struct given_number {
    std::string name;
    double then;
    std::function<double()> now;
  };
  void take_name(const std::string& name) {
    if (!names_.insert(name).second || name.starts_with("loop."))
      throw error("training_run: something is kept as '" + name +
                  "' already; give what is kept names of its own");
  }
  std::set<std::string> names_;
  std::vector<std::pair<std::string, index_t*>> counts_;
  std::vector<std::pair<std::string, double*>> numbers_;
  std::vector<std::pair<std::string, std::string*>> texts_;
  std::vector<std::pair<std::string, index_t>> same_;
  std::vector<given_number> given_;
  index_t epoch_ = 0, record_ = 0;
  std::function<void()> note_place_, seek_place_;
};

}  // namespace dimesh
