// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How do weights come in that another library wrote? As what they are: tensors by name in a
// safetensors file, or in several with an index, without any manifest of ours.
//
//   load_safetensors("gpt2/model.safetensors", gpt2_names(p), part("model", p))     gpt2.hpp
//   load_safetensors("theirs", {.names = {{"model.w", "wte.weight"}}}, part("model", params));
//     -> from theirs/model.safetensors, or from the files that an index there names
#pragma once

#include "dimesh/io/checkpoint/load.hpp"
#include "dimesh/io/checkpoint/manifest.hpp"
#include "dimesh/io/checkpoint/read.hpp"
#include "dimesh/io/json_object.hpp"

namespace dimesh {
namespace detail::checkpoint {

/// A folder and the names of its files with tensors.
struct foreign_files {
  fs::path folder;
  std::vector<std::string> names;
};

/// The files that an index names. Throws dimesh::error, by fail(what), unless all of them are files
/// beside it.
template <class Fail>
std::vector<std::string> files_in_index(const std::string& text, const Fail& fail) {
  std::set<std::string> names;
  try {
    const auto j = json_object(text, "the index", fail);
    for (const auto& [tensor, file] : j.at("weight_map").items()) {
      const auto name = file.template get<std::string>();
      if (!is_plain_name(name))
        fail("expected names of files in this folder, found '" + name + "'");
      names.insert(name);
    }
  } catch (const nlohmann::json::exception& e) {
    fail(std::string("expected a weight_map of names, found what is none (") + e.what() + ")");
  }
  return {names.begin(), names.end()};
}
inline foreign_files foreign_files_at(const fs::path& path) {
  if (!fs::is_directory(path)) {
    const fs::path folder = path.parent_path();
    return {folder.empty() ? fs::path(".") : folder, {path.filename().string()}};
  }
  const fs::path index = path / "model.safetensors.index.json";
  if (fs::exists(index))
    return {path, files_in_index(read_text(index),
                                 [&](const std::string& what) { fail_at(index, what, 0); })};
  if (fs::exists(path / "model.safetensors")) return {path, {"model.safetensors"}};
  fail_at(path, "expected model.safetensors or model.safetensors.index.json, found neither", 0);
}

}  // namespace detail::checkpoint

/// Reads the tensors of all parts, which have been made, from a safetensors file, or from those of
/// a folder, under whatever layouts they have. Collective. Names, shapes, types and the structure
/// of the files are compared first (there is no checksum: options.verify is of no use); if anything
/// is wrong, every rank throws a text that names file and tensor, and no tensor has changed. Where
/// a bool is neither 0 nor 1 it throws, too, and they have.
template <class... S>
void load_safetensors(const std::string& path, const load_options& options,
                      const checkpoint_part<S>&... parts) {
  using fault = detail::checkpoint::loaded_fault<S...>;
  static_assert(ok<only<fault, parameters_are_const>>,
                "load_safetensors: the tensors are written to, and these are const; give parts of "
                "those that are not");
  static_assert(ok<only<fault, partial_operand>>,
                "load_safetensors: ranks hold addends of a tensor along this axis, and no "
                "elements; load a tensor of another layout");
  namespace cp = detail::checkpoint;
  if constexpr (ok<fault>) {
    const auto all = cp::note_parts_of("load_safetensors", parts...);
    const detail::own_comm c(all[0].core->grid->everyone().handle());
    std::vector<cp::found_tensor> found;
    detail::together(c.comm, [&] {
      const cp::foreign_files files = cp::foreign_files_at(path);
      found = cp::find_tensors(files.folder, files.names, all, options);
    });
    cp::read_all(c.comm, found);
  }
}
/// The same with the options that are usual.
template <class First, class... S>
void load_safetensors(const std::string& path, const checkpoint_part<First>& part,
                      const checkpoint_part<S>&... parts) {
  dimesh::load_safetensors(path, load_options{}, part, parts...);
}
namespace detail::checkpoint {
template <class... A> void refuse_load_safetensors() {
  static_assert(
      ok<std::conditional_t<(std::is_same_v<A, no_part> || ...), no_fault, wrong_arguments<A...>>>,
      "load_safetensors: a file or folder, then parts, whose tensors have been made: "
      "load_safetensors(\"model.safetensors\", part(\"model\", p))");
}
}  // namespace detail::checkpoint

/// Arguments of other kinds, or in another order.
template <class... A>
  requires(detail::checkpoint::is_meant<A...> && !detail::checkpoint::loads<load_options, A...>)
void load_safetensors(const A&...) {
  detail::checkpoint::refuse_load_safetensors<A...>();
}
template <class... No>
  requires(sizeof...(No) == 0)
void load_safetensors(detail::any_argument, detail::any_argument = {}, detail::any_argument = {}) {
  detail::checkpoint::refuse_load_safetensors<detail::nothing<No...>>();
}

}  // namespace dimesh
