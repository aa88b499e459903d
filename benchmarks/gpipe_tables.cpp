// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Do the tables of GPipe's paper (Huang et al. 2019, arXiv 1811.06965v5) follow from its text?
// Parameters and memory from the models' dims, throughput from the schedule's simulator on cells
// cut by `partition`. Fails where a number that should follow does not. Needs no MPI.
//
//   benchmarks/gpipe_tables
#include "gpipe/throughput.hpp"

using namespace gpipe;

namespace {

constexpr double gib = 1024. * 1024 * 1024;
constexpr double in_training = 12, element = 4;  // bytes of a parameter, and of what is kept

// ---- table 1: the largest models ----------------------------------------------------------------

/// What a pipeline keeps at its peak, of all accelerators: what each cell is given of the whole
/// mini-batch, and what all its layers keep of one micro-batch, the one that is run again.
double activations(const std::vector<layer>& layers, int cells, double batch, double micro) {
  const std::vector<int> bounds = dimesh::partition(of_each(layers, &layer::flops), cells);
  double bytes = micro * element * sum_of(layers, &layer::kept);
  for (std::size_t i = 1; i + 1 < bounds.size(); ++i)
    bytes += batch * element * layers[static_cast<std::size_t>(bounds[i]) - 1].given;
  return bytes;
}

struct largest {
  const char* name;
  int accelerators, layers;
  double parameters, unit, weights, activations;  // as printed: in units; in "G"
};
constexpr largest of_transformers[] = {{"Naive-1", 1, 3, 282.2, 1e6, 3.15, 11.7},
                                       {"Pipe-1", 1, 13, 785.8, 1e6, 8.8, 6.4},
                                       {"Pipe-8", 8, 103, 5.3, 1e9, 59.5, 50.9},
                                       {"Pipe-32", 32, 415, 21.0, 1e9, 235.1, 199.9},
                                       {"Pipe-128", 128, 1663, 83.9, 1e9, 937.9, 796.1}};

void transformers() {
  std::printf(
      "Table 1, Transformer: parameters, 12 bytes of each in GiB, and activations in GiB an\n"
      "accelerator: 32 sequences in micro-batches of 2 (M = 16), 4 bytes an element; Naive-1 "
      "keeps\n"
      "all of 16 sequences\n");
  std::printf("%-9s %6s | %10s %10s | %8s %8s | %8s %8s\n", "", "layers", "parameters", "paper",
              "memory", "paper", "kept", "paper");
  const transformer t;
  for (const largest& r : of_transformers) {
    const auto layers = t.layers(r.layers);
    const bool pipe = r.layers > 3;
    const double n = sum_of(layers, &layer::parameters), memory = in_training * n / gib;
    // The first cell is given embedded tokens, as all others are.
    const double entry = pipe ? 32 * element * t.block().given : 0;
    const double kept =
        (activations(layers, r.accelerators, 32, pipe ? 2 : 16) + entry) / r.accelerators / gib;
    const double held = r.activations / r.accelerators;
    std::printf("%-9s %6d | %10.4g %10.4g | %8.2f %8.2f | %8.2f %8.2f\n", r.name, r.layers, n,
                r.parameters * r.unit, memory, r.weights, kept, held);
    const double printed = r.unit == 1e9 ? .05 : .1;
    expect(std::abs(n / r.unit - r.parameters) <= std::max(printed, 5e-4 * r.parameters),
           std::string("parameters of ") + r.name);
    expect(std::abs(memory - r.weights) <= std::max(.05, 2e-3 * r.weights),
           std::string("memory of ") + r.name);
    expect(std::abs(kept / held - 1) < .08, std::string("activations of ") + r.name);
    if (r.accelerators > 1)
      expect(std::abs(held - 6.3) < .1, std::string("equal activations of ") + r.name);
    if (pipe) expect(r.layers == 13 * r.accelerators - 1 + (r.accelerators == 1), r.name);
  }
  const double mask = 13 * 2 * 2 * t.block().given * element / gib;
  std::printf(
      "  The paper's cells of Naive-1 are swapped: 3.15 is 12 bytes for each of its 282.2M. It\n"
      "  does not say M, nor what an element takes: 4 sequences at a time (M = 8) in 2 bytes\n"
      "  keep as much in each layer, and Naive-1 has room for 32 only then. Pipes keep 3 to 7\n"
      "  %% less here; the masks of dropout behind attention and feed-forward layer would be\n"
      "  %.2f GiB more.\n\n",
      mask);
}

struct convolutional {
  const char* name;
  int accelerators;
  amoeba_net net;
  double parameters, weights, activations;  // as printed
  double of_peer;  // torchgpipe's own GiB of parameters for the same model
};
constexpr convolutional of_amoebas[] = {{"Naive-1", 1, {18, 208}, 82e6, 1.05, 6.26, .91},
                                        {"Pipe-1", 1, {18, 416}, 318e6, 3.8, 3.46, 3.57},
                                        {"Pipe-2", 2, {18, 544}, 542e6, 6.45, 8.11, 6.07},
                                        {"Pipe-4", 4, {36, 544}, 1.05e9, 12.53, 15.21, 11.80},
                                        {"Pipe-8", 8, {72, 512}, 1.8e9, 24.62, 26.24, 20.62}};

void amoeba_nets() {
  std::printf(
      "Table 1, AmoebaNet-D: the same; activations of 128 images of 224 x 224 pixels, 8 at a time\n"
      "(M = 16), 4 bytes an element, and how many at a time give the paper's\n");
  std::printf("%-9s %8s | %10s %8s | %8s %8s %10s | %8s %8s %8s\n", "", "(L, D)", "parameters",
              "paper", "memory", "paper", "torchgpipe", "kept", "paper", "images");
  for (const convolutional& r : of_amoebas) {
    const auto layers = r.net.layers();
    const double n = sum_of(layers, &layer::parameters), memory = in_training * n / gib;
    const double held = r.activations / r.accelerators;
    // The first cell of a pipeline keeps the images themselves.
    const double entry = &r == of_amoebas ? 0 : 128 * 3 * 224. * 224 * element;
    const auto kept_of = [&](double images) {
      return (activations(layers, r.accelerators, 128, images) + entry) / r.accelerators / gib;
    };
    const double one = kept_of(2) - kept_of(1), images = 1 + (held - kept_of(1)) / one;
    std::printf("%-9s %3.0f, %3.0f | %10.4g %8.4g | %8.2f %8.2f %10.2f | %8.2f %8.2f %8.1f\n",
                r.name, r.net.repeated, r.net.filters, n, r.parameters, memory, r.weights,
                r.of_peer, kept_of(8), held, images);
    if (r.accelerators > 1)
      expect(std::abs(kept_of(8) / held - 1) < .11, std::string("activations of ") + r.name);
    // 82M and 318M are missed by 0.6 and 0.3 %; 1.05B and 1.8B are printed to 0.05B.
    expect(std::abs(n - r.parameters) <=
               std::max(.006 * r.parameters, r.parameters < 1e9 ? 1e6 : .05e9),
           std::string("parameters of ") + r.name);
    expect(std::abs(memory - r.of_peer) < .006, std::string("memory of ") + r.name);
  }
  const double times = of_amoebas[4].parameters / of_amoebas[0].parameters;
  std::printf(
      "  The paper's memory of parameters is 6 to 19 %% more than 12 bytes of each;\n"
      "  torchgpipe's is just that. M = 16 keeps 7 to 10 %% less than the paper from 2\n"
      "  accelerators on; Pipe-1's are those of M between 16 and 32, and Naive-1's of some 20\n"
      "  images: 128 would be 40 GiB. The text says 25 times what fits on one accelerator: by\n"
      "  parameters it is %.0f times, by their memory %.0f. The caption says NVIDIA GPUs, the\n"
      "  text Cloud TPUv2s.\n\n",
      times, of_amoebas[4].weights / of_amoebas[0].weights);
  expect(std::lround(times) == 22, "parameters of Pipe-8 by those of Naive-1");
}

// ---- tables 2 and 3: throughput -----------------------------------------------------------------

struct row {
  int micros;
  double paper[3];  // at K = 2, 4, 8
};
/// Normalised as the paper's: to K = 2 and base_micros. Within: how far M = 32 may be from here.
void compare(const char* title, const costs& layers, const std::vector<row>& rows, int base_micros,
             double within) {
  std::printf("%s\n%8s |%26s |%26s |%26s\n", title, "", "K=2: paper, here, ideal",
              "K=4: paper, here, ideal", "K=8: paper, here, ideal");
  const double base = throughput(layers, 2, base_micros), base_ideal = ideal(2, base_micros);
  for (const row& r : rows) {
    std::printf("M = %4d", r.micros);
    for (int i = 0; i < 3; ++i) {
      const int k = 2 << i;
      const double here = throughput(layers, k, r.micros) / base;
      const double best = ideal(k, r.micros) / base_ideal;
      std::printf(" |%8.2f %8.2f %8.2f", r.paper[i], here, best);
      if (base_micros == 1) expect(here <= best * (1 + 1e-12), "no more than the ideal");
      if (r.micros == 1) expect(std::abs(here - 1) < 1e-12, "one micro-batch gains nothing");
      if (within > 0 && r.micros == 32)
        expect(std::abs(r.paper[i] / best - 1) < within, std::string(title) + ", M = 32");
    }
    std::printf("\n");
  }
}

/// At M = 32 the paper's figures lie between those by memory and those by operations.
void expect_between(const std::vector<layer>& model, const row& r, int base_micros) {
  const costs slow = by_memory(model), fast = by_operations(model);
  for (int i = 0; i < 3; ++i) {
    const auto gain = [&](const costs& c) {
      return throughput(c, 2 << i, r.micros) / throughput(c, 2, base_micros);
    };
    expect(r.paper[i] > .92 * gain(slow) && r.paper[i] < 1.001 * gain(fast),
           "AmoebaNet between its two costs");
  }
}
void tables_2_and_3() {
  const transformer t;
  const auto net = amoeba_net{18, 256}.layers(), thin = amoeba_net{18, 128}.layers();
  const std::vector<row> amoeba{
      {1, {1, 1.13, 1.38}}, {4, {1.07, 1.26, 1.72}}, {32, {1.21, 1.84, 3.48}}};
  const std::vector<row> text{{1, {1, 1.07, 1.3}}, {4, {1.7, 3.2, 4.8}}, {32, {1.8, 3.4, 6.3}}};
  const std::vector<row> amoeba_slow{{32, {1, 1.7, 2.7}}};
  compare("Table 2, Transformer-48 on TPUs, to K = 2, M = 1", by_operations(t.layers(48)), text, 1,
          .1);
  compare("Table 2, AmoebaNet-D (18, 256) on TPUs, to K = 2, M = 1", by_operations(net), amoeba, 1,
          0);
  compare("  the same cells, a layer's time as what it keeps", by_memory(net), amoeba, 1, 0);
  expect_between(net, amoeba[2], 1);
  compare("Table 3, Transformer-24 on P100s without NVLink, to K = 2", by_operations(t.layers(24)),
          {{32, {1, 1.8, 3.3}}}, 32, .1);
  compare("Table 3, AmoebaNet-D (18, 128), to K = 2", by_operations(thin), amoeba_slow, 32, 0);
  compare("  the same cells, a layer's time as what it keeps", by_memory(thin), amoeba_slow, 32, 0);
  expect_between(thin, amoeba_slow[0], 32);
  std::printf(
      "  Messages take no time here. With one micro-batch no two cells ever work at once, so no\n"
      "  K gains anything: what M = 1 gains in the paper, up to 1.38, is not the schedule's.\n"
      "  The paper chose the batch for each K and M by what fits, and more accelerators hold a\n"
      "  larger one; so M = 4 of the Transformer exceeds the ideal, too. Its M = 32 is within\n"
      "  10 %% of it.\n"
      "  `Here` counts the product with the vocabulary as one layer more (1.2 of the others),\n"
      "  at the end: with it, 24 layers in 8 cells leave one of 4. Table 3's 3.3 is more than\n"
      "  that allows, so the paper's cells were not cut so.\n"
      "  AmoebaNet's layers are nearly equal in operations: exact cells lose 4 to 11 %% of the\n"
      "  ideal at M = 32, the paper 38 to 50, and does not tell why. Its first layers keep\n"
      "  most, of large images, and norms and pools take time by that. If all time went so, one\n"
      "  of two cells cut by operations would have %.0f %% of it. At M = 32 the paper is\n"
      "  between the two reckonings, or up to 8 %% below; nearest to the second one for K = 2\n"
      "  and 4 on TPUs. M = 4 is below both.\n",
      100 * largest_part(by_memory(net), 2));
  // The formula itself, where layers are equal and divide.
  const std::vector<double> equal(48, 1);
  for (const int k : {2, 4, 8})
    for (const int m : {1, 4, 32}) {
      const double here = throughput({equal, equal}, k, m) * 4 * 48;
      expect(std::abs(here - ideal(k, m)) < 1e-9, "K M / (M + K - 1)");
    }
}

}  // namespace

int main() {
  transformers();
  amoeba_nets();
  tables_2_and_3();
  if (wrong == 0) std::printf("\nAll that should follow does.\n");
  return wrong == 0 ? 0 : 1;
}
