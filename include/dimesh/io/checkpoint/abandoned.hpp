// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose is what lies about in a folder of checkpoints? Names of what is on its way end with a
// process, so that what one has left that was killed can be told from what another still writes.
//
//   own_mark()                      -> "0.host.4711"
//   remove_abandoned("run");        // .step-7.0.host.4711, where 4711 runs no more
#pragma once

#include <signal.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

namespace dimesh::detail::checkpoint {

namespace fs = std::filesystem;

/// Where numbers of processes are unique: containers may share the name of their host, but number
/// their processes each for itself, so the kernel's number of that is in it.
inline std::string host_name() {
  char host[256] = "host";
  ::gethostname(host, sizeof host - 1);
  std::error_code none;
  std::string space = fs::read_symlink("/proc/self/ns/pid", none).string();  // pid:[4026531836]
  std::erase_if(space, [](char c) { return c < '0' || c > '9'; });
  return space.empty() ? std::string(host) : host + ("-" + space);
}
/// A part of a name that no other process of any host uses now.
inline std::string process_name() { return host_name() + "." + std::to_string(::getpid()); }

/// Does no process of this host have the number any more, or only one that has ended and whom its
/// parent has not asked for? In containers none may ever ask.
inline bool is_dead(pid_t id) {
  if (::kill(id, 0) != 0) return errno == ESRCH;
  std::ifstream in("/proc/" + std::to_string(id) + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(in), {}};
  const auto name_ends = stat.rfind(") ");
  return name_ends != std::string::npos && name_ends + 2 < stat.size() &&
         (stat[name_ends + 2] == 'Z' || stat[name_ends + 2] == 'X');
}
/// Does this name end like that of a process of this host that runs no more?
inline bool is_of_dead_process(const std::string& name) {
  const std::string mark = "." + host_name() + ".";
  const auto at = name.rfind(mark);
  if (at == std::string::npos) return false;
  const std::string id = name.substr(at + mark.size());
  if (id.empty() || id.size() > 9 || id.find_first_not_of("0123456789") != std::string::npos)
    return false;
  return is_dead(static_cast<pid_t>(std::stol(id)));
}
/// Removes what saves have left that were killed on this host. Others' may be at work still.
inline void remove_abandoned(const fs::path& root) {
  std::error_code ignored;
  std::vector<fs::path> dead;
  for (const auto& entry : fs::directory_iterator(root, ignored)) {
    const std::string name = entry.path().filename().string();
    if ((name.rfind(".step-", 0) == 0 || name.rfind(".latest.", 0) == 0) &&
        is_of_dead_process(name))
      dead.push_back(entry.path());
  }
  for (const fs::path& path : dead) fs::remove_all(path, ignored);
}

/// How folders on their way end: no two of a process are alike, be they of one step.
inline std::atomic<long> marks_made{0};
inline std::string own_mark() { return std::to_string(marks_made++) + "." + process_name(); }

}  // namespace dimesh::detail::checkpoint
