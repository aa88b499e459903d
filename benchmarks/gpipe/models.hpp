// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do the models of GPipe's paper (Huang et al. 2019, arXiv 1811.06965v5) consist of, layer by
// layer? Counted from their dims: parameters, operations forward, and what is kept for the way
// back.
#pragma once

#include <vector>

namespace gpipe {

/// Of one layer, for one sequence or image.
struct layer {
  double parameters = 0, flops = 0;
  double kept = 0;  // numbers that its way back reads
  double given = 0;  // numbers that go on to the next layer
};

inline double sum_of(const std::vector<layer>& layers, double layer::* what) {
  double sum = 0;
  for (const layer& l : layers) sum += l.*what;
  return sum;
}

struct transformer {
  double d = 2048, ff = 8192, vocab = 32000, length = 1024, heads = 32;

  /// Products of attention and feed-forward layer, their biases, two norms. Kept: what enters the
  /// two norms, what leaves them, queries, keys, values, what attention gives, the feed-forward
  /// layer's ReLU, and the weights of attention, once. No dropout.
  layer block() const {
    return {.parameters = 4 * d * d + 2 * d * ff + 4 * d + ff + d + 4 * d,
            .flops = length * (2 * (4 * d * d + 2 * d * ff) + 2 * 2 * length * d),
            .kept = length * (8 * d + ff) + heads * length * length,
            .given = length * d};
  }
  /// The product with the vocabulary, and softmax. The embedding has as many parameters.
  layer head() const {
    return {.parameters = 2 * vocab * d, .flops = length * 2 * vocab * d, .kept = length * vocab};
  }
  std::vector<layer> layers(int blocks) const {
    std::vector<layer> all(static_cast<std::size_t>(blocks), block());
    all.push_back(head());
    return all;
  }
};

/// AmoebaNet-D (Real et al. 2019, figure 2), as GPipe's authors and torchgpipe build it, of images
/// of 224 x 224 pixels. Convolutions follow a ReLU, have no bias and are followed by a norm of two
/// numbers a channel; those wider than one pixel work on a quarter of the channels, between two
/// products. Of each one its operand and its result are kept; of each max pool its result; of each
/// cell its states: both inputs and five sums.
struct amoeba_net {
  double repeated, filters, classes = 1000;

  std::vector<layer> layers() const {
    chain all{.c = filters / 4, .pixels = 112. * 112};
    all.before = all.last = all.c;
    all.add(convolution(3, all.c, 9, 224. * 224, all.pixels), all.c);
    const auto reduce = [&all] {
      all.c *= 2;
      all.cell(true);
    };
    reduce();
    for (int part = 0; part < 3; ++part) {
      reduce();
      for (int i = 0; i < repeated / 3; ++i) all.cell(false);
    }
    all.layers.push_back({.parameters = all.last * classes + classes,
                          .flops = 2 * all.last * classes,
                          .kept = all.last});
    return all.layers;
  }

 private:
  static layer sum(std::initializer_list<layer> parts) {
    layer y;
    for (const layer& x : parts) y.parameters += x.parameters, y.flops += x.flops, y.kept += x.kept;
    return y;
  }
  static layer convolution(double in, double out, double taps, double pixels_in,
                           double pixels_out) {
    return {.parameters = taps * in * out + 2 * out,
            .flops = 2 * taps * in * out * pixels_out,
            .kept = in * pixels_in + out * pixels_out};
  }
  static layer product(double in, double out, double pixels) {
    return convolution(in, out, 1, pixels, pixels);
  }
  static layer square(double c, double pixels_in, double pixels_out) {  // 3 x 3
    return sum({product(c, c / 4, pixels_in), convolution(c / 4, c / 4, 9, pixels_in, pixels_out),
                product(c / 4, c, pixels_out)});
  }
  static layer cross(double c, double pixels) {  // 1 x 7 and 7 x 1
    const layer seven = convolution(c / 4, c / 4, 7, pixels, pixels);
    return sum({product(c, c / 4, pixels), seven, seven, product(c / 4, c, pixels)});
  }
  static layer normal(double c, double pixels) {
    const layer one = product(c, c, pixels), far = cross(c, pixels);
    return sum({one, one, one, far, far, {.kept = (2 + 7) * c * pixels}});
  }
  static layer reduction(double c, double pixels_in, double pixels) {
    return sum({square(c, pixels_in, pixels),
                cross(c, pixels),
                product(c, c, pixels),
                {.kept = 2 * c * pixels_in + (4 + 5) * c * pixels}});
  }

  /// Channels of a cell, and of the two results that it gets; pixels of the last one.
  struct chain {
    double c, pixels, before = 0, last = 0;
    bool halved = false;  // has what comes before the last result four times as many pixels?
    std::vector<layer> layers{};

    void add(layer l, double channels) {
      const double other = layers.empty() ? 0 : last * pixels_of_last;
      l.given = channels * pixels + other;
      layers.push_back(l);
      before = last, last = channels, pixels_of_last = pixels;
    }
    void cell(bool reduces) {
      layer l = product(last, c, pixels);
      if (halved)  // two products of every fourth pixel, each to half of the channels
        l = sum({l, convolution(before, c, 1, 4 * pixels, pixels)});
      else if (before != c)
        l = sum({l, product(before, c, pixels)});
      const double pixels_in = pixels;
      if (reduces) pixels /= 4;
      l = sum({l, reduces ? reduction(c, pixels_in, pixels) : normal(c, pixels)});
      halved = reduces;
      add(l, c * (reduces ? 3 : 4));
    }
    double pixels_of_last = 0;
  };
};

}  // namespace gpipe
