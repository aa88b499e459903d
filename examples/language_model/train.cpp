// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the training under every layout that was asked for. What is compiled for each layout, the
// step and the writing of text, too, is compiled here, where their types are made once.

#include "train.hpp"

#include <filesystem>

#include "layouts.hpp"

class job {
 public:
  explicit job(const settings& s) : s_(s), corpus_(text::load(s.text, length::extent)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    if (rank_ == 0) std::filesystem::create_directories(s_.out);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  /// Trains under a plan, on one rank or on all.
  template <class Plan> void run(const std::string& name) {
    using mesh = typename Plan::mesh;
    const bool takes_part = !std::is_same_v<mesh, single> || rank_ == 0;
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, rank_, &some);
    if (some != MPI_COMM_NULL) {
      results.push_back(trainer<Plan>(name, grid_on<mesh>(some), corpus_, s_).run());
      MPI_Comm_free(&some);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  std::vector<report::language_result> results;

 private:
  /// Of the square, half of the ranks stand in a column where that can be.
  template <class M> dm::grid<M> grid_on(MPI_Comm some) const {
    const int half = size_ % 2 == 0 ? size_ / 2 : size_;
    if constexpr (std::is_same_v<M, square>)
      return dm::grid<M>(some, rows{half}, cols{size_ / half});
    else
      return dm::grid<M>(some);
  }

  const settings& s_;
  text::corpus corpus_;
  int rank_ = 0, size_ = 1;
};

std::vector<std::string> layout_names() { return layouts.names(); }

std::vector<report::language_result> train_all(const settings& s) {
  job j(s);
  const bool all = std::find(s.layouts.begin(), s.layouts.end(), "all") != s.layouts.end();
  for (const std::string& name : all ? layouts.names() : s.layouts)
    layouts.visit(name, [&]<class Plan>(dm::layout_tag<Plan>) { j.run<Plan>(name); });
  return std::move(j.results);
}
