// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains one language model on real text under layouts chosen by name; each is a line below. Ends
// with a table of what each layout costs, predicted by its types and counted in MPI, and fails if
// their losses part.
//
// ranks: 2 4
// args: --steps 12 --validation 2 --sample 8 --layouts all --out language_model_test
// demo ranks: 2

#include <CLI/CLI.hpp>
#include <filesystem>

#include "train.hpp"

struct rows : dm::axis<> {};
struct cols : dm::axis<> {};
struct lone : dm::axis<1> {};
struct single : dm::mesh<lone> {};
struct line : dm::mesh<rows> {};
struct square : dm::mesh<rows, cols> {};

using one = plan<dm::layout<single>>;
using data = plan<dm::layout<line, dm::split<batch, rows>>>;
using by_model =
    plan<dm::layout<line, dm::split<heads, rows>, dm::split<hidden, rows>, dm::split<vocab, rows>>>;
using hybrid = plan<dm::layout<square, dm::split<batch, rows>, dm::split<heads, cols>,
                               dm::split<hidden, cols>, dm::split<vocab, cols>>>;
using sequence = plan<dm::layout<line, dm::split<heads, rows>, dm::split<hidden, rows>,
                                 dm::split<vocab, rows>, dm::split_if_free<length, rows>>>;
using zero = plan<dm::layout<line, dm::split<batch, rows>>, dm::layout<line, dm::spread<rows>>>;

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
      results_.push_back(trainer<Plan>(name, g, corpus_, s_).run());
      MPI_Comm_free(&some);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  /// The table, the samples, the report and the verdict; only on rank 0.
  int finish() {
    if (rank_ != 0) return 0;
    report::compare(results_);
    std::cout << "\n" << report::table(results_) << "\n";
    if (s_.sample > 0)
      std::cout << "What the model writes (" << results_.front().layout << "):\n"
                << results_.front().sample << "\n\n";
    report::write_report(results_, s_.out);
    bool agree = true;
    for (const auto& r : results_) agree = agrees(r) && agree;
    if (agree)
      std::cout << "The loss curves of all layouts coincide, and the bytes that MPI carried are "
                   "those that the types predict.\n";
    std::cout << "Report, pictures and traces: " << s_.out << "\n";
    return agree ? 0 : 1;
  }

 private:
  /// Training amplifies rounding: curves must agree to six digits at first, and stay close.
  bool agrees(const report::language_result& r) const {
    const auto& first = results_.front().losses;
    bool close = r.losses.size() == first.size();
    for (std::size_t t = 0; close && t < first.size(); ++t)
      close = std::abs(r.losses[t] - first[t]) <= (t < 20 ? 2e-5 : 0.05);
    if (!close) std::cout << "FAILED: the losses of '" << r.layout << "' part from the first.\n";
    if (!report::bytes_agree(r))
      std::cout << "FAILED: '" << r.layout << "' moved other bytes than its types predict.\n";
    return close && report::bytes_agree(r);
  }

  const settings& s_;
  text::corpus corpus_;
  int rank_ = 0, size_ = 1;
  std::vector<report::language_result> results_;
};

const std::vector<std::string> layouts = {"one",      "data", "model", "hybrid",
                                          "sequence", "zero", "all"};

int train_all(const settings& s) {
  job j(s);
  const int n = j.ranks(), half = n % 2 == 0 ? n / 2 : n;
  j.run<one>("one", 1);
  j.run<data>("data", n);
  j.run<by_model>("model", n);
  j.run<hybrid>("hybrid", n, rows{half}, cols{n / half});
  j.run<sequence>("sequence", n);
  j.run<zero>("zero", n);
  return j.finish();
}

int main(int argc, char** argv) {
  return dm::run(argc, argv, [&] {
    settings s;
    s.terminal = report::on_terminal();
    CLI::App app("A byte-level language model under layouts chosen by name");
    app.add_option("--text", s.text, "a file to learn (the King James text)");
    app.add_option("--out", s.out, "folder for the report, pictures and traces");
    app.add_option("--layouts", s.layouts, "names; the others are compared with the first")
        ->delimiter(',')
        ->check(CLI::IsMember(layouts));
    app.add_option("--steps", s.steps, "training steps")->check(CLI::Range(3, 1 << 30));
    app.add_option("--warmup", s.warmup, "steps until the full rate");
    app.add_option("--rate", s.rate, "learning rate");
    app.add_option("--decay", s.decay, "weight decay");
    app.add_option("--dropout", s.dropout, "part of the activations left out");
    app.add_option("--validation", s.validation, "batches of text never trained on");
    app.add_option("--sample", s.sample, "bytes to write at the end");
    app.add_option("--prompt", s.prompt, "what they continue");
    app.add_option("--temperature", s.temperature, "of the sample; 0: the likeliest byte");
    app.add_option("--seed", s.seed, "of parameters, pieces of text and dropout");
    CLI11_PARSE(app, argc, argv);
    if (s.prompt.empty()) s.prompt = "\n";
    return train_all(s);
  });
}
