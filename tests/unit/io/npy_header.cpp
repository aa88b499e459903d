// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/io/npy_header.hpp"

#include <doctest/doctest.h>

namespace {
namespace npy = dimesh::detail::npy;
using dimesh::element_kind;
using dimesh::index_t;

std::string with_dict(const std::string& dict, char version = 1) {
  std::string all = std::string("\x93NUMPY") + version + '\0';
  all += static_cast<char>(dict.size() & 0xff);
  all += static_cast<char>(dict.size() >> 8);
  if (version > 1) all += std::string(2, '\0');
  return all + dict;
}
/// The head of a file with so many bytes of elements; or what is wrong with it.
npy::header read(const std::string& head, index_t elements) {
  return npy::npy_header_of("'x.npy'", head, static_cast<index_t>(head.size()) + elements);
}
void refused(const std::string& head, index_t elements, const std::string& why) {
  INFO(why);
  CHECK_THROWS_WITH_AS(read(head, elements), doctest::Contains(why.c_str()), dimesh::error);
}

TEST_CASE("what is written is read, of each kind") {
  for (const npy::element_name& e : npy::known_elements)
    for (const std::vector<index_t>& shape :
         {std::vector<index_t>{}, {7}, {0, 3}, {2, 3, 4}, {1, 1, 1, 1, 5}}) {
      index_t n = e.bytes;
      for (const index_t k : shape) n *= k;
      const std::string head = npy::npy_header_text(e.kind, shape);
      CHECK(head.size() % 64 == 0);
      const npy::header h = read(head, n);
      CHECK(h.kind == e.kind);
      CHECK(h.shape == shape);
      CHECK(h.data_at == static_cast<index_t>(head.size()));
    }
  CHECK(npy::npy_header_text(element_kind::float64, {3, 4}).substr(10, 62) ==
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   ");
}

TEST_CASE("other versions, other order, other blanks") {
  const std::string dict = "{ \"shape\" : (2,3 ) , 'fortran_order':False,'descr':'<i4'}\n";
  for (const char version : {'\1', '\2', '\3'}) {
    const npy::header h = read(with_dict(dict, version), 24);
    CHECK(h.kind == element_kind::int32);
    CHECK(h.shape == std::vector<index_t>{2, 3});
  }
}

TEST_CASE("what is refused, and how") {
  const auto dict = [](const std::string& descr, const std::string& order,
                       const std::string& shape) {
    return with_dict("{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape +
                     ", }\n");
  };
  const std::string good = npy::npy_header_text(element_kind::float32, {2});
  refused("", 0, "npy: 'x.npy': expected a .npy file, found other bytes at its beginning");
  refused("PK\x03\x04 and so on", 0, "expected a .npy file");
  refused(good.substr(0, 9), 0, "expected a .npy file");
  refused(good.substr(0, 100), 0, "truncated in its header");
  refused(std::string("\x93NUMPY\x02\0\xff\xff", 10), 0, "truncated in its header");
  refused(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12), 0, "a header of 4294967295 bytes");
  refused(std::string("\x93NUMPY\x04\0\x10\0", 10), 0, "found 4.0");
  refused(good, 7, "expected 8 bytes of elements (2,), found 7");
  refused(good, 9, "expected 8 bytes of elements (2,), found 9");
  refused(dict("'>f4'", "False", "(2,)"), 8,
          "elements '>f4' are big-endian; write them with x.astype('<f4')");
  refused(dict("'|O'", "False", "(2,)"), 8, "elements '|O' are none that dimesh has");
  refused(dict("'<U3'", "False", "(2,)"), 24, "elements '<U3' are none that dimesh has");
  refused(dict("[('a', '<f4')]", "False", "(2,)"), 8, "a text in quotes: elements of one plain");
  refused(dict("'<f4'", "True", "(2, 2)"), 16,
          "elements in Fortran order; write them with numpy.ascontiguousarray(x)");
  refused(dict("'<f4'", "Maybe", "(2,)"), 8, "expected True or False");
  refused(dict("'<f4'", "False", "(-2,)"), 8, "expected an extent");
  refused(dict("'<f4'", "False", "(2 3)"), 8, "expected ',' or ')'");
  refused(dict("'<f4", "False", "(2,)"), 8, "expected");
  refused(dict("'<f4'", "False", "(99999999999999999999,)"), 8, "expected an extent that fits 63");
  refused(dict("'<f4'", "False", "(4294967296, 4294967296)"), 8, "more elements than can be");
  refused(dict("'<f4'", "False", "(0, 4294967296, 4294967296)"), 0, "more elements than can be");
  refused(dict("'<f4'", "False", "(" + std::string(400, '1') + ")"), 8, "fits 63 bits");
  std::string many = "(";
  for (int i = 0; i < 70; ++i) many += "1,";
  refused(dict("'<f4'", "False", many + ")"), 4, "expected at most 64 extents");
  refused(with_dict("{'descr': '<f4', 'descr': '<f4'}"), 0, "expected a known entry, once");
  refused(with_dict("{'descr': '<f4', 'fortran_order': False}"), 0,
          "expected 'descr', 'fortran_order' and 'shape'");
  refused(with_dict("{'descr': '<f4' 'shape': ()}"), 0, "expected ',' or '}'");
  refused(with_dict("{'descr' '<f4'}"), 0, "expected ':'");
  refused(with_dict("{'descr': '<f4"), 0, "expected the end of a text");
  refused(with_dict("{'descr': '<f4', 'fortran_order': False, 'shape': ()} x"), 4,
          "expected the end of the header");
}
}  // namespace
