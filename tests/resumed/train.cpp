// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Is training that was stopped, and goes on under any layout on any number of ranks, training that
// never stopped? A language model with dropout, shuffled data that threads prefetch, a schedule of
// rates and Adam. `write` trains six steps under each layout and saves the third and the last;
// `read` loads the third of each folder under each layout, goes on, and compares with the last.
// Four ranks are also a square. A folder is called by how many ranks write it.
//
//   train write FOLDER/4        train read FOLDER/1 FOLDER/4...
#include <cstdio>
#include <filesystem>

#include "dimesh/grad/complete.hpp"
#include "dimesh/io/checkpoint/load.hpp"
#include "dimesh/io/data/order.hpp"
#include "dimesh/io/data/prefetch.hpp"
#include "dimesh/io/data/transform.hpp"
#include "dimesh/layout/layout_set.hpp"
#include "dimesh/nn/initialize.hpp"
#include "dimesh/nn/language_model.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/op/value.hpp"
#include "dimesh/optim/adam.hpp"
#include "dimesh/optim/schedule.hpp"
#include "dimesh/runtime.hpp"

namespace {
namespace dm = dimesh;
namespace in = dimesh::input;
namespace nn = dimesh::nn;
using dm::index_t, dm::part;

// 1, 2, 4 and 6 ranks divide them all.
struct batch : dm::dim<12> {};
struct length : dm::dim<12> {};
struct model : dm::dim<12> {};
struct heads : dm::dim<12> {};
struct head : dm::dim<2> {};
struct hidden : dm::dim<24> {};
struct vocab : dm::dim<24> {};
struct small : nn::transformer {
  using element = double;
  using batch = ::batch;
  using length = ::length;
  using model = ::model;
  using heads = dm::shape<::heads>;
  using head = ::head;
  using hidden = ::hidden;
  using vocab = ::vocab;
  static constexpr int layers = 1;
};
struct x : dm::axis<> {};
struct y : dm::axis<> {};
struct line : dm::mesh<x> {};
struct square : dm::mesh<x, y> {};

/// How a program computes, and how it keeps its parameters.
template <class C, class S = C> struct way {
  using compute = C;
  using storage = S;
  using mesh = typename C::mesh;
};
using data = dm::layout<line, dm::split<batch, x>>;
using parts = dm::layout<line, dm::split<heads, x>, dm::split<hidden, x>, dm::split<vocab, x>>;
using both = dm::layout<square, dm::split<batch, x>, dm::split<heads, y>, dm::split<hidden, y>,
                        dm::split<vocab, y>>;
constexpr dm::layout_set<way<data>, way<data, dm::layout<line, dm::spread<x>>>, way<parts>,
                         way<dm::layout<line, dm::split<length, x>>>, way<both>>
    ways{"data", "spread", "model", "length", "square"};
bool is_way_of(int ranks, std::string_view name) { return name != "square" || ranks == 4; }
template <dm::Mesh M> dm::grid<M> grid_of() {
  if constexpr (std::is_same_v<M, square>)
    return dm::grid<M>(MPI_COMM_WORLD, x{2}, y{2});
  else
    return dm::grid<M>();
}
int ranks() {
  int n = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

template <class C> struct texts {
  using ids = nn::tokens<C, small>;
  BOOST_HANA_DEFINE_STRUCT(texts, (ids, x), (ids, y));
};

/// 30 records, of which two batches make an epoch.
template <class C> auto pipeline(const dm::grid<typename C::mesh>& g) {
  const auto make_record = [](index_t i) {
    std::vector<std::int32_t> ids, next;
    for (index_t k = 0; k < length::extent; ++k) {
      ids.push_back(static_cast<std::int32_t>((7 * i + 3 * k) % vocab::extent));
      next.push_back(static_cast<std::int32_t>((7 * i + 3 * k + 3) % vocab::extent));
    }
    return std::tuple(ids, next);
  };
  return in::numbers(30) | in::shuffle(5) | in::map(make_record) | in::batch<texts<C>>(g, batch{}) |
         in::prefetch(2);
}

/// All that training knows.
template <class W> class training {
  using C = typename W::compute;
  using parameters = nn::language_model_parameters<typename W::storage, small>;
  using grid = dm::grid<typename W::mesh>;

 public:
  explicit training(const grid& g) : p_(dm::make<parameters>(g)), data_(pipeline<C>(g)) {
    nn::initialize(p_, dm::random_key{5});
    state_ = dm::adam::start(p_);
  }
  void step() {
    const texts<C> of = data_.next();
    const auto steps = static_cast<std::uint64_t>(state_.steps);
    const nn::language_model<C, small> m{
        nn::run_options{.dropout = 0.1, .key = dm::random_key(7).fold(steps)}};
    const auto loss = [&m](const auto& p, const auto& a, const auto& b) { return m.loss(p, a, b); };
    const auto [now, gradient] = dm::complete(dm::value_and_grad(loss, p_)(of.x, of.y));
    numbers_["loss." + std::to_string(state_.steps)] = dm::value(now);
    const dm::warmup_cosine rate{.peak = 1e-2, .warmup = 2, .total = 8};
    dm::adam{.rate = rate(state_.steps), .weight_decay = 0.01}(p_, gradient, state_);
  }
  void save(const std::string& folder) const {
    const in::position at = data_.position();
    dm::save_checkpoint(
        folder,
        {.step = state_.steps,
         .integers = {{"epoch", at.epoch}, {"record", at.record}, {"ranks", ranks()}},
         .numbers = numbers_},
        {}, part("model", p_), part("first", state_.first), part("second", state_.second));
  }
  /// On how many ranks it was saved.
  std::int64_t load(const std::string& folder) {
    const auto r = dm::load_checkpoint(folder, {}, part("model", p_), part("first", state_.first),
                                       part("second", state_.second));
    state_.steps = r.step;
    data_.seek({r.integers.at("epoch"), r.integers.at("record")});
    numbers_ = r.numbers;
    return r.integers.at("ranks");
  }
  /// Throws where the two differ by more than `most`.
  void require_same(const training& that, double most) const {
    if (!(data_.position() == that.data_.position())) throw dm::error("the data goes on elsewhere");
    if (state_.steps != that.state_.steps) throw dm::error("the steps differ");
    for (const auto& [name, value] : numbers_)
      require_near(name, value, that.numbers_.at(name), most);
    require_same(p_, that.p_, most);
    require_same(state_.first, that.state_.first, most);
    require_same(state_.second, that.state_.second, most);
  }

 private:
  static void require_near(const std::string& name, double a, double b, double most) {
    if (std::abs(a - b) <= most) return;
    char text[64];
    std::snprintf(text, sizeof text, "%.17g instead of %.17g", a, b);
    throw dm::error(name + " is " + text);
  }
  static void require_same(const parameters& a, const parameters& b, double most) {
    std::vector<std::vector<double>> all;
    dm::for_each_tensor([&](const auto&, const auto& t) { all.push_back(dm::to_rank(t, 0)); }, a);
    std::size_t at = 0;
    dm::for_each_tensor(
        [&](const auto& path, const auto& t) {
          const auto other = dm::to_rank(t, 0);
          const auto& own = all[at++];
          for (std::size_t i = 0; i < other.size(); ++i)
            require_near(path.text(), own.at(i), other[i], most);
        },
        b);
  }
  parameters p_;
  dm::adam_state<parameters> state_;
  decltype(pipeline<C>(std::declval<const grid&>())) data_;
  std::map<std::string, double> numbers_;
};

void write(const std::string& folder) {
  if (dm::detail::world_rank() == 0) std::filesystem::remove_all(folder);
  MPI_Barrier(MPI_COMM_WORLD);
  ways.for_each([&]<class W>(std::string_view name, dm::layout_tag<W>) {
    if (!is_way_of(ranks(), name)) return;
    const auto g = grid_of<typename W::mesh>();
    training<W> t(g);
    for (int step = 1; step <= 6; ++step) {
      t.step();
      if (step % 3 == 0) t.save(folder + "/" + std::string(name));
    }
  });
}

void read(const std::string& folder) {
  const int writers = std::stoi(std::filesystem::path(folder).filename().string());
  for (const std::string& from : ways.names())
    ways.for_each([&]<class W>(std::string_view name, dm::layout_tag<W>) {
      if (!is_way_of(writers, from) || !is_way_of(ranks(), name)) return;
      const auto g = grid_of<typename W::mesh>();
      training<W> goes_on(g), never_stopped(g);
      const bool same = goes_on.load(folder + "/" + from + "/step-3") == ranks() && from == name;
      for (int step = 0; step < 3; ++step) goes_on.step();
      never_stopped.load(folder + "/" + from + "/step-6");
      try {
        goes_on.require_same(never_stopped, same ? 0 : 1e-10);
      } catch (const dm::error& e) {
        throw dm::error("from '" + from + "' of " + folder + " to '" + std::string(name) + "' on " +
                        std::to_string(ranks()) + " ranks: " + e.what());
      }
    });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return dm::run(argc, argv, [&] {
    for (int i = 2; i < argc; ++i) argv[1] == std::string("write") ? write(argv[i]) : read(argv[i]);
  });
}
