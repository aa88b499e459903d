// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 4 8
// main: own
// Is the hand-written network right? Every layout that fits the number of ranks must agree with a
// plain double-precision evaluation (loss, gradients, and parameters after some steps), the
// gradients with central differences, and the messages with the table in ffn.hpp.
#include "../../benchmarks/handwritten/ffn.hpp"

#include <census.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <string>

#include "support/host.hpp"
#include "support/worst.hpp"

namespace {

using namespace handwritten;
using std::size_t;

struct layout {
  const char* name;
  mesh axes;
  int ranks() const { return axes.batch * axes.io * axes.hidden; }
};
constexpr layout layouts[] = {{"none", {1, 1, 1}},           {"batch", {4, 1, 1}},
                              {"hidden", {1, 1, 4}},         {"io", {1, 4, 1}},
                              {"batch x hidden", {2, 1, 2}}, {"batch x io", {2, 2, 1}},
                              {"io x hidden", {1, 2, 2}},    {"batch x io x hidden", {2, 2, 2}},
                              {"batch", {8, 1, 1}}};

struct problem {
  extents e;
  parameters p;
  std::vector<float> x;
  std::vector<std::int32_t> labels;

  explicit problem(extents size) : e(size) {
    std::mt19937 random(7);
    const auto fill = [&](std::vector<float>& v, int n, float scale) {
      std::normal_distribution<float> normal(0, scale);
      v.resize(static_cast<size_t>(n));
      for (float& f : v) f = normal(random);
    };
    fill(p.w1, e.pixel * e.hidden, std::sqrt(2.0f / static_cast<float>(e.pixel)));
    fill(p.b1, e.hidden, 0.1f);
    fill(p.w2, e.hidden * e.label, std::sqrt(2.0f / static_cast<float>(e.hidden)));
    fill(p.b2, e.label, 0.1f);
    fill(x, e.batch * e.pixel, 1);
    for (int i = 0; i < e.batch; ++i) labels.push_back(static_cast<int>(random()) & 0xffff);
    for (auto& l : labels) l %= e.label;
  }

  std::vector<float> x_block(mesh m, int rank) const {
    const int b = e.batch / m.batch, p0 = e.pixel / m.io;
    const int ib = rank / (m.io * m.hidden), ii = rank / m.hidden % m.io;
    std::vector<float> out;
    for (int i = ib * b; i < (ib + 1) * b; ++i) {
      const auto row = x.begin() + static_cast<long>(i) * e.pixel + ii * p0;
      out.insert(out.end(), row, row + p0);
    }
    return out;
  }
  std::vector<std::int32_t> labels_block(mesh m, int rank) const {
    const int b = e.batch / m.batch, ib = rank / (m.io * m.hidden);
    return {labels.begin() + ib * b, labels.begin() + (ib + 1) * b};
  }
};

/// The loss, in double precision and in the plainest way; fills the gradients if asked.
double plain(const problem& q, std::vector<double>* gradients = nullptr) {
  const auto [B, P, H, L] = q.e;
  const auto at = [](const std::vector<float>& v, int i, int n, int j) {
    return static_cast<double>(
        v[static_cast<size_t>(i) * static_cast<size_t>(n) + static_cast<size_t>(j)]);
  };
  const size_t w1n = q.p.w1.size(), w2n = q.p.w2.size();
  std::vector<double> g(w1n + static_cast<size_t>(H) + w2n + static_cast<size_t>(L));
  double loss = 0;
  for (int i = 0; i < B; ++i) {
    std::vector<double> a(static_cast<size_t>(H)), y(static_cast<size_t>(L));
    for (int j = 0; j < H; ++j) {
      double z = q.p.b1[static_cast<size_t>(j)];
      for (int k = 0; k < P; ++k) z += at(q.x, i, P, k) * at(q.p.w1, k, H, j);
      a[static_cast<size_t>(j)] = std::max(z, 0.0);
    }
    double sum = 0;
    for (int l = 0; l < L; ++l) {
      double z = q.p.b2[static_cast<size_t>(l)];
      for (int j = 0; j < H; ++j) z += a[static_cast<size_t>(j)] * at(q.p.w2, j, L, l);
      sum += y[static_cast<size_t>(l)] = std::exp(z);
    }
    const auto label = static_cast<size_t>(q.labels[static_cast<size_t>(i)]);
    loss -= std::log(y[label] / sum) / B;
    for (size_t l = 0; l < y.size(); ++l) {
      const double d = (y[l] / sum - (l == label)) / B;
      g[w1n + static_cast<size_t>(H) + w2n + l] += d;
      for (size_t j = 0; j < a.size(); ++j) {
        g[w1n + static_cast<size_t>(H) + j * y.size() + l] += a[j] * d;
        if (a[j] <= 0) continue;
        const double back = d * q.p.w2[j * y.size() + l];
        g[w1n + j] += back;
        for (int k = 0; k < P; ++k)
          g[static_cast<size_t>(k) * a.size() + j] += at(q.x, i, P, k) * back;
      }
    }
  }
  if (gradients) *gradients = g;
  return loss;
}

std::vector<float> flat(const parameters& p) {
  std::vector<float> out = p.w1;
  for (const auto* v : {&p.b1, &p.w2, &p.b2}) out.insert(out.end(), v->begin(), v->end());
  return out;
}
parameters split(const extents& e, const std::vector<double>& v) {
  parameters out;
  auto from = v.begin();
  const auto take = [&](std::vector<float>& to, int n) { to.assign(from, from + n), from += n; };
  take(out.w1, e.pixel * e.hidden), take(out.b1, e.hidden);
  take(out.w2, e.hidden * e.label), take(out.b2, e.label);
  return out;
}

int failures = 0;
void check(bool good, const std::string& what, double value) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (good) return;
  ++failures;
  std::printf("rank %d: FAILED %s (%g)\n", rank, what.c_str(), value);
}

template <class X, class Y> double distance(const X& x, const Y& y) {
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i)
    most = test_support::worst(most, std::abs(double(x[i]) - double(y[i])));
  return most;
}

/// The double-precision gradients against central differences of the double-precision loss.
void check_differences() {
  problem q({6, 5, 7, 3});
  std::vector<double> g;
  plain(q, &g);
  size_t i = 0;
  for (std::vector<float>* v : {&q.p.w1, &q.p.b1, &q.p.w2, &q.p.b2})
    for (float& w : *v) {
      const float middle = w, up = middle + 1e-3f, down = middle - 1e-3f;
      w = up;
      const double above = plain(q);
      w = down;
      const double below = plain(q);
      w = middle;
      const double slope = (above - below) / (double(up) - double(down));
      check(std::abs(slope - g[i]) < 1e-5, "central difference", slope - g[i]);
      ++i;
    }
}

std::pair<long, long> expected_traffic(mesh m, extents e, backward way) {
  const long b = e.batch / m.batch, p = e.pixel / m.io, h = e.hidden / m.hidden, l = e.label;
  long calls = 0, floats = 0;
  const auto count = [&](int ranks, long n) {
    if (ranks > 1) ++calls, floats += n;
  };
  const bool twice = way == backward::transposed;
  for (int i = 0; i <= twice; ++i) count(m.io, b * h), count(m.hidden, b * l);
  if (!twice) count(m.batch, p * h + h + h * l + l + 1);
  if (twice) {
    count(m.batch, p * h), count(m.batch, 1), count(m.batch * m.io, h + h * l);
    count(m.batch * m.io * m.hidden, l);
  }
  return {calls, floats * 4};
}

void check_layout(MPI_Comm world, const layout& layout, backward way) {
  int rank = 0;
  MPI_Comm_rank(world, &rank);
  const problem start({16, 24, 32, 10});
  constexpr float eps = 1e-3f;  // large enough for gradients that are nothing but rounding
  const std::string name = layout.name;
  for (const bool adam : {false, true}) {
    problem q = start;
    network n(world, layout.axes, q.e, way);
    n.set_parameters(q.p);
    check(distance(flat(n.gather_parameters()), flat(q.p)) == 0, name + ": gather_parameters", 0);
    const auto x = q.x_block(layout.axes, rank);
    const auto labels = q.labels_block(layout.axes, rank);
    std::vector<double> w, m, v, g;
    for (const float f : flat(q.p)) w.push_back(f);
    m.resize(w.size()), v.resize(w.size());
    for (int s = 1; s <= 5; ++s) {
      const double expected = plain(q, &g);
      census::reset();
      const double loss =
          adam ? n.step_adam(test_support::on_host(x).data(), test_support::on_host(labels).data(),
                             1e-2f, 0.9f, 0.999f, eps)
               : n.step(test_support::on_host(x).data(), test_support::on_host(labels).data(), 0.1f,
                        0.9f);
      const auto counted = census::snapshot();
      const auto [calls, bytes] = expected_traffic(layout.axes, q.e, way);
      check(counted.calls() == calls && counted.bytes() == bytes, name + ": bytes",
            double(counted.bytes()));
      check(std::abs(loss - expected) < 2e-5, name + ": loss", loss - expected);
      check(distance(flat(n.gather_gradients()), g) < 1e-5, name + ": gradients",
            distance(flat(n.gather_gradients()), g));
      for (size_t i = 0; i < w.size(); ++i)
        if (adam) {
          m[i] = 0.9 * m[i] + 0.1 * g[i], v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
          w[i] -= 1e-2 * m[i] / (1 - std::pow(0.9, s)) /
                  (std::sqrt(v[i] / (1 - std::pow(0.999, s))) + eps);
        } else {
          m[i] = 0.9 * m[i] + g[i], w[i] -= 0.1 * m[i];
        }
      q.p = split(q.e, w);
      const double apart = distance(flat(n.gather_parameters()), flat(q.p));
      check(apart < 2e-5, name + ": parameters", apart);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) check_differences();
  int checked = 0;
  for (const layout& layout : layouts)
    if (layout.ranks() == ranks) {
      for (const backward way : {backward::shortest, backward::transposed})
        check_layout(MPI_COMM_WORLD, layout, way), ++checked;
    }
  check(checked > 0, "no layout for this number of ranks", ranks);
  int total = 0;
  PMPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("%d ranks: %d layouts checked, %d failures\n", ranks, checked / 2, total);
  MPI_Finalize();
  return total != 0;
}
