// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do gradients travel while others are still being computed? They are cut into buckets in the
// order in which they lie; the sum of a bucket starts as soon as the last contribution to its
// gradients has arrived, and ends at the end (Li et al. 2020, "PyTorch Distributed", section 3.2).
//
//   auto [loss, g] = value_and_grad_all_reduce(f, params)(x, y);    // both whole
//   auto [loss, g] = value_and_grad_all_reduce(f, params, {.bucket = 1 << 18})(x, y);
//
// The same as complete(value_and_grad(f, params)(x, y)) but for the order of additions, which is
// MPI's. Whether it pays depends on the MPI library: measure it (benchmarks/overlap.cpp). With Open
// MPI 4.1 on ranks that share memory it does not: its non-blocking sums are slower than the others.
#pragma once

#include "dimesh/collective/start_all_reduce.hpp"
#include "dimesh/grad/complete.hpp"

namespace dimesh {

/// How gradients are summed during the backward pass.
struct overlap_options {
  index_t bucket = index_t{1} << 20;  ///< bytes of a message, about
  bool overlap = true;  ///< false: all sums after the backward pass
};

namespace detail {

/// A gradient that is about to be summed: where it will lie, and what its cell says of it.
struct pending_gradient {
  void* cell = nullptr;
  const int* uses = nullptr;  // contributions yet to come
  std::byte* data = nullptr;
  index_t bytes = 0;
  const grid_state* grid = nullptr;
  collective::wire element;
  index_t most_bytes = 0;  // of any rank's block: all ranks must cut the same buckets
  const space_facts* space = nullptr;
  unsigned (*settle)(void* cell) = nullptr;  // the axes to be summed over; nothing came: zeros
};

/// The axes along which a gradient must be summed; one to which nothing came becomes zeros.
template <class V> unsigned settle_gradient(void* at) {
  auto& c = *static_cast<cell*>(at);
  if (c.filled) return addend_axes(c.bar);
  return 0;  // zero, and every rank knows: `collect` writes it
}

/// Starts the sums of buckets, last ones first: so backward passes complete them.
class bucket_sums final : public backward_listener {
 public:
  static constexpr index_t bytes_of(const overlap_options& o) {
    return o.bucket < 64 ? 64 : o.bucket;
  }
  /// `memory` is where all gradients and the loss lie.
  void open(const overlap_options& o, const storage& memory) {
    memory_ = memory;
    most_ = bytes_of(o);
    gradients_.clear();
    buckets_.clear();
  }
  void add(const pending_gradient& g) {
    if (memory_ && g.space != memory_.space())
      throw error(
          "value_and_grad: sums that travel during the way back are those of parameters and a loss "
          "in one memory; let their meshes name the same space, or overlap nothing");
    if (buckets_.empty() || bytes_ + slab_step(g.most_bytes) > most_) {
      buckets_.push_back({gradients_.size(), gradients_.size()});
      bytes_ = 0;
    }
    bytes_ += slab_step(g.most_bytes);
    gradients_.push_back(g);
    buckets_.back().end = gradients_.size();
  }
  void after_node() override {
    for (std::size_t b = buckets_.size(); b-- > 0;) {
      bucket& one = buckets_[b];
      if (one.started) continue;
      while (one.ready < one.size() && *gradients_[one.begin + one.ready].uses == 0) ++one.ready;
      if (one.ready == one.size()) start(one);
    }
    sums_.progress();
  }
  /// Starts what has not been, and waits for all.
  void finish() {
    const in_space here(memory_.space());
    for (std::size_t b = buckets_.size(); b-- > 0;)
      if (!buckets_[b].started) start(buckets_[b]);
    sums_.wait();
    memory_ = {};
  }

 private:
  struct bucket {
    std::size_t begin = 0, end = 0;
    std::size_t ready = 0;  // gradients known to be complete
    bool started = false;
    std::size_t size() const { return end - begin; }
  };

  /// One message for each stretch of gradients that go the same way.
  void start(bucket& b) {
    const in_space here(memory_.space());
    b.started = true;
    std::byte *from = nullptr, *end = nullptr;
    sum_group way;
    const auto send = [&] {
      if (way.axes == 0) return;
      const index_t size = way.element.size;
      sums_.start_elements(way.grid->along(way.axes), way.element, from, (end - from) / size,
                           most_ / size, memory_);
    };
    for (std::size_t i = b.begin; i < b.end; ++i) {
      const pending_gradient& g = gradients_[i];
      const sum_group mine{g.grid, g.bytes == 0 ? 0 : g.settle(g.cell), g.element};
      if (!(mine == way)) {
        send();
        from = g.data;
        way = mine;
      }
      end = g.data + g.bytes;
    }
    send();
  }

  storage memory_;
  index_t most_ = 0, bytes_ = 0;
  std::vector<pending_gradient> gradients_;
  std::vector<bucket> buckets_;
  collective::pending_sums sums_;
};

template <class F, class P> class [[nodiscard]] overlapped_gradient : gradient_of<F, P> {
  using base = gradient_of<F, P>;
  using typename base::variables;
  using whole_gradients = typename completed_type<typename base::gradients>::type;

 public:
  constexpr overlapped_gradient(const F& f, const P& p, const overlap_options& o)
      : base(f, p), options_(o) {}

  template <class... In> constexpr auto operator()(const In&... in) const {
    using partial = decltype(base::operator()(in...));
    if constexpr (is_poison<decltype(partial::value)>) {
      return complete(base::operator()(in...));
    } else if constexpr (holds_shapes<P> || is_shaped<P>) {
      return options_.overlap ? foreseen(base::operator()(in...))
                              : complete(base::operator()(in...));
    } else {
      if (!options_.overlap) return complete(base::operator()(in...));
      // (Of this type, they may stand for shapes while costs are counted.)
      const core_list<P> all(*this->parameters_);
      if (all.size > 0 && all.at[0]->is_shape) return foreseen(base::operator()(in...));
      return run_overlapped(in...);
    }
  }

 private:
  /// What run_overlapped(in...) will cost.
  template <class V, class G> constexpr auto foreseen(value_and_gradient<V, G>&& step) const {
    using both = bundle<G, V>;
    using whole = typename completed_type<both>::type;
    const both partial(std::move(step.gradient), std::move(step.value));
    whole out = in_form_of<whole>(partial);
    const core_list<both> from(partial);
    complete_foreseen(from, core_list<whole>(out), bucket_sums::bytes_of(options_));
    return value_and_gradient<item_type<1, whole>, item_type<0, whole>>{std::move(item<1>(out)),
                                                                        std::move(item<0>(out))};
  }
  template <class... In> auto run_overlapped(const In&... in) const {
    // Kept from step to step; a gradient within the function that is differentiated has its own.
    // One that an exception cuts short is not: what it has started ends without it.
    thread_local std::vector<std::unique_ptr<bucket_sums>> spare;
    auto sums = spare.empty() ? std::make_unique<bucket_sums>() : std::move(spare.back());
    if (!spare.empty()) spare.pop_back();
    auto partial = base::run(listening{*sums, options_}, in...);
    using whole_value = typename completed_type<decltype(partial.value)>::type;
    value_and_gradient<whole_value, whole_gradients> out{
        whole_value(partial.value.grid(), partial.value.shape(), partial.value.memory(),
                    core_of(partial.value).cuts),
        in_form_of<whole_gradients>(*this->parameters_)};
    for_each_tensor(
        [](const auto&, const auto& g, auto& w) {
          w = std::remove_cvref_t<decltype(w)>(g.grid(), g.shape(), g.memory(), core_of(g).cuts);
        },
        partial.gradient, out.gradient);
    spare.push_back(std::move(sums));
    return out;
  }
  /// The sums are told of each step of the way back, and end with it.
  struct listening {
    bucket_sums& sums;
    const overlap_options& options;
    template <class V>
    void begin(recorded_run& r, variables& vars, const V& value, const storage& all) const {
      sums.open(options, all);
      for_each_tensor([this](const auto&, auto& v) { sums.add(pending(v)); }, vars);
      sums.add(pending_value(value));
      r.nodes.listener = &sums;
    }
    void end() const { sums.finish(); }
  };
  /// Of the first rank's block: none is larger.
  template <class V> static index_t most_bytes(const V& x) {
    return placement_of(x).origins(spec_of<V>::table).size() *
           static_cast<index_t>(sizeof(value_of<V>));
  }
  template <class V> static pending_gradient pending(tracked_tensor<V>& v) {
    auto& c = *v.cell();
    return {&c,
            &c.uses,
            static_cast<std::byte*>(c.slot.data()),
            v.value().local_bytes(),
            &v.value().grid().state(),
            collective::wire_of<value_of<V>>,
            most_bytes(v.value()),
            core_of(v.value()).facts->space,
            &settle_gradient<V>};
  }
  /// The loss is complete before the backward pass begins.
  template <class V> static pending_gradient pending_value(const V& value) {
    static constexpr int none = 0;
    return {const_cast<V*>(&value),
            &none,
            core_of(value).template data<std::byte>(),
            value.local_bytes(),
            &value.grid().state(),
            collective::wire_of<value_of<V>>,
            most_bytes(value),
            core_of(value).facts->space,
            [](void* at) { return addend_axes(core_of(*static_cast<const V*>(at))); }};
  }

  overlap_options options_;
};

}  // namespace detail

/// A function of the inputs that gives f(parameters, inputs...) and its gradient, both whole:
/// complete(value_and_grad(f, parameters)(inputs...)), the sums started during the backward pass.
/// Communicates: all-reduces the gradients and the loss in messages of about options.bucket bytes.
template <class F, class P>
constexpr auto value_and_grad_all_reduce(const F& f, const P& parameters,
                                         const overlap_options& options = {}) {
  using fault = typename detail::parameters_fault<typename detail::leaves<P>::type>::type;
  static_assert(ok<only<fault, element_not_differentiable>>,
                "value_and_grad_all_reduce: a parameter's elements are no real numbers; use float "
                "or double");
  if constexpr (ok<fault>)
    return detail::overlapped_gradient<F, P>(f, parameters, options);
  else
    return detail::poisoned_function{};
}

}  // namespace dimesh
