// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The writing of text, compiled for every layout.

#include "sample.hpp"

#include <dimesh/nn/generate/generate.hpp>

#include "layouts.hpp"

template <class Plan>
std::string writing<Plan>::text(const parameters<Plan>& p, const dm::grid<typename Plan::mesh>& g,
                                const request& what) {
  nn::token_list prompt;
  for (const char c : what.prompt) prompt.push_back(static_cast<unsigned char>(c));
  const auto all =
      nn::generate(nn::language_model<typename Plan::compute, nn::with_batch<form, one_text>>(), p,
                   g, {prompt}, {.count = what.count, .how = what.how, .key = what.key});
  std::string text;
  for (const auto token : all[0]) text += static_cast<char>(token);
  return text;
}

template struct writing<one>;
template struct writing<data>;
template struct writing<by_model>;
template struct writing<hybrid>;
template struct writing<sequence>;
template struct writing<zero>;
