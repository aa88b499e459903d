// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of NumPy's arrays: of every type, mapped, inflated and copied; what is refused, and how.
#include <dimesh/io/data/arrays.hpp>
#include <dimesh/io/data/order.hpp>

#include <doctest/doctest.h>

#include <complex>

#include "dimesh/element/half.hpp"
#include "support/gzip.hpp"
#include "support/scratch.hpp"

namespace {
namespace in = dimesh::input;
namespace npy = dimesh::detail::npy;
using dimesh::element_kind;
using dimesh::index_t;
using test_support::gzip;
using test_support::scratch_file;
using test_support::thrown;

void says(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
}
template <class T> std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
template <class T> constexpr element_kind kind = dimesh::element_traits<T>::kind;
template <class T> std::string file_of(const std::vector<index_t>& shape, std::vector<T> values) {
  return npy::npy_header_text(kind<T>, shape) + bytes_of(values);
}
/// The header of an old writer, or of another one: of so many bytes that the elements begin at an
/// odd place.
std::string at_odd_place(const std::string& dict) {
  std::string text = dict;
  while (text.size() % 2 == 0) text += ' ';
  return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(text.size()) + '\0' + text;
}

template <class T> void check_type() {
  const std::vector<T> values{T(0), T(1), T(2), T(3), T(4), T(5)};
  const scratch_file f(file_of<T>({3, 2}, values));
  const in::npy_rows<T> r(f.path);
  REQUIRE(r.size() == 3);
  CHECK(r.row() == 2);
  CHECK(bytes_of(values).substr(4 * sizeof(T)) ==
        std::string(reinterpret_cast<const char*>(r(2).data()), r(2).size_bytes()));
  CHECK(in::record_of<in::npy_rows<T>>{}.size() == 0);
}
TEST_CASE("elements of every type that NumPy has, too") {
  check_type<std::int8_t>();
  check_type<std::int16_t>();
  check_type<std::int32_t>();
  check_type<std::int64_t>();
  check_type<std::uint8_t>();
  check_type<std::uint16_t>();
  check_type<std::uint32_t>();
  check_type<std::uint64_t>();
  check_type<dimesh::half>();
  check_type<float>();
  check_type<double>();
  check_type<std::complex<float>>();
  check_type<std::complex<double>>();
  const scratch_file f(npy::npy_header_text(element_kind::boolean, {2}) + std::string("\0\1", 2));
  CHECK(in::npy_rows<bool>(f.path)(1)[0]);
  const scratch_file odd(npy::npy_header_text(element_kind::boolean, {2}) + std::string("\0\2", 2));
  says(thrown([&] { in::npy_rows<bool> r(odd.path); }), "': a truth is 2");
}

TEST_CASE("mapped where they lie; inflated; copied from an odd place: the same rows") {
  const std::vector<float> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const std::string plain = file_of<float>({2, 3, 2}, values);
  const std::string odd =
      at_odd_place("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 2)}\n") +
      bytes_of(values);
  const scratch_file a(plain), b(gzip(plain)), c(odd);
  for (const std::string& path : {a.path, b.path, c.path}) {
    const auto r = [&] {
      const in::npy_rows<float> one(path);
      return in::npy_rows<float>(one);  // a copy keeps what it shows
    }();
    REQUIRE(r.size() == 2);
    CHECK(r.row() == 6);
    CHECK(std::vector<index_t>(r.extents().begin(), r.extents().end()) ==
          std::vector<index_t>{2, 3, 2});
    CHECK(std::vector<float>(r(1).begin(), r(1).end()) == std::vector<float>{6, 7, 8, 9, 10, 11});
    CHECK(r.where(1) == "row 1 of '" + path + "'");
    says(thrown([&] { r(2); }), "npy_rows has no record 2; it has 2");
    says(thrown([&] { r(-1); }), "npy_rows has no record -1; it has 2");
    const auto pass = (r | in::shuffle(3)).epoch(0);
    CHECK(pass(0).size() == 6);
  }
}

TEST_CASE("extents: of one dim, of none, of no rows and of empty ones") {
  const in::npy_rows<int> labels(in::contents("y.npy", file_of<int>({3}, {7, 8, 9})));
  CHECK(labels.row() == 1);
  CHECK(labels(2)[0] == 9);
  const std::vector<int> nothing;
  const in::npy_rows<int> none(in::contents("y.npy", file_of({0, 4}, nothing)));
  CHECK(none.size() == 0);
  CHECK(none.row() == 0);
  const in::npy_rows<int> thin(in::contents("y.npy", file_of({4, 0}, nothing)));
  CHECK(thin.size() == 4);
  CHECK(thin(3).empty());
  says(thrown([] { in::npy_rows<int> r(in::contents("y.npy", file_of<int>({}, {1}))); }),
       "npy: 'y.npy': an array without extents has no rows");
}

TEST_CASE("refused: other elements, other orders, ends in the middle, changes") {
  const auto refused = [](const std::string& bytes) {
    return thrown([&] { in::npy_rows<float> r(in::contents("x.npy", bytes)); });
  };
  const std::string good = file_of<float>({2, 2}, {1, 2, 3, 4});
  CHECK(refused(good) == "nothing");
  says(refused(file_of<double>({1}, {1})),
       "npy: 'x.npy': expected elements '<f4', found '<f8'; name their type, npy_rows<type>");
  const auto with = [](const std::string& descr, const std::string& order) {
    return at_odd_place("{'descr': '" + descr + "', 'fortran_order': " + order +
                        ", 'shape': (2, 2)}\n") +
           std::string(16, '\0');
  };
  says(refused(with(">f4", "False")), "are big-endian; write them with x.astype('<f4')");
  says(refused(with("<f4", "True")),
       "elements in Fortran order; write them with numpy.ascontiguousarray(x)");
  says(refused(with("|O", "False")), "elements '|O' are none that dimesh has");
  says(refused(good + "x"), "expected 16 bytes of elements (2, 2), found 17");
  for (std::size_t n = 0; n < good.size(); ++n) CHECK(refused(good.substr(0, n)) != "nothing");
  says(refused(good.substr(0, good.size() - 1)), "expected 16 bytes of elements (2, 2), found 15");
  const scratch_file cut(gzip(good).substr(0, 30));
  says(thrown([&] { in::npy_rows<float> r(cut.path); }), "ends in the middle of its gzip data");
  const scratch_file f(good);
  const in::npy_rows<float> r(f.path);
  CHECK(r(1)[1] == 4);
  f.write(good + "more");
  says(thrown([&] { r.require_unchanged(); }), "changed while it was read: it had ");
}

}  // namespace
