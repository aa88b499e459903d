// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// .npy files: written under one layout they have the bytes of the whole array, and are read under
// every other. NumPy reads and writes the same. What is damaged is refused on all ranks with one
// text.
// ranks: 1 2 4
#include "dimesh/io/npy.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "dimesh/create.hpp"
#include "dimesh/op/cuts.hpp"
#include "dimesh/op/halo_exchange.hpp"
#include "dimesh/op/relayout.hpp"
#include "dimesh/op/to_rank.hpp"
#include "support/laws.hpp"
#include "support/scratch.hpp"

namespace {
using namespace test_support;
namespace dm = dimesh;
namespace npy = dimesh::detail::npy;

int my_rank() {
  int r = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  return r;
}
/// A file of all ranks, which rank 0 names and removes.
struct shared_file {
  std::string path;
  shared_file() : path("/tmp/dimesh_npy_" + std::to_string(getpid()) + ".npy") {
    path = dm::detail::text_from(MPI_COMM_WORLD, 0, path);
  }
  ~shared_file() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (my_rank() == 0) std::remove(path.c_str());
  }
  std::string read() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& bytes) const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (my_rank() == 0) std::ofstream(path, std::ios::binary) << bytes;
    MPI_Barrier(MPI_COMM_WORLD);
  }
};

/// The bytes that the file of an array of doubles must have.
std::string bytes_of(const array& a) {
  std::string all = npy::npy_header_text(dm::element_kind::float64,
                                         std::vector<index_t>(a.size.begin(), a.size.end()));
  for (const double v : a.values) {
    char raw[sizeof v];
    std::memcpy(raw, &v, sizeof v);
    all.append(raw, sizeof v);
  }
  return all;
}

TEST_CASE("under every layout: the bytes of the whole, read under another") {
  const shared_file file;
  for_each_case<plane, layout_choice{.uneven = true, .places = 2, .stride = 2}, p, q>(
      {{4, 6}, {5, 3}, {0, 3}, {3, 1}}, [&](auto v, const array& a) {
        using X = decltype(v);
        dm::save_npy(v, file.path);
        CHECK(file.read() == bytes_of(a));
        CHECK(agrees(dm::load_npy<X>(v.grid(), file.path), a));
        using turned =
            dm::tensor<double,
                       dm::layout<plane, dm::split<dm::uneven<q>, x>, dm::split<dm::uneven<p>, y>>,
                       p, q>;
        CHECK(agrees(dm::load_npy<turned>(v.grid(), file.path), a));
        MPI_Barrier(MPI_COMM_WORLD);  // all have read it
      });
}

struct rows : dm::axis<> {};
struct band : dm::mesh<rows> {};
struct batch : dm::dim<6> {};
struct pixel : dm::dim<4> {};
using by_batch = dm::layout<band, dm::split<dm::uneven<batch>, rows>>;
template <class T> using image = dm::tensor<T, by_batch, batch, pixel>;

TEST_CASE("halos stay out of files; other elements") {
  const shared_file file;
  const dm::grid<band> g;
  const auto wave = [](auto i, auto j) { return float(10 * i + j); };
  const auto v = dm::generate<image<float>>(g, wave);
  dm::save_npy(dm::halo_exchange<1, batch>(v), file.path);
  CHECK(dm::to_rank(dm::load_npy<image<float>>(g, file.path)) == dm::to_rank(v));
  MPI_Barrier(MPI_COMM_WORLD);

  using number = std::complex<float>;
  const auto z =
      dm::generate<image<number>>(g, [](auto i, auto j) { return number(float(i), float(j)); });
  dm::save_npy(z, file.path);
  CHECK(dm::to_rank(dm::load_npy<image<number>>(g, file.path)) == dm::to_rank(z));
  MPI_Barrier(MPI_COMM_WORLD);

  const auto truths = dm::generate<image<bool>>(g, [](auto i, auto j) { return (i + j) % 3 == 0; });
  dm::save_npy(truths, file.path);
  std::string bytes = file.read();
  CHECK(bytes.substr(bytes.size() - 24, 6) == std::string("\1\0\0\1\0\0", 6));
  bytes[bytes.size() - 20] = 7;
  file.write(bytes);
  CHECK(thrown([&] {
          (void)dm::load_npy<image<bool>>(g, file.path);
        }).find("npy: tensor [batch, pixel] in '" + file.path + "': a truth is 7") == 0);
}

TEST_CASE("blocks of a ragged dim, cut as the caller says") {
  struct sample : dm::dim<> {};
  using ragged =
      dm::tensor<float, dm::layout<band, dm::split<dm::ragged<sample>, rows>>, sample, pixel>;
  const shared_file file;
  const dm::grid<band> g;
  // The first rank has r samples, each one after it one fewer; or the other way round.
  const index_t r = g.ranks();
  std::vector<index_t> falling, rising;
  for (index_t i = 0; i < r; ++i) falling.push_back(r - i), rising.push_back(i + 1);
  const dm::cuts<sample> first(falling), then(rising);
  const auto v = dm::generate<ragged>(g, [](auto i, auto j) { return float(10 * i + j); }, first);
  dm::save_npy(v, file.path);
  const auto w = dm::load_npy<ragged>(g, file.path, then);
  CHECK(dm::to_rank(w) == dm::to_rank(v));
  CHECK(w.block<sample>().length == g.rank() + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  const auto refused = [&](const std::string& said, const char* why) {
    INFO(said);
    CHECK(said.find(why) != std::string::npos);
    CHECK(dm::detail::text_from(MPI_COMM_WORLD, 0, said) == said);
  };
  rising[0] = 5;
  refused(thrown([&] { (void)dm::load_npy<ragged>(g, file.path, dm::cuts<sample>(rising)); }),
          "'sample' is ragged over");
  refused(thrown([&] { (void)dm::load_npy<ragged>(g, file.path); }), "pass cuts<sample>");
}

TEST_CASE("what is refused: on all ranks, naming file and tensor") {
  const shared_file file;
  const dm::grid<band> g;
  const auto v = dm::generate<image<float>>(g, [](auto i, auto j) { return float(i + j); });
  dm::save_npy(v, file.path);
  const std::string of = "npy: tensor [batch, pixel] in '" + file.path + "': ";
  const auto refused = [&](const std::string& why) {
    const std::string said = thrown([&] { (void)dm::load_npy<image<float>>(g, file.path); });
    INFO(said);
    CHECK(said.find(of + why) == 0);
    CHECK(dm::detail::text_from(MPI_COMM_WORLD, 0, said) == said);
  };
  CHECK(thrown([&] {
          (void)dm::load_npy<image<double>>(g, file.path);
        }).find("': expected elements '<f8', found '<f4'") != std::string::npos);
  CHECK(thrown([&] {
          (void)dm::load_npy<dm::tensor<float, by_batch, pixel, batch>>(g, file.path);
        }).find("': expected extents (4, 6), found (6, 4)") != std::string::npos);
  CHECK(thrown([&] {
          (void)dm::load_npy<dm::tensor<float, by_batch, batch>>(g, file.path);
        }).find("': expected extents (6), found (6, 4)") != std::string::npos);
  const std::string whole = file.read();
  file.write(whole.substr(0, whole.size() - 1));
  refused("expected 96 bytes of elements (6, 4), found 95");
  file.write(whole.substr(0, 60));
  refused("truncated in its header");
  file.write("");
  refused("expected a .npy file");
  MPI_Barrier(MPI_COMM_WORLD);
  if (my_rank() == 0) std::remove(file.path.c_str());
  MPI_Barrier(MPI_COMM_WORLD);
  refused("expected a readable file, found none");
  const std::string nowhere = "/tmp/dimesh_no_such_folder/x.npy";
  CHECK(thrown([&] {
          dm::save_npy(v, nowhere);
        }).find("npy: tensor [batch, pixel] in '" + nowhere + "': cannot be written") == 0);
  // A folder where the file should be: what was written does not get its name, and goes.
  if (my_rank() == 0) std::filesystem::create_directory(file.path);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(thrown([&] { dm::save_npy(v, file.path); }).find(of + "cannot be given its name") == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(!std::filesystem::exists(file.path + ".part"));
}

TEST_CASE("what is no file is not replaced by one") {
  const dm::grid<band> g;
  const auto v = dm::generate<image<float>>(g, [](auto i, auto j) { return float(i + j); });
  const std::string said = thrown([&] { dm::save_npy(v, "/dev/null"); });
  CHECK(said.find("'/dev/null': is there, and no file that can be replaced") != std::string::npos);
  CHECK(dm::detail::text_from(MPI_COMM_WORLD, 0, said) == said);
}

TEST_CASE("a file that one rank alone does not find, which rank 0 has made, is an error on all") {
  namespace fs = std::filesystem;
  const dm::grid<band> g;
  const auto v = dm::generate<image<float>>(g, [](auto i, auto j) { return float(i + j); });
  const std::string one =
      dm::detail::text_from(MPI_COMM_WORLD, 0, "/tmp/dimesh_npy_at_" + std::to_string(getpid()));
  const std::string other = one + "_other", file = "x.npy";
  if (my_rank() == 0) fs::create_directory(one), fs::create_directory(other);
  MPI_Barrier(MPI_COMM_WORLD);
  const fs::path before = fs::current_path();
  fs::current_path(my_rank() > 0 && my_rank() == g.ranks() - 1 ? other : one);
  const std::string said = thrown([&] { dm::save_npy(v, file); });
  fs::current_path(before);
  if (g.ranks() == 1)
    CHECK(said == "nothing");
  else
    CHECK(said == "npy: tensor [batch, pixel] in 'x.npy': cannot be opened (rank " +
                      std::to_string(g.ranks() - 1) + ")");
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(!fs::exists(one + "/x.npy.part"));
  CHECK(fs::exists(one + "/x.npy") == (g.ranks() == 1));
  MPI_Barrier(MPI_COMM_WORLD);
  if (my_rank() == 0) fs::remove_all(one), fs::remove_all(other);
}

/// Does this hold in NumPy? -1 where no Python has it; the first one in the path may be another
/// than the system's, which has the package python3-numpy.
int in_numpy(const std::string& text) {
  int result = -1;
  for (const std::string python : {"python3", "/usr/bin/python3"})
    if (my_rank() == 0 && result == -1 &&
        std::system((python + " -c 'import numpy' 2> /dev/null").c_str()) == 0)
      result = std::system((python + " -c \"import numpy; " + text + "\"").c_str());
  MPI_Bcast(&result, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return result;
}

TEST_CASE("NumPy reads what is written, and the other way round") {
  const shared_file file;
  const dm::grid<band> g;
  const auto v = dm::generate<image<float>>(g, [](auto i, auto j) { return float(4 * i + j); });
  dm::save_npy(v, file.path);
  const int read = in_numpy("a = numpy.load('" + file.path +
                            "'); assert a.dtype == numpy.float32; assert a.shape == (6, 4); "
                            "assert (a.ravel() == numpy.arange(24)).all()");
  INFO("-1: no Python has NumPy; install python3-numpy");
  REQUIRE(read == 0);
  const std::string out = "numpy.save('" + file.path + "', ";
  REQUIRE(in_numpy(out + "numpy.arange(24, dtype='<i8').reshape(6, 4) ** 2)") == 0);
  const std::vector<std::int64_t> whole =
      dm::to_rank(dm::load_npy<image<std::int64_t>>(g, file.path));
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(whole[i] == std::int64_t(i * i));
  REQUIRE(in_numpy(out + "numpy.zeros((4, 6), dtype='<f4').T)") == 0);
  CHECK(thrown([&] {
          (void)dm::load_npy<image<float>>(g, file.path);
        }).find("elements in Fortran order") != std::string::npos);
  REQUIRE(in_numpy(out + "numpy.zeros((6, 4), dtype='>f4'))") == 0);
  CHECK(thrown([&] {
          (void)dm::load_npy<image<float>>(g, file.path);
        }).find("elements '>f4' are big-endian") != std::string::npos);
}

}  // namespace
