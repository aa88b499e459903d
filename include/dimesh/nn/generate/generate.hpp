// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What does a model write? Each row of a batch goes on with a prompt of its own, token by token, at
// the cost of one token each. Under every layout the same, as far as rounding lets the draws.
//
//   auto texts = generate(m, p, g, {{5, 3, 8}, {2}}, {.count = 20, .key = key});
//     -> for each prompt, it and what follows; on all ranks
#pragma once

#include <functional>
#include <limits>

#include "dimesh/core/any_argument.hpp"
#include "dimesh/interop/from_array.hpp"
#include "dimesh/nn/generate/sampling.hpp"
#include "dimesh/nn/generate/step.hpp"
#include "dimesh/op/to_rank.hpp"

namespace dimesh::nn {

using token_list = std::vector<std::int32_t>;

struct generate_options {
  index_t count = 1;  ///< tokens to write, for each prompt
  sampling how{};
  random_key key{0};  ///< draws are keyed by it, the prompt's number and the position
  std::int32_t stop = -1;  ///< a token that ends a text, and belongs to it; -1: none does
  /// Called for each token that is written, in the order of positions, on all ranks.
  std::function<void(index_t prompt, std::int32_t token)> written{};
};

namespace detail {

/// Logits of a batch, a row for each text.
template <class T> struct logit_rows {
  std::vector<T> values;
  std::size_t vocab;
  std::span<const T> operator[](std::size_t b) const {
    return std::span(values).subspan(b * vocab, vocab);
  }
};

/// Texts have a token each, and rows in the batch, of so many.
inline void check_rows(const char* call, const std::vector<token_list>& rows, index_t all) {
  if (std::ssize(rows) > all)
    (dimesh::detail::words() << call << ": " << std::ssize(rows) << " rows for a batch of " << all
                             << "; give fewer prompts, or a form with_batch of more")
        .raise();
  for (const token_list& r : rows)
    if (r.empty())
      (dimesh::detail::words() << call << ": a prompt has no token; begin it with one").raise();
}
template <class C, class M> index_t rows_of_batch(const grid<typename C::mesh>& g) {
  return nn::tokens<C, M, next_tokens>(g, next_tokens{1}).template extent<typename M::batch>();
}

/// Texts that grow together, a row of the batch each, and what Model keeps of them.
template <class Model, class P, class Cache> class growing_texts {
  using C = typename Model::compute;
  using M = typename Model::M;
  using mesh = typename C::mesh;
  using ids_type = nn::tokens<C, M, next_tokens>;

 public:
  using element = typename M::element;

  growing_texts(const Model& m, const P& p, const grid<mesh>& g, std::vector<token_list> rows,
                Cache kept)
      : m_(m), p_(p), g_(g), rows_(std::move(rows)), kept_(std::move(kept)) {}

  std::vector<token_list>& rows() { return rows_; }
  /// Feeds what is known of all rows up to position `to`, and gives the logits of what follows
  /// there, all of them on every rank. Where the length is full, half of it is forgotten: at which
  /// positions, the length says, whatever texts stand beside one another.
  logit_rows<element> logits_after(index_t to) {
    const index_t length = extent_of_length();
    if (to - begin_ > length) {
      const index_t step = length + 1 - std::max<index_t>(1, length / 2);
      begin_ = (to - length + step - 1) / step * step;
      kept_.filled = 0;
    }
    const index_t from = begin_ + kept_.filled;
    ids_type ids(g_, next_tokens{to - from});
    next_.clear();
    for (index_t b = 0; b < ids.template extent<typename M::batch>(); ++b)
      for (index_t i = from; i < to; ++i) next_.push_back(token(b, i));
    fill_from(ids, next_);
    const auto whole = relayout<layout<mesh>>(feed(m_, p_, ids, kept_));
    const dimesh::detail::in_space there(dimesh::detail::core_of(whole).facts->space);
    return {dimesh::detail::to_vector(whole.data(), whole.local_size()),
            static_cast<std::size_t>(whole.template extent<typename M::vocab>())};
  }
  void reorder(const std::vector<index_t>& from) { nn::reorder(kept_, from); }

 private:
  /// Rows that nobody asked for repeat a token, and so do those that have ended.
  std::int32_t token(index_t b, index_t i) const {
    if (b >= static_cast<index_t>(rows_.size())) return 0;
    const token_list& r = rows_[static_cast<std::size_t>(b)];
    return i < static_cast<index_t>(r.size()) ? r[static_cast<std::size_t>(i)] : r.back();
  }
  index_t extent_of_length() const {
    if (!kept_.layers.empty()) return kept_.layers[0].key.template extent<typename M::length>();
    if constexpr (is_static_dim<typename M::length>)
      return static_extent<typename M::length>;
    else  // nothing is kept
      return std::numeric_limits<index_t>::max();
  }

  const Model& m_;
  const P& p_;
  const grid<mesh>& g_;
  std::vector<token_list> rows_;
  token_list next_{};  // tokens of all rows
  Cache kept_;
  index_t begin_ = 0;  // position of the first that is kept
};

/// The rows, and what is written after them: `next` gives the logits of what follows at a position,
/// of texts whose type is gone.
template <class T>
void write_on(std::vector<token_list>& rows, const generate_options& o, void* texts,
              logit_rows<T> (*next)(void* texts, index_t at)) {
  const std::size_t n = rows.size();
  std::vector<std::size_t> ends;
  for (const token_list& r : rows) ends.push_back(r.size() + static_cast<std::size_t>(o.count));
  std::size_t at = rows[0].size();
  for (const token_list& r : rows) at = std::min(at, r.size());
  for (;; ++at) {
    bool open = false;
    for (std::size_t b = 0; b < n; ++b) open = open || at < ends[b];
    if (!open) return;
    const auto logits = next(texts, static_cast<index_t>(at));
    for (std::size_t b = 0; b < n; ++b) {
      if (rows[b].size() != at || at >= ends[b]) continue;
      const auto drawn = static_cast<std::int32_t>(draw_symbol(
          logits[b], o.key.fold(static_cast<std::uint64_t>(b)).fold(static_cast<std::uint64_t>(at)),
          o.how));
      rows[b].push_back(drawn);
      if (drawn == o.stop) ends[b] = rows[b].size();
      if (o.written) o.written(static_cast<index_t>(b), drawn);
    }
  }
}
template <class Texts> std::vector<token_list> written(Texts texts, const generate_options& o) {
  write_on<typename Texts::element>(texts.rows(), o, &texts, [](void* t, index_t at) {
    return static_cast<Texts*>(t)->logits_after(at);
  });
  return std::move(texts.rows());
}

/// The rows of a language model.
template <class C, class Form, class P>
auto growing(const char* call, const language_model<C, Form>& m, const P& p,
             const grid<typename C::mesh>& g, std::vector<token_list> rows) {
  check_rows(call, rows, rows_of_batch<C, form_of<Form>>(g));
  return growing_texts(m, p, g, std::move(rows), text_cache<C, Form>(g));
}

}  // namespace detail

/// Each prompt, and what the model writes after it, the same on all ranks of the grid. Prompts have
/// a token at least, and are the same on all ranks; their lengths may differ. Where a text outgrows
/// the length, the model goes on from its last half. Collective. Throws dimesh::error for more
/// prompts than the batch has rows, or an empty one.
template <Layout C, class Form, class P>
std::vector<token_list> generate(const language_model<C, Form>& m, const P& p,
                                 const grid<typename C::mesh>& g, std::vector<token_list> prompts,
                                 const generate_options& o = {}) {
  if (prompts.empty() || o.count < 1) return prompts;
  return detail::written(detail::growing("generate", m, p, g, std::move(prompts)), o);
}

namespace detail {
template <class M> inline constexpr bool writes_texts = false;
template <class C, class Form> inline constexpr bool writes_texts<language_model<C, Form>> = true;
using dimesh::detail::is_grid;
template <class Texts>
inline constexpr bool are_texts = std::is_convertible_v<const Texts&, std::vector<token_list>>;
template <class... A> std::vector<token_list> refuse_generate() {
  static_assert(ok<wrong_arguments<A...>>,
                "nn::generate: model, parameters, grid, the prompts' tokens and options: "
                "generate(m, p, g, {{5, 3, 8}}, {.count = 20})");
  return {};
}
}  // namespace detail

/// Arguments of other kinds, or in another order: without a grid or a model, with prompts that are
/// no lists of tokens, with a number for the options. (Functions of the user's that have this name
/// fit better where there is no model: core/any_argument.hpp.)
template <class M, class P, class Texts>
  requires(detail::writes_texts<M> && !detail::is_grid<Texts> &&
           !std::is_convertible_v<const Texts&, generate_options>)
std::vector<token_list> generate(const M&, const P&, const Texts&, const generate_options& = {}) {
  return detail::refuse_generate<M, P, Texts>();
}
template <class... No>
  requires(sizeof...(No) == 0)
std::vector<token_list> generate(dimesh::detail::any_argument, dimesh::detail::any_argument,
                                 dimesh::detail::any_argument = {}, const generate_options& = {}) {
  return detail::refuse_generate<dimesh::detail::nothing<No...>>();
}
template <class M, class P, class G, class Texts>
  requires(detail::writes_texts<M> && !(detail::is_grid<G> && detail::are_texts<Texts>))
std::vector<token_list> generate(const M&, const P&, const G&, const Texts&,
                                 const generate_options& = {}) {
  return detail::refuse_generate<M, P, G, Texts>();
}
template <class M, class P, class G, class Texts, class N>
  requires(detail::writes_texts<M> && std::is_arithmetic_v<N>)
std::vector<token_list> generate(const M&, const P&, const G&, const Texts&, const N&) {
  return detail::refuse_generate<M, P, G, Texts, N>();
}

}  // namespace dimesh::nn
