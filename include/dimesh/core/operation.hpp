// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is an operation? A struct with its parameters and three things, which see cores and so are
// compiled once for all layouts and dims: the local call, its cost and its transpose. The typing
// rule stands beside it (core/rule.hpp), and is asked at the entry point.
//
//   struct scale_op {
//     double by;
//     void fill(results y, operands x) const;               // the local call
//     constexpr void cost(tally&, results y, operands x) const;   // what one rank computes, moves
//                                                                 // and sends
//     static constexpr bool needs(int k, unsigned wanted);  // does the transpose read operand k
//                                                           // (-1: the result)?
//     constexpr void transpose(const auto& to) const;       // cotangents of wanted operands: to
//                                                           // is a pullback<Depth>
//   };
//
// and optionally
//   constexpr index_t extent_of(const dim_facts*) const           of dims that no operand has
//   constexpr void land(tensor_core& y) const     the result lives elsewhere than the operands:
//                                                 sets its grid (or sizes) and what counts once
//   static constexpr int aliases = k      the result shares the memory of operand k; no fill
//   static constexpr bool on_host = true      fill is code of the host: see core/on_host.hpp
//   static constexpr bool puts_off = true     cotangents of what leads to no input take long, and
//                                             wait for the second part of a way back in two
//   std::string_view call                 what errors and events call it, in place of the struct's
//                                         own name; may be static constexpr
// An operation without a transpose gives results that are not recorded.
#pragma once

#include "dimesh/core/tape.hpp"
#include "dimesh/detail/compiled.hpp"

namespace dimesh::detail {

/// The operands of an operation take at most so many.
inline constexpr int max_operands = 16;

/// Operands by number.
class operands {
 public:
  constexpr operands(const tensor_core* const* at, int count) : at_(at), count_(count) {}
  constexpr const tensor_core& operator[](int k) const { return *at_[k]; }
  constexpr int count() const { return count_; }

 private:
  const tensor_core* const* at_;
  int count_;
};

/// Results by number. Of cotangents, those that nobody wants are missing.
class results {
 public:
  constexpr results(tensor_core* const* at, int count) : at_(at), count_(count) {}
  constexpr tensor_core& operator[](int k) const { return *at_[k]; }
  constexpr bool has(int k) const { return at_[k] != nullptr; }
  constexpr int count() const { return count_; }
  /// The memory of result k, null where it is missing.
  template <class T> T* data(int k) const { return has(k) ? at_[k]->template data<T>() : nullptr; }
  constexpr index_t bytes() const {
    index_t n = 0;
    for (int k = 0; k < count_; ++k)
      if (has(k)) n += at_[k]->bytes();
    return n;
  }

 private:
  tensor_core* const* at_;
  int count_;
};
constexpr index_t bytes_of(operands x) {
  index_t n = 0;
  for (int k = 0; k < x.count(); ++k) n += x[k].bytes();
  return n;
}

class pullback_base;
template <int Depth> class pullback;

/// What an operation's type says.
struct operation_facts {
  std::string_view name;
  int aliases;  // the operand whose memory the result shares, or -1
  bool has_transpose;
  bool own_dims;  // it says the extents of dims that no operand has
  bool own_grid;  // and where its result lives
  bool puts_off = false;  // cotangents that no input waits for: to the second part of a way back
  bool on_host = false;  // no device can run its local call
  bool follows = false;  // its results follow from operands, types and a grid
};

/// An operation without its type.
struct operation {
  const operation_facts* facts;
  recorded_sum sum = nullptr;  // adds up cotangents of its result that are themselves recorded
#ifdef DIMESH_CHECKED
  bool compares = true;  // before it runs, ranks compare what they hold
#endif

  constexpr explicit operation(const operation_facts* f) : facts(f) {}

  // Not constexpr: shapes compute nothing, and clang compiles what is, with all kernels, for each
  // class of operations that a header names.
  virtual void fill(results y, operands x) const = 0;
  constexpr virtual void cost(tally& t, results y, operands x) const = 0;
  constexpr virtual bool needs(int k, unsigned wanted) const = 0;
  constexpr virtual void transpose(const pullback_base& to) const = 0;
  constexpr virtual index_t extent_of(const dim_facts* d) const = 0;
  constexpr virtual void land(tensor_core&) const {}
  constexpr virtual const operation* keep(tape& t) const = 0;
  constexpr virtual void drop() const = 0;

 protected:
  constexpr ~operation() = default;
};

/// a + b, recorded on Depth tapes (op/map.hpp).
template <class T, int Depth>
constexpr tensor_core sum_recorded(const tensor_core& a, const tensor_core& b);

template <class Op> inline constexpr bool has_transpose = requires { Op::needs(0, 0u); };

/// Its call is the same for all of its type.
template <class Op>
inline constexpr bool has_static_call =
    requires { typename std::bool_constant<(Op::call.size() > 0)>; };
/// "einsum" of "einsum_op" and "einsum_op<...>".
constexpr std::string_view before_op(std::string_view name) {
  const char* const from = name.data();
  std::size_t size = 0;
  while (size < name.size() && (name.size() - size < 3 || from[size] != '_' ||
                                from[size + 1] != 'o' || from[size + 2] != 'p'))
    ++size;
  return std::string_view(from, size);
}
template <class Op> constexpr std::string_view find_call_name() {
  constexpr std::string_view ours = "dimesh::detail::";
  if constexpr (has_static_call<Op>)
    return Op::call;
  else if constexpr (spelled<Op>().substr(name_begins, ours.size()) == ours)
    return before_op(name_before_arguments<Op>());  // none of ours stands in a template
  else
    return before_op(name_of<Op>());
}
/// What an operation says, or its name. A variable, as clang works functions out at each call.
template <class Op> inline constexpr std::string_view call_name = find_call_name<Op>();

/// An operation whose transpose depends on which operands are recorded by type: a user's function
/// is called with dual numbers for those alone.
template <class Op> inline constexpr bool transposes_by_mask = requires { Op::by_mask; };
template <class Op>
inline constexpr bool has_own_dims =
    requires(const Op& op, const dim_facts* d) { op.extent_of(d); };
template <class Op> inline constexpr bool can_put_off = requires { Op::puts_off; };
template <class Op> inline constexpr bool is_host_code = requires { requires Op::on_host; };
template <class Op>
inline constexpr bool has_own_grid = requires(const Op& op, tensor_core& y) { op.land(y); };
template <class Op>
inline constexpr bool has_own_call = !has_static_call<Op> && requires(const Op& op) { op.call; };
/// What a user called where this operation runs.
template <class Op> constexpr std::string_view call_by(const Op& op) {
  if constexpr (has_own_call<Op>)
    return op.call;
  else
    return call_name<Op>;
}
template <class Op> constexpr int aliased_operand() {
  if constexpr (requires { Op::aliases; })
    return static_cast<int>(Op::aliases);
  else
    return -1;
}

/// Do its results follow from operands, types and a grid alone, in memory of their own?
template <class Op>
inline constexpr bool has_plain_result =
    !has_own_dims<Op> && aliased_operand<Op>() < 0 && !is_host_code<Op>;

/// Depth: on how many tapes, one inside the other, operands are recorded by type. Recorded: which
/// operands are, as a mask.
template <class Op, int Depth, unsigned Recorded = ~0u> struct bound final : operation {
  static constexpr bool transposes = detail::has_transpose<Op> && Depth > 0;
  static constexpr operation_facts says{call_name<Op>,    aliased_operand<Op>(), transposes,
                                        has_own_dims<Op>, has_own_grid<Op>,      can_put_off<Op>,
                                        is_host_code<Op>, has_plain_result<Op>};
  Op op;

  constexpr explicit bound(const Op& o) : operation(&says), op(o) {
    if constexpr (has_own_call<Op>) {
      own_ = says;
      own_.name = o.call;  // op.call waits for its copy
      facts = &own_;
    }
  }
  bound(const bound&) = delete;
  constexpr ~bound() {}

  /// Runs the operation, and leaves a node on the tapes where operands are recorded. Facts: of the
  /// results, where not those that they have; or null. Sum: adds up cotangents that are themselves
  /// recorded. Out of line: it is the same for all layouts.
  [[gnu::noinline]] static constexpr void run_all(const Op& o, results y,
                                                  const tensor_facts* const* facts,
                                                  const tensor_core** x, int count,
                                                  const storage* slots, recorded_sum sum) {
    run_here(o, y, facts, x, count, slots, sum);
  }
  [[gnu::always_inline]] static constexpr void run_here(const Op& o, results y,
                                                        const tensor_facts* const* facts,
                                                        const tensor_core** x, int count,
                                                        const storage* slots, recorded_sum sum) {
    bound it(o);
    it.sum = sum;
    for (int i = 0; facts != nullptr && i < y.count(); ++i) y[i].facts = facts[i];
    if constexpr (Depth == 0)
      run_plain(it, y, x, count, false, slots);
    else
      run_recorded(it, y, x, count, slots);
  }
  /// The same of one result.
  [[gnu::noinline]] static constexpr void run(const Op& o, tensor_core& y,
                                              const tensor_facts* const* facts,
                                              const tensor_core** x, int count,
                                              const storage* slots, recorded_sum sum) {
    if constexpr (Depth == 0 && has_plain_result<Op>) {
      bound it(o);
      if (facts != nullptr) y.facts = facts[0];
      if (!std::is_constant_evaluated() && run_once_more(it, y, operands(x, count), slots)) return;
      tensor_core* const all[] = {&y};
      run_anew(it, results(all, 1), x, count, false, slots);
    } else {
      tensor_core* const all[] = {&y};
      run_here(o, results(all, 1), facts, x, count, slots, sum);
    }
  }

  void fill([[maybe_unused]] results y, [[maybe_unused]] operands x) const override {
    if constexpr (aliased_operand<Op>() < 0) op.fill(y, x);
  }
  constexpr void cost(tally& t, results y, operands x) const override { op.cost(t, y, x); }
  constexpr bool needs([[maybe_unused]] int k, [[maybe_unused]] unsigned wanted) const override {
    if constexpr (transposes)
      return Op::needs(k, wanted);
    else
      return false;
  }
  constexpr void transpose([[maybe_unused]] const pullback_base& to) const override {
    if constexpr (transposes && transposes_by_mask<Op>)
      op.template transpose<Recorded>(pullback<Depth>(to));
    else if constexpr (transposes)
      op.transpose(pullback<Depth>(to));
  }
  constexpr index_t extent_of([[maybe_unused]] const dim_facts* d) const override {
    if constexpr (has_own_dims<Op>)
      return op.extent_of(d);
    else
      return dynamic;
  }
  constexpr void land([[maybe_unused]] tensor_core& y) const override {
    if constexpr (has_own_grid<Op>) op.land(y);
  }
  constexpr const operation* keep(tape& t) const override { return t.make<bound>(op); }
  constexpr void drop() const override {
    if (std::is_constant_evaluated())
      delete this;
    else
      this->~bound();
  }

 private:
  struct nothing {};
  [[no_unique_address]] std::conditional_t<has_own_call<Op>, operation_facts, nothing> own_{};
};

}  // namespace dimesh::detail
