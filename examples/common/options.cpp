// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <CLI/CLI.hpp>

namespace report {

option& option::between(int least, int most) {
  option_->check(CLI::Range(least, most));
  return *this;
}
option& option::between(double least, double most) {
  option_->check(CLI::Range(least, most));
  return *this;
}
option& option::among(const std::vector<std::string>& names) {
  option_->check(CLI::IsMember(names));
  return *this;
}
option& option::split_at_commas() {
  option_->delimiter(',');
  return *this;
}
option& option::needs(const option& other) {
  option_->needs(other.option_);
  return *this;
}

options::options(const std::string& about) : app_(std::make_unique<CLI::App>(about)) {}
options::~options() = default;

option options::add(const std::string& name, std::string& to, const std::string& says) {
  return option(app_->add_option(name, to, says));
}
option options::add(const std::string& name, int& to, const std::string& says) {
  return option(app_->add_option(name, to, says));
}
option options::add(const std::string& name, unsigned& to, const std::string& says) {
  return option(app_->add_option(name, to, says));
}
option options::add(const std::string& name, double& to, const std::string& says) {
  return option(app_->add_option(name, to, says));
}
option options::add(const std::string& name, std::vector<std::string>& to,
                    const std::string& says) {
  return option(app_->add_option(name, to, says));
}
option options::add(const std::string& name, std::vector<int>& to, const std::string& says) {
  return option(app_->add_option(name, to, says));
}

std::optional<int> options::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app_->exit(e);
  }
  return std::nullopt;
}

}  // namespace report
