// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file with the names and shapes of GPT-2's published weights loads into a language model of any
// layout, which then says what PyTorch says (tests/support/gpt2_fixture.py).
//
// ranks: 1 2 4
#include "dimesh/io/checkpoint/gpt2.hpp"

#include <doctest/doctest.h>

#include "dimesh/io/checkpoint/files.hpp"
#include "dimesh/io/checkpoint/load_safetensors.hpp"
#include "dimesh/io/checkpoint/safetensors.hpp"
#include "dimesh/op/to_rank.hpp"
#include "support/checkpoints.hpp"
#include "support/small_form.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace nn = dimesh::nn;
using dm::index_t;

struct batch : dm::dim<2> {};
struct length : dm::dim<6> {};
struct model : dm::dim<8> {};
struct heads : dm::dim<2> {};
struct head : dm::dim<4> {};
struct hidden : dm::dim<32> {};
struct vocab : dm::dim<11> {};
struct gpt2 : small_form<batch, length, model, heads, head, hidden, vocab> {};
struct gpt2_in_double : gpt2 {
  using element = double;
};

/// The weights of the fixture, in its order, and the masks that the published files have.
struct writer {
  std::vector<dm::safetensors_entry> entries;
  std::string bytes;

  void add(const std::string& name, const std::vector<index_t>& shape, double around = 0) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    const auto k = static_cast<index_t>(entries.size()) + 1;
    for (index_t i = 0; i < n; ++i) {
      const auto number = static_cast<double>((i * 7919 + k * 104729) % 2003);
      const auto value = static_cast<float>(around + 0.5 * (number / 2003 - 0.5));
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    entries.push_back({name, dm::element_kind::float32, shape, 0, 0});
  }
  void add_pair(const std::string& name, const std::vector<index_t>& shape, double around = 0) {
    add(name + ".weight", shape, around);
    add(name + ".bias", {shape.back()});
  }
  void write(const std::string& path) {
    cp::write_text(path, dm::safetensors_text(entries, {}) + bytes);
  }
};
void write_gpt2(const std::string& path, const std::string& prefix) {
  writer w;
  w.add(prefix + "wte.weight", {11, 8});
  w.add(prefix + "wpe.weight", {9, 8});
  for (const char* layer : {"h.0.", "h.1."}) {
    w.add_pair(prefix + layer + "ln_1", {8}, 1);
    w.add_pair(prefix + layer + "attn.c_attn", {8, 24});
    w.add_pair(prefix + layer + "attn.c_proj", {8, 8});
    w.add_pair(prefix + layer + "ln_2", {8}, 1);
    w.add_pair(prefix + layer + "mlp.c_fc", {8, 32});
    w.add_pair(prefix + layer + "mlp.c_proj", {32, 8});
  }
  w.add_pair(prefix + "ln_f", {8}, 1);
  for (const char* layer : {"h.0.", "h.1."}) w.add(prefix + layer + "attn.bias", {1, 1, 9, 9});
  w.write(path);
}

/// Of (batch, position) in the order of the fixture.
constexpr index_t places[4][2] = {{0, 0}, {0, 5}, {1, 3}, {1, 5}};
constexpr double logits_in_torch[4][11] = {
    {0.162438, 0.067328, -0.094576, -0.421895, 0.017494, -0.144409, 0.510395, -0.032339, 0.174842,
     0.079732, -0.082172},
    {-0.332842, 0.077124, -0.087278, -0.282675, 0.026522, -0.137881, 0.726724, -0.024081, -0.320246,
     0.089719, -0.074683},
    {-0.275603, 0.060816, -0.100788, -0.271278, 0.011075, -0.150529, 0.710547, -0.038666, -0.263222,
     0.073197, -0.088407},
    {-0.417211, -0.012209, -0.162798, 0.507998, -0.058560, -0.209149, 0.890850, -0.104911,
     -0.405674, -0.000672, -0.151261}};

template <class C, class M = gpt2>
void check_logits(const dm::grid<line>& g, const std::string& path, const std::string& prefix) {
  using language_model = nn::language_model<C, M>;
  auto p = dm::make<typename language_model::parameters>(g);
  dm::load_safetensors(path, dm::gpt2_names(p, "model", prefix), part("model", p));
  const auto ids = dm::generate<typename language_model::tokens>(
      g, [](index_t b, index_t i) { return static_cast<std::int32_t>((5 * b + 3 * i * i) % 11); });
  const auto all = dm::to_rank(language_model().logits(p, ids));
  if (g.rank() != 0) return;
  for (int k = 0; k < 4; ++k)
    for (index_t v = 0; v < 11; ++v)
      CHECK(std::abs(all[static_cast<std::size_t>((places[k][0] * 6 + places[k][1]) * 11 + v)] -
                     logits_in_torch[k][v]) < 2e-6);
}

TEST_CASE("gpt2: the logits of PyTorch, under every kind of layout") {
  const dm::grid<line> g;
  const scratch at("gpt2");
  for (const std::string prefix : {"", "transformer."}) {
    on_first([&] {
      fs::create_directories(at.path);
      write_gpt2(at.path + "/model.safetensors", prefix);
    });
    check_logits<layout<line>>(g, at.path, prefix);
    check_logits<layout<line, split<uneven<batch>, x>>>(g, at.path, prefix);
    check_logits<
        layout<line, split<uneven<heads>, x>, split<uneven<hidden>, x>, split<uneven<vocab>, x>>>(
        g, at.path, prefix);
    check_logits<layout<line, split<uneven<model>, x>>, gpt2_in_double>(g, at.path, prefix);
  }
}

TEST_CASE("gpt2: files that are another model's") {
  const dm::grid<line> g;
  const scratch at("gpt2_others");
  auto p = dm::make<nn::language_model<layout<line>, gpt2>::parameters>(g);
  const auto load = [&](const std::string& layer, const std::vector<index_t>& shape) {
    on_first([&] {
      fs::create_directories(at.path);
      writer w;
      w.add("wte.weight", {11, 8});
      w.add("wpe.weight", {9, 8});
      w.add_pair(layer, shape);
      w.write(at.path + "/model.safetensors");
    });
    auto names = dm::gpt2_names(p);
    names.partial = true;
    return said([&] { dm::load_safetensors(at.path, names, part("model", p)); });
  };
  CHECK(has(load("h.0.attn.c_attn", {8, 20}),
            "tensor 'h.0.attn.c_attn.weight': expected shape [8, 2, 4] (model heads head) from 16 "
            "on along dim 1, found [8, 20]"));
  CHECK(has(load("h.0.attn.c_proj", {6, 8}), "expected shape [2, 4, 8] (heads head model)"));
  CHECK(load("h.0.mlp.c_fc", {8, 32}).empty());
}

struct one_head : dm::dim<1> {};
struct fewer : small_form<batch, length, model, one_head, head, hidden, vocab> {};
TEST_CASE("gpt2: a model whose heads are not together as wide as it is") {
  const dm::grid<line> g;
  const auto p = dm::make<nn::language_model<layout<line>, fewer>::parameters>(g);
  CHECK(has(said([&] { (void)dm::gpt2_names(p); }),
            "gpt2_names: the heads of this model have 4 elements together, and its width is 8"));
}

}  // namespace
