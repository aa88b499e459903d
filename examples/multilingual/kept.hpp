// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where does a model keep its run? Each has a folder of its own below those of the settings; all
// read and write the same symbols, those of any that has begun.
#pragma once

#include <dimesh/train/run.hpp>
#include <filesystem>

#include "settings.hpp"

inline constexpr const char* sources_file = "sources.txt";  // in checkpoints
inline constexpr const char* english_file = "english.txt";

/// The model that was under way goes on; those that had not yet begun begin. Collective.
inline dimesh::run_options run_of(int experts, const settings& s) {
  const std::string name = "experts-" + std::to_string(experts);
  const auto folder = [&](const std::string& of) { return of.empty() ? of : of + "/" + name; };
  std::error_code unreadable;
  int resumes = std::filesystem::exists(folder(s.resume), unreadable) ? 1 : 0;
  MPI_Bcast(&resumes, 1, MPI_INT, 0, MPI_COMM_WORLD);  // all ranks do as the first one sees
  return {.name = name,
          .save = folder(s.save),
          .resume = resumes != 0 ? folder(s.resume) : "",
          .stop_after = s.stop_after};
}
/// The text that they keep by that name, if any has begun. Collective; throws dimesh::error on all
/// ranks where two keep different ones, and where there is none of them to be resumed.
inline std::optional<std::string> text_of_any(const settings& s, const std::string& name) {
  std::optional<std::string> found;
  std::string first, asked;
  bool resumes = s.resume.empty();
  for (const int experts : s.experts) {
    const auto how = run_of(experts, s);
    resumes = resumes || !how.resume.empty();
    asked += (asked.empty() ? "" : ", ") + how.name;
    const auto text = dimesh::kept_text(how, name);
    if (text && found && *text != *found)
      throw dimesh::error("multilingual: " + first + " and " + how.name + " keep different " +
                          name + "; go on with one of them");
    if (text && !found) found = text, first = how.name;
  }
  if (!resumes && !found)  // what --save has is gone on with, wherever it began
    throw dimesh::error("multilingual: nothing to go on from: '" + s.resume + "' has no " + asked);
  return found;
}
