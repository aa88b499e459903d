// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a typed einsum cost beside the better of oneDNN and CBLAS, called by hand on the same
// blocks? Bar: 0.98 of their speed, for every shape and element type. For bfloat16 the twin is
// oneDNN's primitive; the product of floats is timed beside it.
//
//   benchmarks/einsum [--quick]
#include <dimesh/dimesh.hpp>

#ifdef DIMESH_WITH_ONEDNN
#include <dnnl.h>
#endif
#ifdef DIMESH_WITH_CBLAS
#include <cblas.h>
#endif

#include <cmath>
#include <cstring>

#include "support/race.hpp"

namespace {

namespace dm = dimesh;

struct one : dm::axis<1> {};
struct alone : dm::mesh<one> {};
using plain = dm::layout<alone>;
template <int N> struct g : dm::dim<N> {};  // batch
template <int N> struct m : dm::dim<N> {};
template <int N> struct n : dm::dim<N> {};
template <int N> struct k : dm::dim<N> {};

double budget = 1.5;
int bars = 0, met = 0;

#ifdef DIMESH_WITH_ONEDNN
/// oneDNN's name of an element type.
template <class T>
constexpr dnnl_data_type_t data_type = std::is_same_v<T, dm::bfloat16> ? dnnl_bf16 : dnnl_f32;

/// c[b, m, n] = op(a)[b, m, k] . op(b)[b, k, n] by oneDNN's matmul primitive, made once.
template <class T, class C = T> class primitive {
 public:
  primitive(int batch, int rows, int columns, int depth, bool ta, bool tb) {
    dnnl_engine_create(&engine_, dnnl_cpu, 0);
    dnnl_stream_create(&stream_, engine_, dnnl_stream_default_flags);
    dnnl_memory_desc_t a = desc(data_type<T>, batch, rows, depth, ta),
                       b = desc(data_type<T>, batch, depth, columns, tb),
                       c = desc(data_type<C>, batch, rows, columns, false);
    dnnl_matmul_desc_t what;
    dnnl_matmul_desc_init(&what, &a, &b, nullptr, &c);
    dnnl_primitive_desc_t plan;
    dnnl_primitive_desc_create(&plan, &what, nullptr, engine_, nullptr);
    dnnl_primitive_create(&primitive_, plan);
    dnnl_primitive_desc_destroy(plan);
    dnnl_memory_create(&a_, &a, engine_, DNNL_MEMORY_NONE);
    dnnl_memory_create(&b_, &b, engine_, DNNL_MEMORY_NONE);
    dnnl_memory_create(&c_, &c, engine_, DNNL_MEMORY_NONE);
  }
  primitive(const primitive&) = delete;
  primitive& operator=(const primitive&) = delete;
  ~primitive() {
    dnnl_primitive_destroy(primitive_);
    for (dnnl_memory_t x : {a_, b_, c_}) dnnl_memory_destroy(x);
    dnnl_stream_destroy(stream_);
    dnnl_engine_destroy(engine_);
  }
  void operator()(const T* a, const T* b, C* c) const {
    dnnl_memory_set_data_handle(a_, const_cast<T*>(a));
    dnnl_memory_set_data_handle(b_, const_cast<T*>(b));
    dnnl_memory_set_data_handle(c_, c);
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, c_}};
    dnnl_primitive_execute(primitive_, stream_, 3, args);
  }

 private:
  static dnnl_memory_desc_t desc(dnnl_data_type_t type, dnnl_dim_t batch, dnnl_dim_t rows,
                                 dnnl_dim_t columns, bool transposed) {
    dnnl_memory_desc_t d;
    const dnnl_dims_t extent = {batch, rows, columns};
    const dnnl_dims_t stride = {rows * columns, transposed ? 1 : columns, transposed ? rows : 1};
    if (batch == 1)
      dnnl_memory_desc_init_by_strides(&d, 2, extent + 1, type, stride + 1);
    else
      dnnl_memory_desc_init_by_strides(&d, 3, extent, type, stride);
    return d;
  }
  dnnl_engine_t engine_ = nullptr;
  dnnl_stream_t stream_ = nullptr;
  dnnl_primitive_t primitive_ = nullptr;
  dnnl_memory_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
};
#endif

template <class X> void fill(X& x, double scale) {
  for (dm::index_t i = 0; i < x.local_size(); ++i)
    x.data()[i] = static_cast<dm::value_of<X>>(scale * static_cast<double>(i % 17 - 8));
}

/// c[G, M, N] = op(a) . op(b), the operands stored transposed where TA, TB.
template <class T, int G, int M, int N, int K, bool TA = false, bool TB = false>
void compare(const dm::grid<alone>& grid, const char* note = "") {
  using a_type = std::conditional_t<TA, dm::tensor<T, plain, g<G>, k<K>, m<M>>,
                                    dm::tensor<T, plain, g<G>, m<M>, k<K>>>;
  using b_type = std::conditional_t<TB, dm::tensor<T, plain, g<G>, n<N>, k<K>>,
                                    dm::tensor<T, plain, g<G>, k<K>, n<N>>>;
  a_type a(grid);
  b_type b(grid);
  dm::tensor<T, plain, g<G>, m<M>, n<N>> out(grid);
  fill(a, 0.25);
  fill(b, 0.125);
  T* const c = out.data();
  const auto typed = [&] { auto y = dm::einsum<g<G>, m<M>, n<N>>(a, b); };
  const bench::race r(MPI_COMM_NULL, budget);
  std::vector<bench::sample> twins;
  bench::sample ours;
  const auto against = [&](auto&& twin) {
    twin();
    const auto y = dm::einsum<g<G>, m<M>, n<N>>(a, b);
    for (dm::index_t i = 0; i < out.local_size(); i += 97)
      if (std::abs(y.data()[i] - c[i]) > T(1e-3) * (1 + std::abs(c[i])))
        std::printf("DIFFERS at %ld: %g, %g\n", static_cast<long>(i), double(y.data()[i]),
                    double(c[i]));
  };
  const auto blas = [&] {
#ifdef DIMESH_WITH_CBLAS
    for (int i = 0; i < G; ++i) {
      const T *x = a.data() + i * M * K, *y = b.data() + i * K * N;
      const auto ta = TA ? CblasTrans : CblasNoTrans, tb = TB ? CblasTrans : CblasNoTrans;
      if constexpr (std::is_same_v<T, float>)
        cblas_sgemm(CblasRowMajor, ta, tb, M, N, K, 1, x, TA ? M : K, y, TB ? K : N, 0,
                    c + i * M * N, N);
      else
        cblas_dgemm(CblasRowMajor, ta, tb, M, N, K, 1, x, TA ? M : K, y, TB ? K : N, 0,
                    c + i * M * N, N);
    }
#endif
  };
  against(blas);
#ifdef DIMESH_WITH_ONEDNN
  if constexpr (std::is_same_v<T, float>) {
    const auto sgemm = [&] {
      for (int i = 0; i < G; ++i)
        dnnl_sgemm(TA ? 'T' : 'N', TB ? 'T' : 'N', M, N, K, 1, a.data() + i * M * K, TA ? M : K,
                   b.data() + i * K * N, TB ? K : N, 0, c + i * M * N, N);
    };
    const primitive<float> made(G, M, N, K, TA, TB);
    const auto matmul = [&] { made(a.data(), b.data(), c); };
    against(sgemm);
    against(matmul);
    auto [t, s1, s2, s3] = r(typed, blas, sgemm, matmul);
    ours = t;
    twins = {s1, s2, s3};
  }
#endif
  if (twins.empty()) {
    auto [t, s] = r(typed, blas);
    ours = t;
    twins = {s};
  }
  char what[96];
  std::snprintf(what, sizeof what, "%s %dx(%dx%dx%d) %c%c %s", sizeof(T) == 4 ? "float " : "double",
                G, M, N, K, TA ? 'T' : 'N', TB ? 'T' : 'N', note);
  ++bars;
  met += bench::report(what, ours, twins, 0.98);
}

#ifdef DIMESH_WITH_ONEDNN
/// The same of bfloat16 with a result of type C, beside oneDNN's primitive; and beside the product
/// of floats, for which there is no bar.
template <class C, int G, int M, int N, int K, bool TA = false, bool TB = false>
void compare_bfloat16(const dm::grid<alone>& grid, const char* note = "") {
  const auto operands = [&](auto zero, auto use) {
    using T = decltype(zero);
    using a_type = std::conditional_t<TA, dm::tensor<T, plain, g<G>, k<K>, m<M>>,
                                      dm::tensor<T, plain, g<G>, m<M>, k<K>>>;
    using b_type = std::conditional_t<TB, dm::tensor<T, plain, g<G>, n<N>, k<K>>,
                                      dm::tensor<T, plain, g<G>, k<K>, n<N>>>;
    a_type a(grid);
    b_type b(grid);
    fill(a, 0.25);
    fill(b, 0.125);
    use(a, b);
  };
  operands(dm::bfloat16(0), [&](const auto& a, const auto& b) {
    operands(0.0f, [&](const auto& wide_a, const auto& wide_b) {
      dm::tensor<C, plain, g<G>, m<M>, n<N>> out(grid);
      const primitive<dm::bfloat16, C> made(G, M, N, K, TA, TB);
      const auto typed = [&] { return dm::einsum<C, g<G>, m<M>, n<N>>(a, b); };
      const auto twin = [&] { made(a.data(), b.data(), out.data()); };
      const auto wide = [&] { auto y = dm::einsum<g<G>, m<M>, n<N>>(wide_a, wide_b); };
      twin();
      const auto y = typed();
      for (dm::index_t i = 0; i < out.local_size(); i += 97)
        if (!(std::abs(y.data()[i] - out.data()[i]) <= 0.01f * (1 + std::abs(out.data()[i]))))
          std::printf("DIFFERS at %ld\n", static_cast<long>(i));
      const bench::race r(MPI_COMM_NULL, budget);
      const auto [ours, theirs, floats] = r([&] { auto z = typed(); }, twin, wide);
      char what[96];
      std::snprintf(what, sizeof what, "bf16->%s %dx(%dx%dx%d) %c%c %s (float: %.0f us)",
                    sizeof(C) == 4 ? "float" : "bf16", G, M, N, K, TA ? 'T' : 'N', TB ? 'T' : 'N',
                    note, floats.counts() * 1e6);
      ++bars;
      met += bench::report(what, ours, {theirs}, 0.98);
    });
  });
}

void all_bfloat16(const dm::grid<alone>& grid) {
  using dm::bfloat16;
  compare_bfloat16<bfloat16, 1, 1024, 1024, 1024>(grid, "square");
  compare_bfloat16<bfloat16, 1, 512, 1024, 256>(grid, "feed-forward");
  compare_bfloat16<bfloat16, 1, 512, 256, 1024, false, true>(grid, "its gradient");
  compare_bfloat16<float, 1, 256, 1024, 512, true>(grid, "gradient of w");
  compare_bfloat16<float, 1, 512, 1024, 256, false, true>(grid, "logits");
  compare_bfloat16<bfloat16, 64, 128, 128, 64, false, true>(grid, "scores");
  compare_bfloat16<bfloat16, 64, 128, 64, 128>(grid, "values");
}
#endif

template <class T> void all(const dm::grid<alone>& grid) {
  compare<T, 1, 512, 512, 512>(grid, "square");
  compare<T, 1, 1024, 1024, 1024>(grid, "square");
  compare<T, 1, 2048, 2048, 2048>(grid, "square");
  compare<T, 1, 256, 1024, 784>(grid, "x.w1");
  compare<T, 1, 784, 1024, 256, true>(grid, "gradient of w1");
  compare<T, 1, 256, 10, 1024>(grid, "h.w2");
  compare<T, 1, 1024, 10, 256, true>(grid, "gradient of w2");
  compare<T, 1, 256, 1024, 10, false, true>(grid, "gradient of h");
  compare<T, 1, 128, 512, 784>(grid, "x.w1, 2x2 blocks");
  compare<T, 1, 784, 512, 128, true>(grid, "its gradient of w1");
  compare<T, 1, 8, 1024, 1024>(grid, "skinny");
  compare<T, 64, 128, 128, 64, false, true>(grid, "attention scores");
  compare<T, 64, 128, 64, 128>(grid, "attention values");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--quick") == 0) budget = 0.2;
  return dm::run(argc, argv, [&] {
    const dm::grid<alone> grid;
    bench::headline("einsum; twin: best of oneDNN, CBLAS by hand");
    all<float>(grid);
    all<double>(grid);
#ifdef DIMESH_WITH_ONEDNN
    all_bfloat16(grid);
#endif
    std::printf("%d of %d bars met\n", met, bars);
  });
}
