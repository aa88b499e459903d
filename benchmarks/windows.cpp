// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a convolution over images that are split in height cost, forwards and with gradients,
// beside rows that are fetched by hand and the same local convolution? Halos come first, or travel
// beside the interior.
// ranks: 2 4
//
//   mpirun -n 2 benchmarks/windows [--quick]
#include <dimesh/dimesh.hpp>
#include <dimesh/grad/vjp.hpp>
#include <dimesh/op/convolution_exchange.hpp>

#include <cstring>

#include "support/race.hpp"

namespace {

namespace dm = dimesh;
using dm::index_t;

struct image : dm::dim<4> {};
struct height : dm::dim<> {};
struct wide : dm::dim<64> {};
struct in : dm::dim<32> {};
struct out : dm::dim<32> {};
struct tall : dm::dim<3> {};
struct broad : dm::dim<3> {};
struct rows : dm::axis<> {};
struct pod : dm::mesh<rows> {};
struct one : dm::axis<1> {};
struct alone : dm::mesh<one> {};
using bands = dm::layout<pod, dm::split<height, rows>>;

template <class L> using images = dm::tensor<float, L, image, height, wide, in>;
template <class L> using filter = dm::tensor<float, L, tall, broad, in, out>;

constexpr auto same = dm::padding::same;

template <class... Way> struct typed {
  template <class X, class W> auto operator()(const X& x, const W& w) const {
    return dm::convolution_exchange<image, height, wide, out>(
        Way{}..., x, w, dm::window<height, tall>{.around = same},
        dm::window<wide, broad>{.around = same});
  }
};
/// Of a band with a row more at either end.
struct local {
  template <class X, class W> auto operator()(const X& x, const W& w) const {
    struct high : dm::dim<> {};
    return dm::convolution<image, high, wide, out>(x, w, dm::window<height, tall, high>{},
                                                   dm::window<wide, broad>{.around = same});
  }
};

/// Rows of `image` images that lie `lead` rows apart, as one message.
class edge {
 public:
  explicit edge(index_t lead) {
    constexpr int row = wide::extent * in::extent;
    MPI_Type_vector(image::extent, row, static_cast<int>(lead) * row, MPI_FLOAT, &type_);
    MPI_Type_commit(&type_);
  }
  edge(const edge&) = delete;
  edge& operator=(const edge&) = delete;
  ~edge() { MPI_Type_free(&type_); }
  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// The rows before and behind a band of n rows, by hand; the first and the last rank have zeros.
void fetch_rows(const float* x, index_t n, const edge& of_x, float* y, const edge& of_y) {
  constexpr index_t row = wide::extent * in::extent;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int before = rank > 0 ? rank - 1 : MPI_PROC_NULL,
            behind = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  MPI_Request r[4];
  MPI_Irecv(y, 1, of_y.type(), before, 0, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(y + (n + 1) * row, 1, of_y.type(), behind, 1, MPI_COMM_WORLD, &r[1]);
  MPI_Isend(x, 1, of_x.type(), before, 1, MPI_COMM_WORLD, &r[2]);
  MPI_Isend(x + (n - 1) * row, 1, of_x.type(), behind, 0, MPI_COMM_WORLD, &r[3]);
  for (index_t i = 0; i < image::extent; ++i)
    std::memcpy(y + (i * (n + 2) + 1) * row, x + i * n * row,
                static_cast<std::size_t>(n * row) * sizeof(float));
  MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

double budget = 2;

void compare(index_t all_rows) {
  const dm::grid<pod> g;
  const dm::grid<alone> self(MPI_COMM_SELF);
  const index_t n = all_rows / g.size<rows>();
  auto x = dm::uniform<images<bands>>(g, dm::random_key{1}, -1.0f, 1.0f, height{all_rows});
  auto w = dm::uniform<filter<dm::layout<pod>>>(g, dm::random_key{2}, -1.0f, 1.0f);
  images<dm::layout<alone>> padded(self, height{n + 2});
  auto own = dm::uniform<filter<dm::layout<alone>>>(self, dm::random_key{2}, -1.0f, 1.0f);
  std::memset(padded.data(), 0, static_cast<std::size_t>(padded.local_bytes()));
  const edge of_x(n), of_padded(n + 2);
  const auto by_hand = [&] {
    fetch_rows(x.data(), n, of_x, padded.data(), of_padded);
    (void)local{}(padded, own);
  };
  const auto beside = typed<dm::beside_interior_way>{};
  auto [twin, first, meanwhile] = bench::race(MPI_COMM_WORLD, budget)(
      by_hand, [&] { (void)typed<>{}(x, w); }, [&] { (void)beside(x, w); });
  const bool quiet = g.rank() != 0;
  const std::string what = std::to_string(n) + " rows a rank";
  bench::report(what + ", halos first", first, {twin}, 1.03, true, quiet);
  bench::report(what + ", beside the interior", meanwhile, {twin}, 1.03, true, quiet);

  const auto with_gradients = [&](const auto& f) {
    auto run = dm::vjp(f, x, w);
    (void)run.pullback(run.value);
  };
  auto [before, during] = bench::race(MPI_COMM_WORLD, budget)([&] { with_gradients(typed<>{}); },
                                                              [&] { with_gradients(beside); });
  bench::report(what + ", gradients, beside; twin: first", during, {before}, 1.03, true, quiet);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) budget = 0.5;
  return dm::run(argc, argv, [&] {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) std::printf("%d ranks\n", ranks);
    if (rank == 0) bench::headline("4 images 64 wide, 32 to 32 channels, 3 x 3");
    for (const index_t n : {8, 32, 128}) compare(n * ranks);
  });
}
