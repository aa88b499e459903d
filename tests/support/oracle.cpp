// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the oracle does with whole arrays, compiled once for all tests, and optimised, which most of
// them are not.
#include "support/oracle.hpp"

namespace test_support {

void for_each_index(const extents& size, const std::function<void(const extents&)>& f) {
  index_t n = 1;
  for (const index_t s : size) n *= s;
  extents index(size.size(), 0);
  for (index_t i = 0; i < n; ++i) {
    f(index);
    for (std::size_t d = size.size(); d-- > 0;) {
      if (++index[d] < size[d]) break;
      index[d] = 0;
    }
  }
}

array make(const names& dims, const extents& size, const std::function<double(const extents&)>& f) {
  array a{dims, size, {}};
  for_each_index(size, [&](const extents& index) { a.values.push_back(f(index)); });
  return a;
}

std::uint64_t scramble(std::uint64_t h) {
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return h ^ (h >> 31);
}

array numbers(const names& dims, const extents& size, std::uint64_t seed) {
  std::uint64_t at = seed * 1000003u;
  return make(dims, size,
              [&](const extents&) { return static_cast<double>(scramble(++at) % 9) - 4.0; });
}

array places(const names& dims, const extents& size, index_t n, std::uint64_t seed) {
  std::uint64_t at = seed * 1000003u;
  const auto choices = static_cast<std::uint64_t>(n + 2);
  return make(dims, size,
              [&](const extents&) { return static_cast<double>(scramble(++at) % choices) - 1.0; });
}

array signs(const names& dims, const extents& size, std::uint64_t seed) {
  return map([](const line_values& v) { return v[0] < -1  ? -1.0
                                               : v[0] > 1 ? 1.0
                                                          : 0.0; },
             {numbers(dims, size, seed)});
}

array reals(const names& dims, const extents& size, std::uint64_t seed) {
  std::uint64_t at = seed * 1000003u;
  return make(dims, size, [&](const extents&) {
    const double v = static_cast<double>(scramble(++at) >> 11) * 0x1p-52 - 1.0;
    return v < 0 ? v * 0.9 - 0.05 : v * 0.9 + 0.05;
  });
}

double value_at(const array& a, const names& all, const extents& index) {
  index_t at = 0;
  for (std::size_t d = 0; d < a.dims.size(); ++d) {
    const auto place = std::find(all.begin(), all.end(), a.dims[d]) - all.begin();
    at = at * a.size[d] + index[static_cast<std::size_t>(place)];
  }
  return a.values[static_cast<std::size_t>(at)];
}

array union_of(const std::vector<array>& in) {
  array all;
  for (const array& a : in)
    for (std::size_t d = 0; d < a.dims.size(); ++d)
      if (all.place(a.dims[d]) < 0) {
        all.dims.push_back(a.dims[d]);
        all.size.push_back(a.size[d]);
      }
  return all;
}

array map(const std::function<double(const std::vector<double>&)>& f,
          const std::vector<array>& in) {
  array out = union_of(in);
  std::vector<double> v(in.size());
  for_each_index(out.size, [&](const extents& index) {
    for (std::size_t k = 0; k < in.size(); ++k) v[k] = value_at(in[k], out.dims, index);
    out.values.push_back(f(v));
  });
  return out;
}

array fold(const names& keep, const array& a, double start,
           const std::function<double(double, double)>& f) {
  array out{keep, {}, {}};
  for (const std::string& name : keep)
    out.size.push_back(a.size[static_cast<std::size_t>(a.place(name))]);
  out.values.assign(static_cast<std::size_t>(out.count()), start);
  for_each_index(a.size, [&](const extents& index) {
    index_t at = 0;
    for (std::size_t d = 0; d < keep.size(); ++d)
      at = at * out.size[d] + index[static_cast<std::size_t>(a.place(keep[d]))];
    double& v = out.values[static_cast<std::size_t>(at)];
    v = f(v, value_at(a, a.dims, index));
  });
  return out;
}

array sum(const names& keep, const array& a) {
  return fold(keep, a, 0.0, [](double s, double v) { return s + v; });
}

array max(const names& keep, const array& a) {
  return fold(keep, a, -HUGE_VAL, [](double s, double v) { return std::max(s, v); });
}

array min(const names& keep, const array& a) {
  return fold(keep, a, HUGE_VAL, [](double s, double v) { return std::min(s, v); });
}

array transpose(const names& order, const array& a) { return sum(order, a); }

array einsum(const names& keep, const std::vector<array>& in) {
  const auto product = [](const std::vector<double>& v) {
    double all = 1;
    for (const double x : v) all *= x;
    return all;
  };
  return sum(keep, map(product, in));
}

array renamed(array a, const std::string& from, const std::string& to) {
  for (std::string& name : a.dims)
    if (name == from) name = to;
  return a;
}

array along(const array& a, const std::string& d, const std::string& to,
            const std::function<line_values(const line_values&)>& f) {
  const auto k = static_cast<std::size_t>(a.place(d));
  array like = renamed(a, d, to);
  like.size[k] =
      static_cast<index_t>(f(line_values(static_cast<std::size_t>(a.size[k]), 1.0)).size());
  return make(like.dims, like.size, [&](extents at) {
    const auto i = static_cast<std::size_t>(at[k]);
    line_values line;
    for (at[k] = 0; at[k] < a.size[k]; ++at[k]) line.push_back(value_at(a, a.dims, at));
    return f(line)[i];
  });
}

array folded(const array& a, const std::string& d,
             const std::function<double(const line_values&)>& f) {
  array all = along(a, d, d, [&](const line_values& v) { return line_values{f(v)}; });
  const auto k = all.place(d);
  all.dims.erase(all.dims.begin() + k), all.size.erase(all.size.begin() + k);
  return all;
}

array joined(const array& a, const array& b, const std::string& d, const std::string& to) {
  const auto k = static_cast<std::size_t>(a.place(d));
  array like = renamed(a, d, to);
  like.size[k] += b.size[static_cast<std::size_t>(b.place(d))];
  return make(like.dims, like.size, [&](extents at) {
    const bool first = at[k] < a.size[k];
    if (!first) at[k] -= a.size[k];
    return value_at(first ? a : b, a.dims, at);
  });
}

array looked_up(const names& out, const array& x, const std::string& d, const array& ids) {
  const array all = union_of({x, ids});
  const index_t n = all.size[static_cast<std::size_t>(all.place(d))];
  extents size;
  for (const std::string& name : out)
    size.push_back(all.size[static_cast<std::size_t>(all.place(name))]);
  names with_place = out;
  with_place.push_back(d);
  return make(out, size, [&](extents at) {
    const auto place = static_cast<index_t>(value_at(ids, out, at));
    at.push_back(place);
    return place < 0 || place >= n ? 0.0 : value_at(x, with_place, at);
  });
}

array added_up(const array& rows, const std::string& from, const array& ids, const std::string& d,
               index_t n) {
  const auto k = static_cast<std::size_t>(rows.place(from));
  array like = renamed(rows, from, d);
  like.size[k] = n;
  return make(like.dims, like.size, [&](extents at) {
    const index_t place = at[k];
    double sum = 0;
    for (at[k] = 0; at[k] < rows.size[k]; ++at[k])
      if (static_cast<index_t>(value_at(ids, rows.dims, at)) == place)
        sum += value_at(rows, rows.dims, at);
    return sum;
  });
}

double dot(const array& a, const array& b) {
  const array c = einsum({}, {a, b});
  return c.values[0];
}

}  // namespace test_support
