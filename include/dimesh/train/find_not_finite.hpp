// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which elements are infinite or no numbers, and where do they come from? A training_run asks of
// each tensor before it is saved. What computation made them is run again, and the result of every
// operation is looked at, on the way back, too: slow, for the step that failed.
//
//   std::string why = find_not_finite(g, [&] { (void)step(params, x, y); }, params);
//     -> "log gave a number that is not finite at batch 3, hidden 4, from operands that are finite
//         on rank 1 (operation 17)"
//     -> "einsum gave a number that is not finite at batch 0, hidden 4, from operand 2,
//         'layers[2].up', which has one at hidden 4 already on rank 0 (operation 5)"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dimesh/collective/all_reduce.hpp"
#include "dimesh/collective/broadcast.hpp"
#include "dimesh/core/replicas.hpp"
#include "dimesh/detail/writes_memory.hpp"
#include "dimesh/grid.hpp"
#include "dimesh/io/agree.hpp"
#include "dimesh/io/checkpoint/blocks.hpp"
#include "dimesh/io/checkpoint/parts.hpp"

namespace dimesh {

namespace detail {

/// The first of these numbers, as words whose bits of the exponent are all ones, or -1.
template <class Word> index_t first_bad(const std::byte* data, index_t count, Word exponent) {
  const writes_memory kernel;
  const auto is_bad = [=](index_t i) {
    Word v;
    std::memcpy(&v, data + i * static_cast<index_t>(sizeof(Word)), sizeof(Word));
    return (v & exponent) == exponent;
  };
  constexpr index_t piece = 4096;
  for (index_t at = 0; at < count; at += piece) {
    const index_t end = std::min(count, at + piece);
    Word bad = 0;
#pragma omp simd reduction(| : bad)
    for (index_t i = at; i < end; ++i) bad = static_cast<Word>(bad | is_bad(i));
    for (index_t i = at; bad != 0 && i < end; ++i)
      if (is_bad(i)) return i;
  }
  return -1;
}
inline index_t first_bad_long(const std::byte* data, index_t count) {
  for (index_t i = 0; i < count; ++i) {
    long double v;
    std::memcpy(&v, data + i * static_cast<index_t>(sizeof v), sizeof v);
    if (!std::isfinite(v)) return i;
  }
  return -1;
}
/// The first of these elements that is not finite, or -1.
inline index_t first_bad(element_kind kind, const std::byte* data, index_t count) {
  constexpr std::uint32_t of_float = 0x7f800000u;
  constexpr std::uint64_t of_double = 0x7ff0000000000000u;
  switch (kind) {
    case element_kind::float32:
      return first_bad(data, count, of_float);
    case element_kind::float64:
      return first_bad(data, count, of_double);
    case element_kind::long_double:
      return first_bad_long(data, count);
    case element_kind::complex64:
      return std::max<index_t>(-1, first_bad(data, 2 * count, of_float) >> 1);
    case element_kind::complex128:
      return std::max<index_t>(-1, first_bad(data, 2 * count, of_double) >> 1);
    case element_kind::half:
      return first_bad(data, count, std::uint16_t{0x7c00});
    case element_kind::bfloat16:
      return first_bad(data, count, std::uint16_t{0x7f80});
    default:
      return -1;
  }
}
/// The bytes of a tensor's block where the host reads them, in place where it reaches them.
class host_bytes {
 public:
  explicit host_bytes(const tensor_core& x) : here_(x.facts->space) {
    if (!reached_now()) copied_ = bytes_on_host(x);
    data_ = copied_.empty() ? static_cast<const std::byte*>(x.memory.data()) : copied_.data();
  }
  const std::byte* data() const { return data_; }

 private:
  in_space here_;
  opened memory_;
  std::vector<std::byte> copied_;
  const std::byte* data_;
};
/// Of a tensor's block.
inline index_t first_bad(const tensor_core& x) {
  if (!x.memory || x.away != 0) return -1;
  return first_bad(x.facts->kind, host_bytes(x).data(), x.elements());
}
/// Of what is the tensor's own: halos may hold anything.
inline index_t first_own_bad(const tensor_core& x) {
  if (!x.memory || x.away != 0) return -1;
  const host_bytes all(x);
  index_t found = -1;
  checkpoint::for_each_own_run(x, [&](index_t first, index_t n, index_t) {
    if (found >= 0) return;
    const index_t at = first_bad(x.facts->kind, all.data() + first * x.facts->element, n);
    if (at >= 0) found = first + at;
  });
  return found;
}

/// Looks at results until one is bad.
class bad_number_finder final : public event_sink {
 public:
  explicit bad_number_finder(const std::vector<checkpoint::named_core>& known) : known_(known) {}
  constexpr void take(const event&) override {}
  constexpr void see(const tensor_core& y, const operands& x) override {
    if (std::is_constant_evaluated() || !words.empty()) return;
    look(y, x);
  }
  constexpr bool sees_operands() const override { return true; }
  index_t operations = 0;
  std::string words;  // empty: none so far

 private:
  void look(const tensor_core& y, const operands& x) {
    ++operations;
    const index_t at = first_own_bad(y);
    if (at < 0) return;
    const bool back = !transpose_of().empty();
    words = (back ? "the way back of " + std::string(transpose_of()) + ": " : std::string()) +
            std::string(what()) + " gave a number that is not finite at " + place_words(y, at);
    std::string among;
    bool in_halos = false;
    for (int k = 0; k < x.count(); ++k) {
      const std::string name = name_of(x[k]);
      if (const index_t there = first_own_bad(x[k]); there >= 0) {
        words += ", from operand " + std::to_string(k + 1) + ", " + name +
                 (name.empty() ? "" : ", ") + "which has one at " + place_words(x[k], there) +
                 " already";
        return;
      }
      in_halos = in_halos || first_bad(x[k]) >= 0;
      if (!name.empty()) among += (among.empty() ? ", " : " and ") + name;
    }
    words += ", from operands that are finite" + (among.empty() ? among : among + " among them") +
             (in_halos ? ", but for what halos hold," : "");
  }
  /// Of the known tensor whose memory this is, or a part of it.
  std::string name_of(const tensor_core& x) const {
    const auto at = reinterpret_cast<std::uintptr_t>(x.memory.data());
    for (const checkpoint::named_core& known : known_) {
      if (!known.core->memory) continue;
      const auto from = reinterpret_cast<std::uintptr_t>(known.core->memory.data());
      if (at >= from && at - from < static_cast<std::uintptr_t>(known.core->bytes()))
        return "'" + known.name + "'";
    }
    return {};
  }

  const std::vector<checkpoint::named_core>& known_;
};

/// Operations of this thread report to another sink here.
class [[nodiscard]] watched_by {
 public:
  explicit watched_by(event_sink* s) : before_(std::exchange(watcher, s)) {}
  watched_by(const watched_by&) = delete;
  watched_by& operator=(const watched_by&) = delete;
  ~watched_by() { watcher = before_; }

 private:
  event_sink* before_;
};

/// What the first rank that found something says, on all ranks.
inline std::string first_found(const bad_number_finder& finder, const communicator& everyone) {
  const of_host numbers;
  const index_t none = std::numeric_limits<index_t>::max();
  index_t mine = finder.words.empty() ? none : finder.operations, first = mine;
  if (everyone.size() > 1)
    collective::all_reduce(everyone, &mine, &first, 1, collective::reduction::min);
  if (first == none) return {};
  int rank = mine == first ? everyone.rank() : everyone.size(), teller = rank;
  if (everyone.size() > 1)
    collective::all_reduce(everyone, &rank, &teller, 1, collective::reduction::min);
  std::string text = finder.words + " on rank " + std::to_string(teller) + " (operation " +
                     std::to_string(first) + ")";
  auto length = static_cast<index_t>(text.size());
  collective::broadcast(everyone, &length, 1, teller);
  text.resize(static_cast<std::size_t>(length));
  collective::broadcast(everyone, text.data(), length, teller);
  return text;
}

/// Throws on every rank, for the first that has one, where one of these tensors has an element that
/// is not finite after so many steps. Each element is looked at by the rank that saves it.
inline void require_finite(const communicator& everyone,
                           const std::vector<checkpoint::named_core>& all, index_t steps) {
  std::string fault;
  for (const checkpoint::named_core& x : all)
    if (const index_t at = checkpoint::writes(*x.core) ? first_own_bad(*x.core) : -1; at >= 0) {
      fault = "training_run: '" + x.name + "' is not finite at " + place_words(*x.core, at) +
              ", and step-" + std::to_string(steps) +
              " is not saved; where a gradient went bad, give its norm as a metric and name that "
              "in loop_options.finite, and the step says so; where numbers are meant that are not "
              "finite, run_options.check_finite = false";
      break;
    }
  agree_on_fault(everyone.handle(), std::move(fault));
}

template <class F>
std::string find_not_finite(const communicator& everyone,
                            const std::vector<checkpoint::named_core>& known, F&& f) {
  bad_number_finder finder(known);
  {
    const watched_by here(&finder);
    static_cast<F&&>(f)();
  }
  return first_found(finder, everyone);
}

}  // namespace detail

/// Runs f and says, the same on all ranks of the grid, which operation gave the first number that
/// is not finite, where in its result, on which rank, and whether its operands were finite; of
/// those that are members of `known`, structs of tensors or single ones, the names. Empty: none
/// did. Collective over the grid.
template <Mesh M, class F, class... S>
std::string find_not_finite(const grid<M>& g, F&& f, const S&... known) {
  std::vector<detail::checkpoint::named_core> named;
  (detail::checkpoint::note_part(part("", known), named), ...);
  return detail::find_not_finite(g.everyone(), named, static_cast<F&&>(f));
}

}  // namespace dimesh
