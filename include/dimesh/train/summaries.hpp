// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do the figures of a run go? Into a folder, from one rank: as lines of JSON
// (summaries.jsonl, one object a figure), and as an event file for TensorBoard. A run that goes on
// where another stopped adds to them: of two figures with one name and step the later counts.
// Where the disk is full on that rank, the others must hear of it before they wait for it: figures
// that cannot be written are left out, and flush() says so on all ranks.
//
//   summaries log("runs/7", g);
//   log.scalar(step, "loss", loss);
//   log.histogram(step, "gradient", gradient.w);       // collective
//   log.flush();                                       // collective
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dimesh/core/any_argument.hpp"
#include "dimesh/grid.hpp"
#include "dimesh/io/agree.hpp"
#include "dimesh/reflect/paths.hpp"
#include "dimesh/show/escape.hpp"
#include "dimesh/train/event_file.hpp"
#include "dimesh/train/histogram.hpp"
#include "dimesh/train/metric_history.hpp"
#include "dimesh/train/png.hpp"

namespace dimesh {

class summaries {
 public:
  /// Writes on the grid's first rank; elsewhere nothing is written. The grid outlives it.
  /// Collective: throws dimesh::error on all ranks where the folder cannot be made or written.
  template <Mesh M>
  summaries(const std::string& folder, const grid<M>& g) : summaries(folder, g.everyone()) {}
  summaries(const std::string& folder, const detail::communicator& everyone) : all_(&everyone) {
    detail::together(all_->handle(), [&] { open(folder, everyone.rank() == 0); });
  }
  /// On a rank by itself.
  explicit summaries(const std::string& folder, bool writes = true) { open(folder, writes); }

  void scalar(index_t step, std::string_view tag, double value) {
    if (!to_) return;
    to_->figures.add(step, tag, value);
    attempt([&] {
      to_->events.scalar(step, tag, value);
      line(step, tag, "\"value\":" + detail::json_number(value));
    });
  }
  /// Of the tensor's elements. Collective over its grid.
  template <Tensor X> void histogram(index_t step, std::string_view tag, const X& x) {
    const value_histogram h = histogram_of(x);
    if (to_) histogram(step, tag, h);
  }
  template <Operand X>
    requires is_poison<X>
  void histogram(index_t, std::string_view, const X&) {}
  template <class... No>
    requires(sizeof...(No) == 0)
  void scalar(detail::any_argument, detail::any_argument, detail::any_argument = {}) {
    static_assert(ok<wrong_arguments<detail::nothing<No...>>>,
                  "summaries: the step comes first, then a name, then the number: log.scalar(step, "
                  "\"loss\", value(loss))");
  }
  template <class... No>
    requires(sizeof...(No) == 0)
  void histogram(detail::any_argument, detail::any_argument, detail::any_argument = {}) {
    static_assert(ok<wrong_arguments<detail::nothing<No...>>>,
                  "summaries: the step comes first, then a name, then a tensor, of which a struct "
                  "has several: log.histogram(step, \"w\", params.w)");
  }
  void histogram(index_t step, std::string_view tag, const value_histogram& h) {
    if (!to_) return;
    std::string limits, counts;
    const auto b = h.buckets();
    for (std::size_t i = 0; i < b.limits.size(); ++i) {
      const char* const comma = i == 0 ? "" : ",";
      limits += comma + detail::json_number(b.limits[i]);
      counts += comma + detail::json_number(b.counts[i]);
    }
    attempt([&] {
      to_->events.histogram(step, tag, h);
      line(step, tag,
           "\"count\":" + std::to_string(h.count) + ",\"not_finite\":" +
               std::to_string(h.not_finite) + ",\"min\":" + detail::json_number(h.min) +
               ",\"max\":" + detail::json_number(h.max) + ",\"sum\":" + detail::json_number(h.sum) +
               ",\"sum_of_squares\":" + detail::json_number(h.sum_of_squares) + ",\"limits\":[" +
               limits + "],\"counts\":[" + counts + "]");
    });
  }
  /// Pixels of 1 or 3 channels of 0..255, row by row; lines of JSON name the file, a PNG, after tag
  /// and step: what is no letter or digit is a '_', and then bits of the tag tell it from others.
  void image(index_t step, std::string_view tag, index_t height, index_t width, int channels,
             std::string_view pixels) {
    if (!to_) return;
    std::string png = png_of(height, width, channels, pixels);
    std::string name(tag);
    for (char& c : name)
      if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    if (name != tag) name += "_" + bits_of(tag);
    name += "_" + std::to_string(step) + ".png";
    attempt([&] {
      to_->events.image(step, tag, height, width, channels, png);
      errno = 0;
      std::ofstream out(to_->folder + "/" + name, std::ios::binary);
      if (!out.write(png.data(), static_cast<std::streamsize>(png.size())).flush()) refuse(name);
      line(step, tag, "\"image\":" + detail::json_text(name));
    });
    auto& all = to_->images;
    all.erase(std::remove_if(all.begin(), all.end(), [&](const auto& i) { return i.tag == tag; }),
              all.end());
    all.push_back({std::string(tag), step, std::move(png)});
  }
  void text(index_t step, std::string_view tag, std::string_view words) {
    if (!to_) return;
    to_->texts.push_back({std::string(tag), step, std::string(words)});
    attempt([&] {
      to_->events.text(step, tag, words);
      line(step, tag, "\"text\":" + detail::json_text(words));
    });
  }
  /// What was written is in the files. Throws dimesh::error where some of it is not; made with a
  /// grid, it is collective, and all ranks throw.
  void flush() {
    if (to_)
      attempt([this] {
        to_->events.flush();
        errno = 0;
        if (!to_->lines.flush()) refuse(lines_name);
      });
    if (all_ != nullptr)
      detail::agree_on_fault(all_->handle(), fault());
    else if (!fault().empty())
      throw error(fault());
  }
  /// Why a figure could not be written on this rank; those after it are left out. Empty: all were.
  std::string fault() const { return to_ ? to_->fault : std::string(); }

  struct text_entry {
    std::string tag;
    index_t step;
    std::string words;
  };
  struct image_entry {
    std::string tag;
    index_t step;
    std::string png;
  };
  /// What this program wrote: for reports. Empty where nothing is written.
  metric_history scalars() const { return to_ ? to_->figures : metric_history(); }
  std::vector<text_entry> texts() const { return to_ ? to_->texts : std::vector<text_entry>(); }
  /// The last one of each name.
  std::vector<image_entry> images() const { return to_ ? to_->images : std::vector<image_entry>(); }
  bool writes() const { return to_ != nullptr; }

 private:
  struct files {
    explicit files(const std::string& where) : folder(where), events(where) {}
    std::string folder;
    event_file events;
    std::ofstream lines;
    metric_history figures;
    std::vector<text_entry> texts;
    std::vector<image_entry> images;
    std::string fault;
  };
  static constexpr const char* lines_name = "summaries.jsonl";

  void open(const std::string& folder, bool writes) {
    if (!writes) return;
    to_ = std::make_unique<files>(folder);
    errno = 0;
    to_->lines.open(folder + "/" + lines_name, std::ios::app);
    if (!to_->lines) refuse(lines_name);
  }
  template <class F> void attempt(const F& f) {
    if (!to_->fault.empty()) return;
    try {
      f();
    } catch (const error& e) {
      to_->fault = e.what();
    }
  }
  void line(index_t step, std::string_view tag, const std::string& rest) {
    const double now =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    char time[32];
    std::snprintf(time, sizeof time, "%.3f", now);
    errno = 0;
    to_->lines << "{\"step\":" << step << ",\"time\":" << time
               << ",\"tag\":" << detail::json_text(tag) << "," << rest << "}\n";
    if (!to_->lines) refuse(lines_name);
  }
  static std::string bits_of(std::string_view tag) {
    detail::text_hash hash;
    hash.add(tag);
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash.bits));
    return digits;
  }
  [[noreturn]] void refuse(const std::string& name) const {
    throw error("summaries: '" + to_->folder + "/" + name + "' cannot be written" +
                detail::why_not());
  }

  const detail::communicator* all_ = nullptr;
  std::unique_ptr<files> to_;
};

}  // namespace dimesh
