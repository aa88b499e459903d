// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dimesh/show/draw.hpp"

#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace dm = dimesh;

struct batch : dm::dim<8> {};
struct hidden : dm::dim<6> {};
struct label : dm::dim<10> {};
struct length : dm::dim<> {};
struct rows : dm::axis<2> {};
struct cols : dm::axis<> {};
struct pod : dm::mesh<rows, cols> {};
using hybrid = dm::layout<pod, dm::split<batch, rows>, dm::split<hidden, cols>>;
const dm::mesh_sizes<pod> two{cols{2}};

/// Columns of the widest line: every character counts one, however many bytes it takes.
std::size_t widest(const std::string& text) {
  std::size_t most = 0, now = 0;
  for (const char c : text) {
    now = c == '\n' ? 0 : now + ((static_cast<unsigned char>(c) & 0xc0) != 0x80);
    most = std::max(most, now);
  }
  return most;
}
int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}
/// The numbers in the second line, of ranges, and in the fourth, of ranks.
struct picture_numbers {
  std::vector<dm::index_t> of_ranges, of_ranks;
};
picture_numbers numbers_in(const std::string& text) {
  picture_numbers found;
  int line = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    line += text[at] == '\n';
    if (text[at] < '0' || text[at] > '9') continue;
    std::size_t digits = 0;
    const dm::index_t n = std::stoll(text.substr(at), &digits);
    if (line == 1) found.of_ranges.push_back(n);
    if (line == 3) found.of_ranks.push_back(n);
    at += digits - 1;
  }
  return found;
}

}  // namespace

TEST_CASE("draw_text: blocks, ranges and ranks of a matrix") {
  const std::string want =
      "            hidden = 6, over cols\n"
      "              0..2      3..5\n"
      "batch = 8  ┌─────────┬─────────┐\n"
      "over rows  │         │         │\n"
      "0..3       │ rank 0  │ rank 1  │\n"
      "           ├─────────┼─────────┤\n"
      "4..7       │ rank 2  │ rank 3  │\n"
      "           └─────────┴─────────┘\n"
      "           rows (2) splits batch\n"
      "           cols (2) splits hidden\n";
  CHECK(dm::draw_text<dm::tensor<float, hybrid, batch, hidden>>(two) == want);
  const dm::tensor<float, dm::shaped<hybrid>, batch, hidden> x(two);
  CHECK(dm::draw_text(x) == want);
}

TEST_CASE("draw_text: a tensor that lives at one place") {
  using L = dm::layout<pod, dm::placed<rows, 1>, dm::split<hidden, cols>>;
  using X = dm::tensor<float, L, hidden>;
  const std::string want =
      "   hidden = 6, over cols\n"
      "     0..2      3..5\n"
      "  ┌─────────┬─────────┐\n"
      "  │ rank 2  │ rank 3  │\n"
      "  └─────────┴─────────┘\n"
      "  rows (2) has it at 1 alone\n"
      "  cols (2) splits hidden\n";
  CHECK(dm::draw_text<X>(two) == want);
  CHECK(dm::describe<X>() == "float[hidden=6/cols] placed<rows, 1>");
  const std::string svg = dm::draw_svg<X>(two);
  CHECK(count(svg, ">rank 2<") == 1);
  CHECK(count(svg, ">rank 0<") == 0);
  CHECK(count(svg, "rows (2) has it at 1 alone") == 1);
}

TEST_CASE("draw_text: copies and addends share a cell") {
  const std::string copies = dm::draw_text<dm::tensor<float, hybrid, hidden>>(two);
  CHECK(count(copies, "ranks 0 2") == 1);
  CHECK(count(copies, "ranks 1 3") == 1);
  CHECK(count(copies, "rows (2) replicates") == 1);
  CHECK(count(dm::draw_text<dm::tensor<float, dm::gradient<hybrid>, hidden>>(two),
              "rows (2) holds addends") == 1);
  CHECK(count(dm::draw_text<dm::tensor<float, hybrid>>(two), "ranks 0-3") == 1);
}

TEST_CASE("draw_text: of many dims the split ones; what is not drawn is named") {
  const std::string text =
      dm::draw_text<dm::tensor<float, hybrid, label, batch, length, hidden>>(two, length{3});
  CHECK(count(text, "batch = 8") == 1);
  CHECK(count(text, "hidden = 6, over cols") == 1);
  CHECK(count(text, "not drawn: label = 10, length = 3") == 1);
}

TEST_CASE("draw_text: at most 80 columns and a page, whatever the mesh") {
  using L = dm::layout<pod, dm::split<dm::uneven<length>, cols>, dm::split<batch, rows>>;
  for (const dm::index_t n : {1, 2, 5, 7, 40, 1000})
    for (const dm::index_t extent : {0, 1, 10, 1000000}) {
      const dm::mesh_sizes<pod> sizes{cols{n}};
      const std::string across =
          dm::draw_text<dm::tensor<float, L, batch, length>>(sizes, length{extent});
      const std::string down =
          dm::draw_text<dm::tensor<float, L, length, batch>>(sizes, length{extent});
      CHECK(widest(across) <= 80);
      CHECK(widest(down) <= 80);
      CHECK(count(down, "\n") < 40);
    }
}

TEST_CASE("draw_text: at most 80 columns, whatever share of the ranks splits a dim") {
  struct high : dm::axis<> {};
  struct wide : dm::axis<> {};
  struct field : dm::mesh<high, wide> {};
  struct a_dim_of_a_long_name : dm::dim<> {};
  using down = a_dim_of_a_long_name;
  using L = dm::layout<field, dm::split<dm::uneven<length>, wide>>;
  using B =
      dm::layout<field, dm::split<dm::uneven<length>, wide>, dm::split<dm::uneven<down>, high>>;
  for (const dm::index_t n : {1, 2, 3, 5, 8, 13, 16, 30, 64, 80, 128})
    for (const dm::index_t m : {1, 2, 3, 5, 6, 8, 16, 64, 80, 128}) {
      const dm::mesh_sizes<field> sizes{high{m}, wide{n}};
      INFO(m, " x ", n);
      CHECK(widest(dm::draw_text<dm::tensor<float, L, length>>(sizes, length{256})) <= 80);
      CHECK(widest(dm::draw_text<dm::tensor<float, L, down, length>>(sizes, length{999},
                                                                     down{7})) <= 80);
      CHECK(widest(dm::draw_text<dm::tensor<float, B, down, length>>(sizes, length{9},
                                                                     down{99999})) <= 80);
    }
}

TEST_CASE("draw_text: ranges and ranks are whole or left out") {
  struct many : dm::axis<> {};
  struct rest : dm::axis<> {};
  struct field : dm::mesh<many, rest> {};
  using L = dm::layout<field, dm::split<dm::uneven<length>, many>>;
  const std::string want =
      "   length = 4096, over many\n"
      "     0..511   512..1023  1024..1535 1536..2047 2048..2559    ...     3584..4095\n";
  using X = dm::tensor<float, L, length>;
  CHECK(dm::draw_text<X>(dm::mesh_sizes<field>{many{8}, rest{1}}, length{4096})
            .substr(0, want.size()) == want);
  for (const dm::index_t n : {2, 3, 7, 8, 40})
    for (const dm::index_t m : {1, 2, 1000})
      for (const dm::index_t extent : {1000, 1000000, 2000000000}) {
        const std::string text =
            dm::draw_text<X>(dm::mesh_sizes<field>{many{n}, rest{m}}, length{extent});
        INFO(text);
        const auto numbers = numbers_in(text);
        const dm::index_t block = (extent + n - 1) / n;
        for (const dm::index_t k : numbers.of_ranges)
          CHECK((k % block == 0 || (k + 1) % block == 0 || k + 1 == extent));
        CHECK(numbers.of_ranges.size() >= 4);
        for (const dm::index_t k : numbers.of_ranks) CHECK((k % m == 0 || (k + 1) % m == 0));
        CHECK(widest(text) <= 80);
      }
}

TEST_CASE("draw_svg: one element of each kind closes, every block has its ranks") {
  const std::string svg = dm::draw_svg<dm::tensor<float, hybrid, batch, hidden>>(two);
  CHECK(svg.substr(0, 5) == "<svg ");
  CHECK(svg.substr(svg.size() - 7) == "</svg>\n");
  CHECK(count(svg, "<text") == count(svg, "</text>"));
  for (const char* rank : {">rank 0<", ">rank 1<", ">rank 2<", ">rank 3<"})
    CHECK(count(svg, rank) == 1);
  CHECK(count(svg, "batch = 8, over rows") == 1);

  const std::string sums = dm::draw_svg<dm::tensor<float, dm::gradient<hybrid>, hidden>>(two);
  CHECK(count(sums, ">+<") == 3);  // 0 + 2, 1 + 3, and the legend
  CHECK(count(sums, "partial&lt;rows&gt;") == 1);
}

TEST_CASE("draw_svg: what stands between the ranks of a block") {
  struct high : dm::axis<> {};
  struct wide : dm::axis<> {};
  struct field : dm::mesh<high, wide> {};
  const auto signs = [](const std::string& svg) {
    return std::pair(count(svg, ">=<"), count(svg, ">+<"));
  };
  using sums = dm::tensor<float, dm::layout<field, dm::partial<wide>>, hidden>;
  // Three between four ranks, and those of the legend.
  CHECK(signs(dm::draw_svg<sums>(dm::mesh_sizes<field>{high{1}, wide{4}})) == std::pair(1, 3 + 1));
  CHECK(signs(dm::draw_svg<sums>(dm::mesh_sizes<field>{high{4}, wide{1}})) == std::pair(3 + 1, 1));
  CHECK(signs(dm::draw_svg<sums>(dm::mesh_sizes<field>{high{2}, wide{2}})) == std::pair(1, 1));
  // Of three dims two are drawn: ranks of one block hold parts along the third.
  struct deep : dm::axis<> {};
  struct cube : dm::mesh<high, wide, deep> {};
  using L =
      dm::layout<cube, dm::split<batch, high>, dm::split<hidden, wide>, dm::split<label, deep>>;
  const dm::mesh_sizes<cube> sizes{high{2}, wide{2}, deep{2}};
  CHECK(signs(dm::draw_svg<dm::tensor<float, L, batch, hidden, label>>(sizes)) == std::pair(0, 0));
}

TEST_CASE("draw_svg: legal extents of every size, no number that is none") {
  using L = dm::layout<pod, dm::split<dm::uneven<length>, cols, rows>>;
  for (const dm::index_t n : {1, 3, 50})
    for (const dm::index_t extent : {0, 1, 10, 1000000}) {
      const dm::mesh_sizes<pod> sizes{cols{n}};
      const std::string svg =
          dm::draw_svg<dm::tensor<float, L, length, label>>(sizes, length{extent});
      CHECK(count(svg, "nan") + count(svg, "inf") + count(svg, "=\"-") == 0);
    }
}
