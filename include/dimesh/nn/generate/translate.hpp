// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a model write that reads another text? Each prompt has a source of its own, which is
// read once; all else is as of a language model.
//
//   generate(m, p, g, {{7, 4, 9}, {8}}, {{1}, {1}}, {.count = 20, .stop = 2})
//     -> for each source, its prompt ({1}: what every text begins with) and what follows
//   beam_search(m, p, g, sources, prompts, {.beams = 4, .count = 20, .stop = 2})
#pragma once

#include <algorithm>

#include "dimesh/interop/from_array.hpp"
#include "dimesh/nn/generate/beam_search.hpp"
#include "dimesh/nn/generate/source_cache.hpp"

namespace dimesh::nn {

namespace detail {

/// A source for each prompt, with a token at least, and no more than the extent.
inline void check_sources(const char* call, const std::vector<token_list>& sources,
                          std::size_t prompts, index_t extent) {
  if (sources.size() != prompts)
    (dimesh::detail::words() << call << ": " << std::ssize(sources) << " sources for "
                             << static_cast<index_t>(prompts) << " prompts; give one for each")
        .raise();
  for (const token_list& s : sources)
    if (s.empty() || std::ssize(s) > extent)
      (dimesh::detail::words() << call << ": a source of " << std::ssize(s)
                               << " tokens; give at least one, and at most " << extent)
          .raise();
}

/// Rows of the batch, `each` for a source.
template <class C, class Form, class P>
auto growing(const char* call, const encoder_decoder<C, Form>& m, const P& p,
             const grid<typename C::mesh>& g, const std::vector<token_list>& sources,
             std::vector<token_list> rows, index_t each) {
  using ids_type = typename encoder_decoder<C, Form>::source_tokens;
  using M = source_form_of<Form>;
  const index_t length = ids_type(g).template extent<typename M::source>();
  check_sources(call, sources, rows.size() / static_cast<std::size_t>(each), length);
  check_rows(call, rows, rows_of_batch<C, M>(g));
  const auto all = static_cast<std::size_t>(rows_of_batch<C, M>(g) * length);
  token_list tokens(all), holds(all);  // zeros
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const token_list& s = sources[b / static_cast<std::size_t>(each)];
    const index_t at = static_cast<index_t>(b) * length;
    std::copy(s.begin(), s.end(), tokens.begin() + at);
    std::fill_n(holds.begin() + at, s.size(), 1);
  }
  const auto ids = from_array<ids_type>(g, tokens), valid = from_array<ids_type>(g, holds);
  return growing_texts(m, p, g, std::move(rows), read_source(m, p, ids, valid));
}

}  // namespace detail

/// Each prompt, and what the model writes after it by its source, the same on all ranks of the
/// grid. Sources and prompts are the same on all ranks, too, and have a token at least. Where a
/// text outgrows the length, the model goes on from its last half. Collective. Throws dimesh::error
/// for more prompts than the batch has rows, an empty one, another number of sources, or one that
/// is empty or longer than the source's extent.
template <Layout C, class Form, class P>
std::vector<token_list> generate(const encoder_decoder<C, Form>& m, const P& p,
                                 const grid<typename C::mesh>& g,
                                 const std::vector<token_list>& sources,
                                 std::vector<token_list> prompts, const generate_options& o = {}) {
  if ((prompts.empty() && sources.empty()) || o.count < 1) return prompts;
  if constexpr (detail::CompletePair<Form>)
    return detail::written(detail::growing("generate", m, p, g, sources, std::move(prompts), 1), o);
  else
    return prompts;
}

/// For each prompt the texts found by its source, as beam_search of a language model finds them.
/// Collective. Throws dimesh::error as generate does, each prompt taking `beams` rows.
template <Layout C, class Form, class P>
std::vector<std::vector<found_text>> beam_search(const encoder_decoder<C, Form>& m, const P& p,
                                                 const grid<typename C::mesh>& g,
                                                 const std::vector<token_list>& sources,
                                                 const std::vector<token_list>& prompts,
                                                 const beam_options& o = {}) {
  if constexpr (detail::CompletePair<Form>)
    return detail::found(
        prompts, o,
        detail::growing("beam_search", m, p, g, sources, detail::rows_for(prompts, o), o.beams));
  else
    return {};
}

}  // namespace dimesh::nn
