// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plugin for g++ that compiles many files after one start: what they all include is read, and
// instantiated as far as it will be, once; then, at `#include "fork_here.hpp"`, each line of
// standard input names a file for what the compiler says next, and a child of the process
// compiles the rest with it. Standard output has the child's status in a line. The child ends at
// `#pragma dimesh done`, which has what is pending instantiated: all that g++ does after that,
// for each function of every header, says nothing of a mistake. See ../fork_server.py.
#include <gcc-plugin.h>
// (after it)
#include <c-family/c-pragma.h>
#include <cp/cp-tree.h>
#include <diagnostic.h>
#include <fcntl.h>
#include <plugin-version.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

int plugin_is_GPL_compatible;  // asked for by g++

namespace {

void say_to(const char* path, int descriptor) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || dup2(file, descriptor) < 0) {
    _exit(3);
  }
  close(file);
}

/// Moves what lies between these addresses into pages of 2 MB, where the system has them.
void take_large_pages(unsigned long begin, unsigned long end) {
  constexpr unsigned long page = 2ul << 20;
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  if (end <= begin) {
    return;
  }
  void* const room =
      mmap(nullptr, end - begin + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) {
    return;
  }
  const auto at = (reinterpret_cast<unsigned long>(room) + page - 1) / page * page;
  void *const from = reinterpret_cast<void*>(begin), *const to = reinterpret_cast<void*>(at);
  if (madvise(to, end - begin, MADV_HUGEPAGE) != 0) {
    munmap(room, end - begin + page);
    return;
  }
  std::memcpy(to, from, end - begin);
  if (mremap(to, end - begin, end - begin, MREMAP_MAYMOVE | MREMAP_FIXED, from) != from) {
    _exit(4);  // what was there may be gone: nothing is vouched for
  }
}
/// A child begins with a copy of the table of pages, which of 0.6 GB in pages of 4 KB takes a third
/// of a case's time. What the headers became lies in few areas.
void take_large_pages() {
  struct area {
    unsigned long begin, end;
  };
  std::vector<area> large;
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  if (maps == nullptr) {
    return;
  }
  area a{};
  char may[5] = "";  // rw-p: read, written, and private
  const auto here = reinterpret_cast<unsigned long>(&a);
  while (std::fscanf(maps, "%lx-%lx %4s%*[^\n]", &a.begin, &a.end, may) == 3) {
    const bool is_stack = a.begin <= here && here < a.end;
    if (std::string_view(may) == "rw-p" && !is_stack && a.end - a.begin >= (16ul << 20)) {
      large.push_back(a);
    }
  }
  std::fclose(maps);
  for (const area& it : large) {
    take_large_pages(it.begin, it.end);
  }
}

/// Returns in a child for each line of standard input, and ends the parent after the last.
void serve() {
  instantiate_pending_templates(0);
  take_large_pages();
  std::string path;
  for (int c = std::getchar(); c != EOF; c = std::getchar()) {
    if (c != '\n') {
      path += static_cast<char>(c);
      continue;
    }
    const pid_t child = fork();
    if (child == 0) {
      say_to(path.c_str(), STDERR_FILENO);
      return;
    }
    int status = 0;
    const bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
    std::printf("%d\n", ended ? WEXITSTATUS(status) : 255);
    std::fflush(stdout);
    path.clear();
  }
  _exit(0);
}

void included(void* name, void* served) {
  constexpr std::string_view here = "fork_here.hpp";
  const std::string_view path = name != nullptr ? static_cast<const char*>(name) : "";
  auto& before = *static_cast<bool*>(served);
  if (!before && path.size() >= here.size() && path.substr(path.size() - here.size()) == here) {
    before = true;
    serve();
  }
}

/// Is nothing open that a file must close before its end?
bool at_end_of_declarations() {
  return current_namespace == global_namespace && current_function_decl == NULL_TREE &&
         current_class_type == NULL_TREE && vec_safe_length(current_lang_base) == 0 &&
         processing_template_decl == 0;
}

void done(cpp_reader*) {
  if (!at_end_of_declarations()) {
    _exit(2);
  }
  instantiate_pending_templates(0);
  const bool failed = seen_error() || werrorcount > 0;
  diagnostic_finish(global_dc);
  std::fflush(stderr);
  _exit(failed ? 1 : 0);
}

void add_pragma(void*, void*) { c_register_pragma("dimesh", "done", done); }

bool served = false;

}  // namespace

int plugin_init(plugin_name_args* plugin, plugin_gcc_version* version) {
  if (!plugin_default_version_check(version, &gcc_version)) {
    return 1;
  }
  register_callback(plugin->base_name, PLUGIN_INCLUDE_FILE, included, &served);
  register_callback(plugin->base_name, PLUGIN_PRAGMAS, add_pragma, nullptr);
  return 0;
}
