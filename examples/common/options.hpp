// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be said to an example on its command line? CLI11 reads it; options.cpp, compiled once
// for all examples, is the one place that includes CLI11, whose headers take longer than a main.
//
//   options o("What the program does");
//   o.add("--steps", s.steps, "training steps").between(1, 1000);
//   o.add("--layouts", s.layouts, "names").split_at_commas().among({"data", "model"});
//   if (const auto done = o.parse(argc, argv)) return *done;      // --help, or a mistake
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace report {

/// An option that was added, to say what it may be.
class option {
 public:
  explicit option(CLI::Option* o) : option_(o) {}
  option& between(int least, int most);
  option& between(double least, double most);
  option& among(const std::vector<std::string>& names);
  /// Of a list: "a,b".
  option& split_at_commas();
  /// Where this option is given, so must the other one be.
  option& needs(const option& other);

 private:
  CLI::Option* option_;
};

/// The options of a program. Variables keep what they hold where nothing is said.
class options {
 public:
  explicit options(const std::string& about);
  options(const options&) = delete;
  options& operator=(const options&) = delete;
  ~options();

  option add(const std::string& name, std::string& to, const std::string& says);
  option add(const std::string& name, int& to, const std::string& says);
  option add(const std::string& name, unsigned& to, const std::string& says);
  option add(const std::string& name, double& to, const std::string& says);
  option add(const std::string& name, std::vector<std::string>& to, const std::string& says);
  option add(const std::string& name, std::vector<int>& to, const std::string& says);

  /// What the program is to return at once, if it is: help was asked for, or a mistake was said.
  std::optional<int> parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace report
