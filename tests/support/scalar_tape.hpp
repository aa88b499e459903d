// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is the derivative of any program of plain numbers? A tape of scalars: every operation leaves
// the derivatives by its operands, and the tape is walked back. Slow, short, and independent of the
// library: an oracle for gradients.
//
//   scalar_tape t;  var x = t.input(3), y = x * x + 1;  t.backward(y);  t.slope(x)  -> 6
#pragma once

#include <cmath>
#include <vector>

namespace test_support {

class scalar_tape;
struct var {
  double v = 0;
  int id = -1;  // -1: a constant
  var() = default;
  var(double value) : v(value) {}  // NOLINT: constants mix with variables
  var(double value, int place) : v(value), id(place) {}
};

class scalar_tape {
 public:
  scalar_tape() { current() = this; }
  ~scalar_tape() { current() = nullptr; }
  var input(double v) { return add(v, -1, 0, -1, 0); }
  /// A result with slopes da by operand a and db by b.
  static var result(double v, var a, double da, var b = {}, double db = 0) {
    if (current() == nullptr || (a.id < 0 && b.id < 0)) return var(v);
    return current()->add(v, a.id, da, b.id, db);
  }
  void backward(var y) {
    bars_.assign(nodes_.size(), 0);
    bars_[static_cast<std::size_t>(y.id)] = 1;
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      const node& n = nodes_[i];
      if (n.a >= 0) bars_[static_cast<std::size_t>(n.a)] += n.da * bars_[i];
      if (n.b >= 0) bars_[static_cast<std::size_t>(n.b)] += n.db * bars_[i];
    }
  }
  double slope(var x) const { return bars_[static_cast<std::size_t>(x.id)]; }

 private:
  struct node {
    int a, b;
    double da, db;
  };
  static scalar_tape*& current() {
    static scalar_tape* t = nullptr;
    return t;
  }
  var add(double v, int a, double da, int b, double db) {
    nodes_.push_back({a, b, da, db});
    return var(v, static_cast<int>(nodes_.size()) - 1);
  }
  std::vector<node> nodes_;
  std::vector<double> bars_;
};

inline var operator+(var a, var b) { return scalar_tape::result(a.v + b.v, a, 1, b, 1); }
inline var operator-(var a, var b) { return scalar_tape::result(a.v - b.v, a, 1, b, -1); }
inline var operator*(var a, var b) { return scalar_tape::result(a.v * b.v, a, b.v, b, a.v); }
inline var operator/(var a, var b) {
  return scalar_tape::result(a.v / b.v, a, 1 / b.v, b, -a.v / (b.v * b.v));
}
inline var& operator+=(var& a, var b) { return a = a + b; }
inline var exp(var a) { return scalar_tape::result(std::exp(a.v), a, std::exp(a.v)); }
inline var log(var a) { return scalar_tape::result(std::log(a.v), a, 1 / a.v); }
inline var sqrt(var a) { return scalar_tape::result(std::sqrt(a.v), a, 0.5 / std::sqrt(a.v)); }
inline var tanh(var a) {
  const double t = std::tanh(a.v);
  return scalar_tape::result(t, a, 1 - t * t);
}

}  // namespace test_support
