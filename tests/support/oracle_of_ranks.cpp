// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the oracle does with what ranks hold, compiled once for all tests, and optimised, which most
// of them are not.
#include "support/oracle.hpp"

namespace test_support {

namespace detail {

names dim_names(const dimesh::detail::tensor_core& x) {
  names all;
  for (int d = 0; d < x.rank(); ++d) all.emplace_back(x.facts->dim[d]->name);
  return all;
}

extents extents_of(const dimesh::detail::tensor_core& x) {
  return extents(x.runs.extents(), x.runs.extents() + x.rank());
}

holding holding_of(const dimesh::detail::tensor_core& x, const element_access& elements) {
  const int axes = x.layout().axes;
  holding h{{dim_names(x), extents_of(x), {}},
            x.layout(),
            {x.sizes(), x.sizes() + axes},
            {x.grid->coords(), x.grid->coords() + axes},
            {},
            {},
            x.elements(),
            x.once,
            x.grid->along((1u << axes) - 1).handle(),
            static_cast<int>(x.facts->element),
            x.memory.data(),
            x.facts->space,
            elements.load,
            elements.store};
  for (int d = 0; d < x.rank(); ++d) {
    h.blocks.push_back(x.own(d));
    const auto* cut = dimesh::detail::cuts_of_dim(x.cuts.first(), x.facts->dim[d]);
    h.cuts.push_back(cut == nullptr ? extents{} : cut->begin);
  }
  return h;
}

dimesh::block block_of(const holding& h, std::size_t d) {
  if (h.table.ragged[d]) {
    std::size_t at = 0, ranks = 1;
    for (int level = 0, a = 0; (a = h.table.axis_at(static_cast<int>(d), level)) >= 0; ++level) {
      ranks *= static_cast<std::size_t>(h.sizes[static_cast<std::size_t>(a)]);
      at = at * static_cast<std::size_t>(h.sizes[static_cast<std::size_t>(a)]) +
           static_cast<std::size_t>(h.coords[static_cast<std::size_t>(a)]);
    }
    const std::size_t each = (h.cuts[d].size() - 1) / ranks;
    return {h.cuts[d][at * each], h.cuts[d][(at + 1) * each] - h.cuts[d][at * each]};
  }
  index_t full = h.whole.size[d], begin = 0, end = full;
  for (int level = 0, a = 0; (a = h.table.axis_at(static_cast<int>(d), level)) >= 0; ++level) {
    const index_t p = h.sizes[static_cast<std::size_t>(a)];
    full = (full + p - 1) / p;
    begin = std::min(begin + full * h.coords[static_cast<std::size_t>(a)], end);
    end = std::min(begin + full, end);
  }
  return {begin, end - begin};
}

bool is_away(const holding& h) {
  for (int a = 0; a < h.table.axes; ++a)
    if (h.table.axis[a].what == dimesh::use::placed &&
        h.table.axis[a].at != h.coords[static_cast<std::size_t>(a)])
      return true;
  return false;
}

void for_each_element(const holding& h, const std::function<void(std::size_t, const extents&)>& f) {
  if (is_away(h)) return;
  extents begin, size;
  for (std::size_t d = 0; d < h.whole.size.size(); ++d) {
    const dimesh::block b = block_of(h, d);
    begin.push_back(b.offset);
    size.push_back(b.length);
  }
  std::size_t at = 0;
  for_each_index(size, [&](const extents& index) {
    extents global = index;
    for (std::size_t d = 0; d < global.size(); ++d) global[d] += begin[d];
    f(at++, global);
  });
}

std::vector<index_t> coords_of(const holding& h, index_t rank) {
  std::vector<index_t> coords(h.sizes.size());
  for (std::size_t a = coords.size(); a-- > 0; rank /= h.sizes[a]) coords[a] = rank % h.sizes[a];
  return coords;
}

gathered gather(const holding& h) {
  gathered all;
  index_t ranks = 1;
  for (const index_t n : h.sizes) ranks *= n;
  int total = 0;
  for (index_t r = 0; r < ranks; ++r) {
    holding there = h;
    there.coords = coords_of(h, r);
    index_t count = is_away(there) ? 0 : 1;
    for (std::size_t d = 0; d < h.whole.size.size(); ++d) count *= block_of(there, d).length;
    all.begin.push_back(total);
    all.bytes.push_back(static_cast<int>(count) * h.element_bytes);
    total += all.bytes.back();
  }
  int mine = 0;
  MPI_Comm_rank(h.ranks, &mine);
  const int expected = all.bytes[static_cast<std::size_t>(mine)];
  std::vector<char> sent = h.elements();
  sent.resize(static_cast<std::size_t>(expected));  // else the check fails anyway
  all.data.resize(static_cast<std::size_t>(total));
  MPI_Allgatherv(sent.data(), expected, MPI_BYTE, all.data.data(), all.bytes.data(),
                 all.begin.data(), MPI_BYTE, h.ranks);
  return all;
}

void for_each_along(const holding& h, const gathered& all, unsigned axes,
                    const std::function<void(const char*)>& f) {
  for (std::size_t r = 0; r < all.begin.size(); ++r) {
    const std::vector<index_t> coords = coords_of(h, static_cast<index_t>(r));
    bool in = true;
    for (std::size_t a = 0; a < coords.size(); ++a)
      in = in && (axes >> a & 1u || coords[a] == h.coords[a]);
    if (in) f(all.data.data() + all.begin[r]);
  }
}

bool same_bits(const holding& h, const gathered& all, unsigned axes) {
  bool same = true;
  const std::vector<char> mine = h.elements();
  if (!mine.empty())
    for_each_along(h, all, axes, [&](const char* block) {
      same = same && std::memcmp(block, mine.data(), mine.size()) == 0;
    });
  return same;
}

std::vector<double> settled_values(const holding& h, const gathered& all) {
  const unsigned greatest = h.table.mask(dimesh::use::partial_max),
                 least = h.table.mask(dimesh::use::partial_min);
  const unsigned addends = h.table.mask(dimesh::use::partial) & ~h.once;
  const auto size = static_cast<std::size_t>(h.local_size);
  const double start = greatest != 0 ? -HUGE_VAL : least != 0 ? HUGE_VAL : 0;
  std::vector<double> v(size, start);
  for_each_along(h, all, addends | greatest | least, [&](const char* block) {
    for (std::size_t k = 0; k < size; ++k) {
      const double one = h.load(block + k * static_cast<std::size_t>(h.element_bytes));
      v[k] = greatest != 0 ? std::max(v[k], one) : least != 0 ? std::min(v[k], one) : v[k] + one;
    }
  });
  return v;
}

bool close(double got, double want, double tolerance) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return true;
  return std::abs(got - want) <= tolerance * std::max(1.0, std::abs(want));
}

void scatter(const array& a, const holding& h) {
  index_t ranks = 1, mine = 0;  // of the group that shares a value
  for (int axis = 0; axis < h.table.axes; ++axis)
    if (h.table.is_partial(axis) && !(h.once >> axis & 1u)) {
      ranks *= h.sizes[static_cast<std::size_t>(axis)];
      mine =
          mine * h.sizes[static_cast<std::size_t>(axis)] + h.coords[static_cast<std::size_t>(axis)];
    }
  const bool greatest = h.table.mask(dimesh::use::partial_max) != 0;
  const bool least = h.table.mask(dimesh::use::partial_min) != 0;
  std::vector<char> elements = h.elements();
  for_each_element(h, [&](std::size_t at, const extents& index) {
    double v = value_at(a, a.dims, index);
    index_t salt = 1;
    for (const index_t i : index) salt += i;
    if (greatest || least)
      v += (least ? 1.0 : -1.0) * static_cast<double>((mine + salt) % ranks);
    else if (h.table.any_partial())
      v = mine > 0 ? static_cast<double>(mine * (1 + salt % 3))
                   : v - static_cast<double>(ranks * (ranks - 1) / 2 * (1 + salt % 3));
    h.store(elements.data() + at * static_cast<std::size_t>(h.element_bytes), v);
  });
  h.take(elements);
}

std::string disagreement(const holding& h, const array& want, double tolerance) {
  [[maybe_unused]] const unobserved quietly;
  std::ostringstream what;
  if (h.whole.dims != want.dims) return "the dims are others, or in another order";
  if (h.whole.size != want.size) return "the extents differ";
  const bool away = is_away(h);
  if (away && h.data != nullptr) what << "there is memory, though the tensor lives elsewhere; ";
  index_t count = away ? 0 : 1;
  for (std::size_t d = 0; d < h.whole.size.size(); ++d) {
    dimesh::block b = block_of(h, d);
    if (away) b.length = 0;
    count *= b.length;
    if (h.blocks[d] != b)
      what << "the block of " << h.whole.dims[d] << " is [" << h.blocks[d].offset << ", +"
           << h.blocks[d].length << "), not [" << b.offset << ", +" << b.length << "); ";
  }
  if (h.local_size != count) what << h.local_size << " elements here, not " << count << "; ";
  const gathered all = gather(h);
  if (!what.str().empty()) return what.str();
  if (!same_bits(
          h, all,
          h.table.mask(dimesh::use::replicated) | (h.table.mask(dimesh::use::partial) & h.once)))
    what << "replicated copies differ; ";
  const std::vector<double> got = settled_values(h, all);
  bool first = true;
  for_each_element(h, [&](std::size_t at, const extents& index) {
    const double v = value_at(want, want.dims, index);
    if (!first || close(got[at], v, tolerance)) return;
    first = false;
    what << "at (";
    for (const index_t i : index) what << ' ' << i;
    what << " ) stands " << got[at] << ", not " << v;
  });
  return what.str();
}

array numbers_like(const dimesh::detail::tensor_core& x, std::uint64_t seed) {
  return numbers(dim_names(x), extents_of(x), seed);
}

array reals_like(const dimesh::detail::tensor_core& x, std::uint64_t seed) {
  return reals(dim_names(x), extents_of(x), seed);
}

}  // namespace detail

}  // namespace test_support
