// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where do files have the tensors of a program, and are they what it takes them for? All that can
// be compared before elements are read: names, shapes, kinds of elements.
//
//   find_tensors(folder, {"model.safetensors"}, all, {.casts = true})  -> places, or it throws
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dimesh/io/checkpoint/missing.hpp"
#include "dimesh/io/checkpoint/write.hpp"

namespace dimesh::detail::checkpoint {

/// A tensor of the program, and where a file has it.
struct found_tensor {
  const named_core* to;
  fs::path file;
  safetensors_entry entry;
  index_t data_at;
  stored_place place;  ///< in the entry
};

[[noreturn]] inline void fail_tensor(const fs::path& where, const std::string& name,
                                     const std::string& what) {
  throw error("checkpoint: '" + where.string() + "': tensor '" + name + "': " + what);
}

inline std::string shape_words(const std::vector<index_t>& shape) {
  std::string s = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    s += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return s + "]";
}
constexpr bool is_real_kind(element_kind k) {
  return k == element_kind::half || k == element_kind::bfloat16 || k == element_kind::float32 ||
         k == element_kind::float64;
}

/// Where a part of the file's tensor is the program's; nothing where it is not.
inline std::optional<stored_place> place_in(const found_tensor& f, const stored_part& part) {
  auto place = place_of_part(f.entry.shape, entry_of(*f.to).shape, part);
  if (!place || f.to->core->facts->kind != element_kind::complex128) return place;
  // In the file a last dim has the two parts of each; it stays whole.
  if (part.dim + 1 == static_cast<int>(f.entry.shape.size())) return {};
  place->step.pop_back();
  place->first /= 2;
  for (index_t& step : place->step) step /= 2;
  return place;
}
/// Throws unless the file's tensor, or this part of it, is the program's; finds where it is.
inline void require_match(found_tensor& f, const stored_part* part, const load_options& options) {
  const safetensors_entry want = entry_of(*f.to);
  std::optional<stored_place> place;
  if (part != nullptr)
    place = place_in(f, *part);
  else if (f.entry.shape == want.shape)
    place = stored_place{0, steps_in_file(*f.to->core)};
  if (!place)
    fail_tensor(f.file, f.entry.name,
                "expected shape " + shape_words(want.shape) + " (" + dims_of(*f.to->core) + ")" +
                    (part == nullptr ? std::string()
                                     : " from " + std::to_string(part->begin) + " on along dim " +
                                           std::to_string(part->dim)) +
                    ", found " + shape_words(f.entry.shape));
  f.place = *place;
  const auto name = [](element_kind k) {
    const auto* const t = safetensors::type_of(k);
    return std::string(t != nullptr ? t->name : "none of the format");
  };
  const bool may_cast = options.casts && is_real_kind(want.kind) && is_real_kind(f.entry.kind) &&
                        f.to->core->facts->kind == want.kind;
  if (f.entry.kind != want.kind && !may_cast)
    fail_tensor(f.file, f.entry.name,
                "expected elements of " + name(want.kind) + ", found " + name(f.entry.kind) +
                    "; between real numbers, load with casts");
}

/// Throws where options speak of a tensor that the program does not have.
inline void require_known(const fs::path& folder, const std::vector<named_core>& all,
                          const load_options& options) {
  std::vector<std::string> known;
  for (const named_core& x : all) known.push_back(x.name);
  const auto require = [&](const std::string& name) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      fail_tensor(folder, name,
                  "load_options speak of it, and the program has none of this name; near it: " +
                      near_names(name, known));
  };
  for (const auto& [name, in_file] : options.names) require(name);
  for (const auto& [name, part] : options.parts) require(name);
}

/// Where the files have the tensors of the program. The same on all ranks, or it throws.
inline std::vector<found_tensor> find_tensors(const fs::path& folder,
                                              const std::vector<std::string>& files,
                                              const std::vector<named_core>& all,
                                              const load_options& options) {
  require_known(folder, all, options);
  std::map<std::string, found_tensor> in_files;
  for (const std::string& name : files) {
    const auto head = read_safetensors_header((folder / name).string());
    for (const safetensors_entry& e : head.tensors)
      if (!in_files.emplace(e.name, found_tensor{nullptr, folder / name, e, head.data_at, {}})
               .second)
        fail_tensor(folder / name, e.name, "another file has it, too");
  }
  std::vector<found_tensor> found;
  std::vector<missing_tensor> missing;
  std::set<std::string> parts_found;
  for (const named_core& x : all) {
    const auto renamed = options.names.find(x.name);
    const auto part = options.parts.find(x.name);
    const std::string name = part != options.parts.end()      ? part->second.name
                             : renamed != options.names.end() ? renamed->second
                                                              : x.name;
    const auto at = in_files.find(name);
    if (at == in_files.end()) {
      missing.push_back({name, x.part});
      continue;
    }
    parts_found.insert(x.part);
    at->second.to = &x;
    require_match(at->second, part != options.parts.end() ? &part->second : nullptr, options);
    found.push_back(at->second);
  }
  std::vector<std::string> names;
  for (const auto& [name, f] : in_files) names.push_back(name);
  for (const missing_tensor& x : missing)
    if (const bool is_all = parts_found.count(x.part) == 0; is_all || !options.partial)
      fail_tensor(folder, x.name, missing_text(x, is_all, names));
  for (const auto& [name, f] : in_files)
    if (f.to == nullptr && !options.partial && !options.file_has_more &&
        options.unused.count(name) == 0)
      fail_tensor(f.file, name,
                  "the program has none of this name; load with file_has_more to leave it "
                  "(load_checkpoint may; a training_run goes on with all that was kept)");
  return found;
}

}  // namespace dimesh::detail::checkpoint
