// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a model write that reads another text? Each prompt has a source of its own, which is
// read once; all else is as of a language model.
//
//   generate(m, p, g, {{7, 4, 9}, {8}}, {{1}, {1}}, {.count = 20, .stop = 2})
//     -> for each source, its prompt ({1}: what every text begins with) and what follows
//   beam_search(m, p, g, sources, prompts, {.beams = 4, .count = 20, .stop = 2})
#pragma once

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
  check_sources(call, sources, rows.size() / static_cast<std::size_t>(each),
                ids_type(g).template extent<typename M::source>());
  check_rows(call, rows, rows_of_batch<C, M>(g));
  const auto holds = [&](index_t b, index_t t) {
    return b / each < std::ssize(sources) &&
           t < std::ssize(sources[static_cast<std::size_t>(b / each)]);
  };
  const auto ids = dimesh::generate<ids_type>(g, [&](index_t b, index_t t) {
    return holds(b, t) ? sources[static_cast<std::size_t>(b / each)][static_cast<std::size_t>(t)]
                       : 0;
  });
  const auto valid =
      dimesh::generate<ids_type>(g, [&](index_t b, index_t t) { return holds(b, t) ? 1 : 0; });
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
