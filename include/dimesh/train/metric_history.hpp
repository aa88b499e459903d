// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which figures did a run have at which step, those of earlier runs among them? As curves to be
// plotted, and as a text that a checkpoint keeps to the last bit.
//
//   metric_history h;  h.add(step, "training/loss", loss);
//   h.values("training/loss"), h.series();
//   h.add_text(text of another);
#pragma once

#include <charconv>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "dimesh/detail/config.hpp"
#include "dimesh/error.hpp"

namespace dimesh {

/// Figures over steps, by name.
struct scalar_series {
  std::string tag;
  std::vector<double> step, value;
};

class metric_history {
 public:
  void add(index_t step, std::string_view tag, double value) {
    scalar_series& s = of(tag);
    s.step.push_back(static_cast<double>(step));
    s.value.push_back(value);
  }
  /// By name; empty where there are none. It stays where it is while others are added.
  const std::vector<double>& values(std::string_view tag) const& {
    static const std::vector<double> none;
    for (const scalar_series& s : all_)
      if (s.tag == tag) return s.value;
    return none;
  }
  const std::vector<double>& values(std::string_view) const&& = delete;  // ends with this line
  const std::deque<scalar_series>& series() const& { return all_; }
  const std::deque<scalar_series>& series() const&& = delete;

  /// Of each series a line that says how many figures it has, how long its name is, and its name;
  /// then a step and a figure a line, in hexadecimal.
  std::string text() const {
    std::string lines;
    for (const scalar_series& s : all_) {
      lines += std::to_string(s.value.size()) + " " + std::to_string(s.tag.size()) + " " + s.tag;
      lines += "\n";
      for (std::size_t i = 0; i < s.value.size(); ++i) {
        char line[64];
        char* const end = line + sizeof line;
        lines.append(line, std::to_chars(line, end, static_cast<index_t>(s.step[i])).ptr) += ' ';
        lines.append(line, std::to_chars(line, end, s.value[i], std::chars_format::hex).ptr);
        lines += '\n';
      }
    }
    return lines;
  }
  /// Adds what such a text says. Throws dimesh::error where it is none.
  void add_text(std::string_view lines) {
    reader in{lines.data(), lines.data() + lines.size()};
    while (in.at != in.end) {
      const auto figures = in.number<std::size_t>(), length = in.number<std::size_t>();
      scalar_series& s = of(in.word(length));
      for (std::size_t i = 0; i < figures; ++i) {
        s.step.push_back(static_cast<double>(in.number<index_t>()));
        s.value.push_back(in.number<double>());
      }
    }
  }

 private:
  struct reader {
    const char* at;
    const char* end;

    /// With the one character behind it.
    template <class T> T number() {
      T v{};
      const auto found = [&] {
        if constexpr (std::is_same_v<T, double>)
          return std::from_chars(at, end, v, std::chars_format::hex);
        else
          return std::from_chars(at, end, v);
      }();
      if (found.ec != std::errc()) refuse();
      at = found.ptr;
      skip_one();
      return v;
    }
    std::string_view word(std::size_t length) {
      if (length > static_cast<std::size_t>(end - at)) refuse();
      const std::string_view found(at, length);
      at += length;
      skip_one();
      return found;
    }
    void skip_one() {
      if (at == end || (*at != ' ' && *at != '\n')) refuse();
      ++at;
    }
    [[noreturn]] static void refuse() {
      throw error("metric_history: this is no text of figures that it wrote");
    }
  };
  scalar_series& of(std::string_view tag) {
    for (scalar_series& s : all_)
      if (s.tag == tag) return s;
    return all_.emplace_back(scalar_series{std::string(tag), {}, {}});
  }

  std::deque<scalar_series> all_;
};

}  // namespace dimesh
