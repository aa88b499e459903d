// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <dimesh/io/checkpoint/safetensors.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using dimesh::element_kind;

struct scratch_file {
  std::string path;
  explicit scratch_file(const std::string& bytes)
      : path((fs::temp_directory_path() / ("dimesh_st_" + std::to_string(getpid()))).string()) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~scratch_file() { fs::remove(path); }
};

/// A file of a header and so many bytes of elements.
std::string with_header(const std::string& json, std::size_t data) {
  std::string s(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) s[i] = static_cast<char>(json.size() >> (8 * i) & 0xff);
  return s + json + std::string(data, 'x');
}
/// What the reader says of some bytes; "" where it takes them.
std::string said(const std::string& bytes) {
  const scratch_file f(bytes);
  try {
    (void)dimesh::read_safetensors_header(f.path);
    return "";
  } catch (const dimesh::error& e) {
    const std::string what = e.what();
    CHECK(what.find(f.path) != std::string::npos);
    return what.substr(what.find("': ") + 3);
  }
}
std::string said_of(const std::string& json, std::size_t data) {
  return said(with_header(json, data));
}
bool has(const std::string& text, const char* part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

TEST_CASE("safetensors: what is written is read") {
  std::vector<dimesh::safetensors_entry> t = {{"w \"1\"", element_kind::float32, {2, 3}},
                                              {"none", element_kind::int64, {0, 4}},
                                              {"one", element_kind::bfloat16, {}},
                                              {"c", element_kind::complex64, {2}}};
  const std::string text = dimesh::safetensors_text(t, {{"step", "7"}});
  CHECK(text.size() % 64 == 0);
  const scratch_file f(text + std::string(24 + 0 + 2 + 16, '\1'));
  const auto h = dimesh::read_safetensors_header(f.path);
  CHECK(h.tensors.size() == 4);
  CHECK(h.metadata.at("step") == "7");
  CHECK(h.data_at == static_cast<dimesh::index_t>(text.size()));
  for (const auto& e : t) {
    const auto* const found = h.find(e.name);
    REQUIRE(found != nullptr);
    CHECK(found->kind == e.kind);
    CHECK(found->shape == e.shape);
    CHECK(found->begin == e.begin);
    CHECK(found->end == e.end);
  }
  CHECK(h.find("other") == nullptr);
}

TEST_CASE("safetensors: what cannot be written") {
  std::vector<dimesh::safetensors_entry> wide = {{"w", element_kind::long_double, {2}}};
  CHECK_THROWS_WITH(dimesh::safetensors_text(wide, {}),
                    "safetensors: tensor 'w': the format has no such type of elements");
  std::vector<dimesh::safetensors_entry> same = {{"w", element_kind::int8, {2}},
                                                 {"w", element_kind::int8, {2}}};
  CHECK_THROWS_WITH(dimesh::safetensors_text(same, {}),
                    "safetensors: tensor 'w': the name is taken; choose another");
}

TEST_CASE("safetensors: lengths") {
  std::vector<dimesh::safetensors_entry> wordy = {
      {std::string(100'000'001, 'w'), element_kind::int8, {}}};
  CHECK_THROWS_WITH(dimesh::safetensors_text(wordy, {}),
                    "safetensors: the names and shapes take more than 100000000 bytes");
  CHECK(has(said(""), "expected the length of the header in 8 bytes, found 0"));
  CHECK(has(said("1234567"), "in 8 bytes, found 7"));
  CHECK(has(said(std::string(8, '\xff')), "absurd header: expected at most 100000000 bytes"));
  CHECK(has(said(with_header("{}", 0).substr(0, 9)), "expected a header of 2 bytes, found 1"));
  CHECK(has(said(std::string(8, '\0')), "expected '{' at byte 8, found no header"));
  CHECK(said_of("{}", 0) == "");
  CHECK(has(said_of("{}", 3), "trailing bytes: expected 0 bytes of elements, found 3"));
  CHECK_THROWS_WITH(dimesh::read_safetensors_header("/nowhere/at.all"),
                    "safetensors: '/nowhere/at.all': expected a readable file, found none");
}

TEST_CASE("safetensors: JSON") {
  CHECK(has(said_of("{\"a\":", 0), "expected JSON in the header, found what is none"));
  CHECK(has(said_of("{\"a\xff\":1}", 0), "expected JSON in the header"));
  CHECK(has(said_of("{" + std::string(1000, '['), 0), "expected JSON in the header"));
  CHECK(has(said_of("{\"a\":" + std::string(1000, '['), 0), "expected few levels in the header"));
  CHECK(has(said_of("{\"a\":" + std::string(1000, '['), 0), "brackets within brackets"));
  CHECK(has(said_of(R"({"a":1,"a":2})", 0), "expected each name once, found 'a' twice"));
  CHECK(has(said_of(R"({"__metadata__":3})", 0), "expected an object for __metadata__"));
  CHECK(has(said_of(R"({"__metadata__":{"k":3}})", 0), "expected texts in __metadata__"));
}

TEST_CASE("safetensors: types, shapes and places") {
  const auto one = [](const char* type, const char* shape, const char* at) {
    return said_of(std::string(R"({"w":{"dtype":)") + type + R"(,"shape":)" + shape +
                       R"(,"data_offsets":)" + at + "}}",
                   8);
  };
  CHECK(one(R"("F32")", "[2]", "[0,8]") == "");
  CHECK(has(one(R"("F31")", "[2]", "[0,8]"), "tensor 'w': unknown element type 'F31'"));
  CHECK(has(one("3", "[2]", "[0,8]"), "expected a text for dtype"));
  CHECK(has(one(R"("F32")", "2", "[0,8]"), "a list for shape"));
  CHECK(has(one(R"("F32")", "[2]", "[0]"), "two numbers for data_offsets"));
  CHECK(has(one(R"("F32")", "[-2]", "[0,8]"), "expected whole numbers from 0 to 2^63 - 1"));
  CHECK(has(one(R"("F32")", "[2.0]", "[0,8]"), "expected whole numbers"));
  CHECK(has(one(R"("F32")", "[18446744073709551615]", "[0,8]"), "expected whole numbers"));
  CHECK(has(one(R"("F32")", "[4611686018427387904,4]", "[0,8]"), "absurd shape"));
  CHECK(has(one(R"("F32")", "[4611686018427387904,4,0]", "[0,8]"), "its shape takes 0 bytes"));
  CHECK(
      has(one(R"("F32")", "[3]", "[0,8]"), "its shape takes 12 bytes, but it stands from 0 to 8"));
  CHECK(has(one(R"("F32")", "[2]", "[8,0]"), "its shape takes 8 bytes"));
  CHECK(
      has(one(R"("F32")", "[2]", "[1,9]"), "there is a hole before it: expected byte 0, found 1"));
  CHECK(has(one(R"("F64")", "[2]", "[0,16]"), "truncated: expected 16 bytes of elements, found 8"));
  CHECK(has(said_of(R"({"w":{"dtype":"F32","shape":[2]}})", 8), "data_offsets and nothing else"));
  CHECK(has(said_of(R"({"a":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},)"
                    R"("b":{"dtype":"I8","shape":[2],"data_offsets":[1,3]}})",
                    3),
            "tensor 'b': it overlaps the tensor before it: expected byte 2, found 1"));
}

TEST_CASE("safetensors: Python reads it without a library") {
  std::vector<dimesh::safetensors_entry> t = {{"w", element_kind::float32, {2, 2}},
                                              {"n", element_kind::int64, {1}}};
  std::string bytes = dimesh::safetensors_text(t, {{"step", "7"}});
  const float w[] = {0, 1.5, 2, -3};
  const std::int64_t n = 42;
  bytes.append(reinterpret_cast<const char*>(w), sizeof w);
  bytes.append(reinterpret_cast<const char*>(&n), sizeof n);
  const scratch_file in(bytes);
  const fs::path script = fs::path(__FILE__).parent_path() / "../../../support/read_safetensors.py";
  const std::string out = in.path + ".txt";
  REQUIRE(std::system(
              ("python3 '" + script.string() + "' '" + in.path + "' > '" + out + "'").c_str()) ==
          0);
  std::ifstream lines(out);
  std::string first, second;
  std::getline(lines, first);
  std::getline(lines, second);
  fs::remove(out);
  CHECK(first == "n I64 [1] 42");
  CHECK(second == "w F32 [2, 2] 0.0 1.5 2.0 -3.0");
}

}  // namespace
