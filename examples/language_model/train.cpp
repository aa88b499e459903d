// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the training under every layout that was asked for.

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
  int ranks() const { return size_; }

  /// Trains under a plan, if it was asked for, on the first `ranks` ranks.
  template <class Plan, class... A> void run(const std::string& name, int ranks, const A&... axes) {
    const auto& asked = s_.layouts;
    const auto has = [&](const std::string& n) {
      return std::find(asked.begin(), asked.end(), n) != asked.end();
    };
    if (!has(name) && !has("all")) return;
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank_ < ranks ? 0 : MPI_UNDEFINED, rank_, &some);
    if (some != MPI_COMM_NULL) {
      const dm::grid<typename Plan::mesh> g(some, axes...);
      results.push_back(trainer<Plan>(name, g, corpus_, s_).run());
      MPI_Comm_free(&some);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  std::vector<report::language_result> results;

 private:
  const settings& s_;
  text::corpus corpus_;
  int rank_ = 0, size_ = 1;
};

std::vector<report::language_result> train_all(const settings& s) {
  job j(s);
  const int n = j.ranks(), half = n % 2 == 0 ? n / 2 : n;
  j.run<one>("one", 1);
  j.run<data>("data", n);
  j.run<by_model>("model", n);
  j.run<hybrid>("hybrid", n, rows{half}, cols{n / half});
  j.run<sequence>("sequence", n);
  j.run<zero>("zero", n);
  return std::move(j.results);
}
