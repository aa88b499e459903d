// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is a run whose layers live at places of an axis, and that goes on with other places, on another
// mesh and on any number of ranks, the run that never stopped? Two layers with dropout, shuffled
// data that threads prefetch, micro-batches, Adam. `write` trains under each placement, once to the
// end and once until it is told to stop; `read` goes on from each of these under each placement,
// and compares with the former. All of it is done by training_run.
//
//   stages write AT/RANKS        stages read AT/RANKS...      RANKS: that write it
#include <cstdio>
#include <filesystem>

#include "dimesh/grad/accumulate.hpp"
#include "dimesh/grad/complete.hpp"
#include "dimesh/io/data/order.hpp"
#include "dimesh/io/data/prefetch.hpp"
#include "dimesh/io/data/transform.hpp"
#include "dimesh/layout/layout_set.hpp"
#include "dimesh/nn/initialize.hpp"
#include "dimesh/op/broadcast.hpp"
#include "dimesh/op/dropout.hpp"
#include "dimesh/op/einsum.hpp"
#include "dimesh/op/functions.hpp"
#include "dimesh/op/place.hpp"
#include "dimesh/op/send.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/op/value.hpp"
#include "dimesh/optim/adam.hpp"
#include "dimesh/optim/schedule.hpp"
#include "dimesh/pipeline/pipeline.hpp"
#include "dimesh/pipeline/schedules.hpp"
#include "dimesh/runtime.hpp"
#include "dimesh/train/run.hpp"

namespace {
namespace dm = dimesh;
namespace in = dimesh::input;
namespace nn = dimesh::nn;
using dm::index_t;

constexpr index_t steps = 7, until = 3;
constexpr int micros = 2;

struct batch : dm::dim<12> {};
struct width : dm::dim<6> {};
struct hidden : dm::dim<12> {};
struct label : dm::dim<4> {};
struct stage : dm::axis<> {};
struct data : dm::axis<> {};
struct pod : dm::mesh<stage, data> {};
struct line : dm::mesh<data> {};

// ---- where the layers live ----------------------------------------------------------------------

/// The two layers at coordinates A and B of the stages, other rules R, of the batch RB; -1: a mesh
/// without stages, and all is everywhere.
template <int A, int B, bool Piped, class RB, class... R> struct places {
  static constexpr int first = A, second = B;
  static constexpr bool piped = Piped;
  using mesh = pod;
  template <int K> using at = dm::layout<pod, dm::placed<stage, K>, R...>;
  using first_layout = at<A>;
  using second_layout = at<B>;
  using input = dm::layout<pod, RB>;
  static dm::grid<pod> grid() {
    int n = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    return dm::grid<pod>(MPI_COMM_WORLD, stage{n % 2 == 0 ? 2 : 1}, data{dm::dynamic});
  }
};
struct everywhere {
  static constexpr int first = -1, second = -1;
  static constexpr bool piped = false;
  using mesh = line;
  using first_layout = dm::layout<line>;
  using second_layout = first_layout;
  using input = dm::layout<line, dm::split<batch, data>>;
  static dm::grid<line> grid() { return dm::grid<line>(); }
};
using by_rows = dm::split<batch, data>;
constexpr dm::layout_set<everywhere, places<0, 0, false, by_rows>, places<0, 1, true, by_rows>,
                         places<1, 0, true, by_rows>,
                         places<1, 0, false, dm::split<hidden, data>, dm::split<hidden, data>>>
    ways{"everywhere", "one place", "stages", "turned", "stages and parts"};

/// Those that a grid has the places for.
template <class F> int for_each_way(const F& f) {
  int made = 0;
  ways.for_each([&]<class W>(std::string_view name, dm::layout_tag<W>) {
    const auto g = W::grid();
    if (g.ranks() % 2 != 0 && (W::first > 0 || W::second > 0)) return;
    ++made;
    f.template operator()<W>(g, std::string(name));
  });
  return made;
}

// ---- what is trained ----------------------------------------------------------------------------

template <class L, class From, class To> struct layer {
  using w_type = nn::parameter<nn::he_normal<From>, double, L, From, To>;
  using b_type = nn::parameter<nn::zeros, double, L, To>;
  BOOST_HANA_DEFINE_STRUCT(layer, (w_type, w), (b_type, b));
};
template <class L> struct samples {
  using x_type = dm::tensor<double, L, batch, width>;
  using y_type = dm::tensor<double, L, batch, label>;
  BOOST_HANA_DEFINE_STRUCT(samples, (x_type, x), (y_type, y));
};

/// To coordinate K of the stages.
template <int K, class X> auto to(const X& x) {
  if constexpr (K < 0)
    return x;
  else if constexpr (dm::use_of<dm::spec_of<X>, stage> == dm::use::placed)
    return dm::send<stage, K>(x);
  else
    return dm::place<stage, K>(x);
}
/// The layers, whatever their places.
struct one {
  dm::random_key key;  // of the step
  template <class P, class X> auto operator()(const P& p, const X& x, int micro) const {
    const auto h = dm::tanh(dm::einsum<batch, hidden>(x, p.w) + p.b);
    return dm::dropout(0.25, key.fold(static_cast<std::uint64_t>(micro)), h);
  }
};
constexpr auto two = [](const auto& p, const auto& h) {
  return dm::complete(dm::einsum<batch, label>(h, p.w)) + p.b;
};
constexpr auto distance = [](const auto& z, const auto& y) {
  const auto d = z - y;
  return dm::mean(d * d);
};

/// 42 records: three batches an epoch, two a step.
template <class L, dm::Mesh M> auto pipeline(const dm::grid<M>& g) {
  const auto make_record = [](index_t i) {
    std::vector<double> x, y;
    for (index_t k = 0; k < width::extent; ++k) x.push_back(0.1 * double((7 * i + 3 * k) % 19 - 9));
    for (index_t k = 0; k < label::extent; ++k) y.push_back(0.2 * double((5 * i + 4 * k) % 11 - 5));
    return std::tuple(x, y);
  };
  return in::numbers(42) | in::shuffle(5) | in::map(make_record) |
         in::batch<samples<L>>(g, batch{}) | in::prefetch(2);
}

/// One pipeline whose second stage is at coordinate 0.
struct turned {
  int ranks = 2, micros = ::micros;
  constexpr int stages() const { return ranks; }
  constexpr int rank_of(int s, int) const { return 1 - s; }
  constexpr int length(int) const { return 2 * micros; }
  constexpr dm::stage_operation at(int rank, int k) const {
    return dm::one_f_one_b{ranks, micros}.at(1 - rank, k);
  }
};

template <class W> class training {
  using L = typename W::input;
  using parameters = std::tuple<layer<typename W::first_layout, width, hidden>,
                                layer<typename W::second_layout, hidden, label>>;
  using grid_type = dm::grid<typename W::mesh>;

 public:
  training(const grid_type& g, const dm::run_options& how)
      : g_(g),
        p_(dm::make<parameters>(g)),
        data_(pipeline<L>(g)),
        run_(g, {.steps = steps, .save_every = 2}, how) {
    nn::initialize(p_, dm::random_key{5});
    state_ = dm::adam::start(p_);
    run_.keep("model", p_), run_.keep("adam", state_), run_.keep(data_);
    run_.keep_same("seed", 5);
    run_.loop.step = [this](index_t n) -> dm::metrics { return {{"loss", step(n)}}; };
    why_ = run_.go();
  }
  /// Throws where the two differ by more than `most`.
  template <class V> void require_same(const training<V>& that, double most) const {
    if (why_ != dm::loop_end::steps_done || that.why() != why_) throw dm::error("it has not ended");
    if (!(data_.position() == that.data().position()))
      throw dm::error("the data goes on elsewhere");
    if (state_.steps != steps || that.state().steps != steps) throw dm::error("the steps differ");
    require_near("loss", run_.losses(), that.run().losses(), most);
    require_near("model", elements(p_), elements(that.weights()), most);
    require_near("first", elements(state_.first), elements(that.state().first), most);
    require_near("second", elements(state_.second), elements(that.state().second), most);
  }
  const dm::training_run& run() const { return run_; }
  const parameters& weights() const { return p_; }
  const auto& state() const { return state_; }
  const auto& data() const { return data_; }
  dm::loop_end why() const { return why_; }

 private:
  double step(index_t n) {
    const dm::random_key key = dm::random_key(7).fold(static_cast<std::uint64_t>(n));
    std::vector<samples<L>> of;
    for (int i = 0; i < micros; ++i) of.push_back(data_.next());
    const auto [now, gradient] = dm::complete(gradient_of(one{key}, of));
    const dm::warmup_cosine rate{.peak = 5e-2, .warmup = 2, .total = 9};
    dm::adam{.rate = rate(n), .weight_decay = 0.01}(p_, gradient, state_);
    if constexpr (W::second < 0)
      return dm::value(now);
    else
      return dm::value(dm::broadcast<stage>(now));
  }
  auto gradient_of(const one& f, const std::vector<samples<L>>& of) const {
    const auto part = [&of](index_t i) -> const samples<L>& { return of[std::size_t(i)]; };
    if constexpr (W::piped) {
      using schedule = std::conditional_t<W::first == 0, dm::one_f_one_b, turned>;
      const auto net = dm::pipeline<stage>(dm::cell<W::first>(f), dm::cell<W::second>(two));
      return net.value_and_grad(
          schedule{2, micros}, p_, [&](int i) { return part(i).x; },
          [&](const auto& z, int i) { return distance(z, to<W::second>(part(i).y)); });
    } else {
      return dm::accumulate(micros, [&](index_t i) {
        const auto loss = [&](const auto& p, const auto& x, const auto& y) {
          const auto h = f(std::get<0>(p), to<W::first>(x), static_cast<int>(i));
          return distance(two(std::get<1>(p), to<W::second>(h)), to<W::second>(y));
        };
        return dm::value_and_grad(loss, p_)(part(i).x, part(i).y);
      });
    }
  }
  /// On rank 0.
  template <class S> static std::vector<double> elements(const S& s) {
    std::vector<double> all;
    dm::for_each_tensor(
        [&](const auto&, const auto& t) {
          const auto of = dm::to_rank(t, 0);
          all.insert(all.end(), of.begin(), of.end());
        },
        s);
    return all;
  }
  static void require_near(const char* name, const std::vector<double>& a,
                           const std::vector<double>& b, double most) {
    if (a.size() != b.size()) throw dm::error(std::string(name) + ": there are fewer, or more");
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!(std::abs(a[i] - b[i]) <= most)) {
        char text[100];
        std::snprintf(text, sizeof text, "[%zu] is %.17g instead of %.17g", i, a[i], b[i]);
        throw dm::error(name + std::string(text));
      }
  }

  const grid_type& g_;
  parameters p_;
  dm::adam_state<parameters> state_;
  decltype(pipeline<L>(std::declval<const grid_type&>())) data_;
  dm::training_run run_;
  dm::loop_end why_{};
};

// ---- stopped and not ----------------------------------------------------------------------------

void write(const std::string& folder) {
  if (dm::detail::world_rank() == 0) std::filesystem::remove_all(folder);
  MPI_Barrier(MPI_COMM_WORLD);
  for_each_way([&]<class W>(const auto& g, const std::string& name) {
    const training<W> whole(g, {.save = folder + "/whole/" + name});
    const training<W> part(g, {.save = folder + "/part/" + name, .stop_after = until});
    whole.require_same(whole, 0);
    if (part.why() != dm::loop_end::signal || part.run().steps_done() != until)
      throw dm::error("it did not stop");
  });
}

void read(const std::string& folder) {
  int sources = 0;
  for (const std::string& from : ways.names()) {
    if (!std::filesystem::exists(folder + "/part/" + from)) continue;
    ++sources;
    for_each_way([&]<class W>(const auto& g, const std::string& name) {
      try {
        const training<W> goes_on(g, {.resume = folder + "/part/" + from});
        const training<W> never_stopped(g, {.resume = folder + "/whole/" + from});
        if (goes_on.run().steps_done() != steps - until || never_stopped.run().steps_done() != 0)
          throw dm::error("it did not go on where it was");
        const bool same = from == name && folder.ends_with("/" + std::to_string(g.ranks()));
        goes_on.require_same(never_stopped, same ? 0 : 1e-10);
      } catch (const dm::error& e) {
        throw dm::error("from '" + from + "' of " + folder + " to '" + name + "' on " +
                        std::to_string(g.ranks()) + " ranks: " + e.what());
      }
    });
  }
  if (sources != (folder.ends_with("/1") ? 2 : 5))
    throw dm::error(folder + " has " + std::to_string(sources) + " placements");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return dm::run(argc, argv, [&] {
    for (int i = 2; i < argc; ++i) argv[1] == std::string("write") ? write(argv[i]) : read(argv[i]);
  });
}
