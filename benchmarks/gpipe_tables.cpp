// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do the tables of GPipe's paper (Huang et al. 2019, arXiv 1811.06965v5) follow from its text?
// Parameters and memory from the Transformer's dims, throughput from the schedule's simulator on
// cells cut by `partition`. Fails where a number that should follow does not. Needs no MPI.
//
//   benchmarks/gpipe_tables
#include <cmath>
#include <cstdio>
#include <dimesh/pipeline/check.hpp>
#include <dimesh/pipeline/partition.hpp>
#include <dimesh/pipeline/schedules.hpp>
#include <string>
#include <vector>

namespace dm = dimesh;

namespace {

constexpr double gib = 1024. * 1024 * 1024;
int wrong = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  ++wrong;
  std::printf("FAILED: %s\n", what.c_str());
}

// ---- table 1: the largest models ----------------------------------------------------------------

struct transformer {
  double d = 2048, ff = 8192, vocab = 32000, length = 1024;
  /// Products of attention and feed-forward layer, their biases, two norms.
  double layer() const { return 4 * d * d + 2 * d * ff + 4 * d + ff + d + 4 * d; }
  double parameters(int layers) const { return layers * layer() + 2 * vocab * d; }
  /// Operations for a token forward, of a layer and of the last product.
  double layer_flops() const { return 2 * (4 * d * d + 2 * d * ff) + 2 * 2 * length * d; }
  double head_flops() const { return 2 * vocab * d; }
};

struct largest {
  const char* name;
  int accelerators, layers;
  double parameters, unit, weights, activations;  // as printed: in units; in "G"
};
constexpr largest of_transformers[] = {{"Naive-1", 1, 3, 282.2, 1e6, 11.7, 3.15},
                                       {"Pipe-1", 1, 13, 785.8, 1e6, 8.8, 6.4},
                                       {"Pipe-8", 8, 103, 5.3, 1e9, 59.5, 50.9},
                                       {"Pipe-32", 32, 415, 21.0, 1e9, 235.1, 199.9},
                                       {"Pipe-128", 128, 1663, 83.9, 1e9, 937.9, 796.1}};
/// AmoebaNet-D (Real et al. 2019, figure 2): what adds up parameters in a cell, as GPipe's authors
/// and torchgpipe build it. Convolutions have no bias and are followed by a norm of two numbers a
/// channel; those wider than one pixel work on a quarter of the channels, between two products.
struct amoeba_net {
  double layers, filters, classes = 1000;

  static double product(double in, double out) { return in * out + 2 * out; }
  static double square(double c) {  // 3 x 3
    return product(c, c / 4) + 9 * c / 4 * c / 4 + c / 2 + product(c / 4, c);
  }
  static double cross(double c) {  // 1 x 7 and 7 x 1
    return product(c, c / 4) + 2 * (7 * c / 4 * c / 4 + c / 2) + product(c / 4, c);
  }
  static double normal(double c) { return 3 * product(c, c) + 2 * cross(c); }
  static double reduction(double c) { return square(c) + cross(c) + product(c, c); }

  double parameters() const {
    double c = filters / 4, before = c, last = c, sum = product(27, c);
    bool halved = false;  // has what comes before the last cell's result more rows than that?
    const auto add = [&](bool reduces) {
      sum += product(last, c);
      if (halved || before != c) sum += product(before, c);  // halving: two of half of the channels
      sum += reduces ? reduction(c) : normal(c);
      before = last;
      last = c * (reduces ? 3 : 4);
      halved = reduces;
    };
    const auto reduce = [&] {
      c *= 2;
      add(true);
    };
    reduce();
    for (int part = 0; part < 3; ++part) {
      reduce();
      for (int i = 0; i < layers / 3; ++i) add(false);
    }
    return sum + last * classes + classes;
  }
};
struct convolutional {
  const char* name;
  amoeba_net net;
  double parameters, weights;  // as printed
  double of_peer;  // torchgpipe's own GiB for the same model
};
constexpr convolutional of_amoebas[] = {{"Naive-1", {18, 208}, 82e6, 1.05, .91},
                                        {"Pipe-1", {18, 416}, 318e6, 3.8, 3.57},
                                        {"Pipe-2", {18, 544}, 542e6, 6.45, 6.07},
                                        {"Pipe-4", {36, 544}, 1.05e9, 12.53, 11.80},
                                        {"Pipe-8", {72, 512}, 1.8e9, 24.62, 20.62}};

void table_1() {
  std::printf("Table 1, Transformer: parameters, and 12 bytes of each in GiB\n");
  std::printf("%-9s %6s | %11s %8s | %8s %8s | %s\n", "", "layers", "parameters", "paper", "memory",
              "paper", "activations/device");
  const transformer t;
  for (const largest& r : of_transformers) {
    const double n = t.parameters(r.layers), memory = 12 * n / gib;
    // The paper's cells of Naive-1 are swapped: 3.15 is 12 bytes for each of its 282.2M.
    const bool swapped = r.accelerators == 1 && r.layers == 3;
    const double said = swapped ? r.activations : r.weights;
    const double held = (swapped ? r.weights : r.activations) / r.accelerators;
    std::printf("%-9s %6d | %11.4g %8.4g | %8.2f %8.2f | %.2f%s\n", r.name, r.layers, n,
                r.parameters * r.unit, memory, said, held, swapped ? "  (cells swapped)" : "");
    const double printed = r.unit == 1e9 ? .05 : .1;
    expect(std::abs(n / r.unit - r.parameters) <= std::max(printed, 5e-4 * r.parameters),
           std::string("parameters of ") + r.name);
    expect(std::abs(memory - said) <= std::max(.05, 2e-3 * said),
           std::string("memory of ") + r.name);
    if (!swapped && r.accelerators > 1)
      expect(std::abs(held - 6.3) < .1, std::string("activations of ") + r.name);
    if (r.layers > 3) expect(r.layers == 13 * r.accelerators - 1 + (r.accelerators == 1), r.name);
  }
  std::printf("\nTable 1, AmoebaNet-D: parameters, and 12 bytes of each in GiB\n");
  std::printf("%-9s %8s | %11s %8s | %8s %8s %10s\n", "", "(L, D)", "parameters", "paper", "memory",
              "paper", "torchgpipe");
  for (const convolutional& r : of_amoebas) {
    const double n = r.net.parameters(), memory = 12 * n / gib;
    std::printf("%-9s %3.0f, %3.0f | %11.4g %8.4g | %8.2f %8.2f %10.2f\n", r.name, r.net.layers,
                r.net.filters, n, r.parameters, memory, r.weights, r.of_peer);
    // 82M and 318M are missed by 0.6 and 0.3 %; 1.05B and 1.8B are printed to 0.05B.
    expect(std::abs(n - r.parameters) <=
               std::max(.006 * r.parameters, r.parameters < 1e9 ? 1e6 : .05e9),
           std::string("parameters of ") + r.name);
    expect(std::abs(memory - r.of_peer) < .006, std::string("memory of ") + r.name);
  }
  std::printf(
      "  The paper's memory is 6 to 19 %% more than 12 bytes a parameter; torchgpipe's is just "
      "that.\n");
  const double times = of_amoebas[4].parameters / of_amoebas[0].parameters;
  std::printf(
      "  The text says 25 times what fits on one accelerator: by parameters it is %.0f times, by\n"
      "  their memory %.0f. The caption says NVIDIA GPUs, the text Cloud TPUv2s.\n\n",
      times, of_amoebas[4].weights / of_amoebas[0].weights);
  expect(std::lround(times) == 22, "parameters of Pipe-8 by those of Naive-1");
}

// ---- tables 2 and 3: throughput -----------------------------------------------------------------

/// Durations of the cells of a chain, backward with the forward pass again: what GPipe does.
struct cell_times {
  std::vector<double> forward;
  double message = 0;
  double of(const dm::stage_operation& o) const {
    const double f = forward[static_cast<std::size_t>(o.stage)];
    return o.work == dm::stage_work::forward ? f : 3 * f;
  }
};
/// Mini-batches in a unit of time: a micro-batch takes one m-th of what it takes whole.
double throughput(const std::vector<double>& layers, int stages, int micros) {
  const std::vector<int> bounds = dm::partition(layers, stages);
  cell_times times;
  for (int s = 0; s < stages; ++s) {
    double sum = 0;
    for (int i = bounds[static_cast<std::size_t>(s)]; i < bounds[static_cast<std::size_t>(s) + 1];
         ++i)
      sum += layers[static_cast<std::size_t>(i)];
    times.forward.push_back(sum / micros);
  }
  return 1 / dm::check_schedule(dm::gpipe{stages, micros}, times).makespan;
}
double ideal(int k, int m) { return double(k) * m / (m + k - 1); }

std::vector<double> layers_of(int n) {
  const transformer t;
  std::vector<double> costs(static_cast<std::size_t>(n), t.layer_flops());
  costs.push_back(t.head_flops());
  return costs;
}

struct row {
  int micros;
  double paper[3];  // at K = 2, 4, 8
};
/// Normalised as the paper's: to base_stages and base_micros.
void compare(const char* title, const std::vector<double>& layers, const std::vector<row>& rows,
             int base_micros, bool asserted) {
  std::printf("%s\n%8s |%26s |%26s |%26s\n", title, "", "K=2: paper, here, ideal",
              "K=4: paper, here, ideal", "K=8: paper, here, ideal");
  const double base = throughput(layers, 2, base_micros), base_ideal = ideal(2, base_micros);
  for (const row& r : rows) {
    std::printf("M = %4d", r.micros);
    for (int i = 0; i < 3; ++i) {
      const int k = 2 << i;
      const double here = throughput(layers, k, r.micros) / base;
      std::printf(" |%8.2f %8.2f %8.2f", r.paper[i], here, ideal(k, r.micros) / base_ideal);
      const double best = ideal(k, r.micros) / base_ideal;
      if (asserted && r.micros == 32)
        expect(std::abs(r.paper[i] / best - 1) < .1, std::string(title) + ", M = 32");
    }
    std::printf("\n");
  }
}

void tables_2_and_3() {
  const std::vector<double> even(18, 1);
  const std::vector<row> amoeba{
      {1, {1, 1.13, 1.38}}, {4, {1.07, 1.26, 1.72}}, {32, {1.21, 1.84, 3.48}}};
  const std::vector<row> text{{1, {1, 1.07, 1.3}}, {4, {1.7, 3.2, 4.8}}, {32, {1.8, 3.4, 6.3}}};
  compare("Table 2, Transformer-48 on TPUs, to K = 2, M = 1", layers_of(48), text, 1, true);
  compare("Table 2, AmoebaNet-D (18, 256) on TPUs, to K = 2, M = 1; 18 equal layers", even, amoeba,
          1, false);
  compare("Table 3, Transformer-24 on P100s without NVLink, to K = 2", layers_of(24),
          {{32, {1, 1.8, 3.3}}}, 32, true);
  compare("Table 3, AmoebaNet-D (18, 128), to K = 2; 18 equal layers", even, {{32, {1, 1.7, 2.7}}},
          32, false);
  std::printf(
      "  M = 4 of the Transformer exceeds the ideal: the paper chose another batch for each K and\n"
      "  M, so that row is no measure of the schedule. AmoebaNet's layers differ in cost, which "
      "the\n"
      "  paper does not tell; equal ones are the best case, and 18 do not divide by 4 or 8.\n"
      "  Messages take no time here. `Here` counts the product with the vocabulary as one layer\n"
      "  more (1.2 of the others), at the end: with it, 24 layers in 8 cells leave one of 4. The\n"
      "  paper's 3.3 is more than that allows, so its cells were not cut so; the ideal, of equal\n"
      "  cells, is within 10 %% of the paper's M = 32 for both Transformers.\n");
  // The formula itself, where layers are equal and divide.
  for (const int k : {2, 4, 8})
    for (const int m : {1, 4, 32}) {
      const std::vector<double> equal(48, 1);
      const double here = throughput(equal, k, m) * 4 * 48;
      expect(std::abs(here - ideal(k, m)) < 1e-9, "K M / (M + K - 1)");
    }
}

}  // namespace

int main() {
  table_1();
  tables_2_and_3();
  if (wrong == 0) std::printf("\nAll that should follow does.\n");
  return wrong == 0 ? 0 : 1;
}
