// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that loads what the one before it has saved, and is killed while it saves its own step:
// at the n-th call of rank R that changes files, or when half of its bytes are written. Run again
// and again by support/killed_saves.py, for n = 1, 2, ..., until nothing is left to be killed at.
//
//   save FOLDER saved|started N R        prints "loaded STEP", and "saved STEP" if it lives so long
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "dimesh/create.hpp"
#include "dimesh/io/checkpoint/load.hpp"
#include "dimesh/io/checkpoint/start_save.hpp"
#include "dimesh/op/to_rank.hpp"
#include "dimesh/runtime.hpp"

namespace {

std::atomic<int> calls_left{0};  // before the end; 0: none is counted

/// Is this call the last thing that the process does?
bool is_last() { return calls_left > 0 && --calls_left == 0; }
[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}
template <class F> F* next(const char* name) {
  static_assert(sizeof(F*) == sizeof(void*));
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// Calls of this program, of the C++ library and of MPI come here first.
extern "C" {
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(more, int) : 0;
  va_end(more);
  if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0 && is_last()) die();
  return next<int(const char*, int, ...)>("open")(path, flags, mode);
}
ssize_t pwrite(int file, const void* from, size_t bytes, off_t at) {
  const auto call = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  if (is_last()) {
    (void)call(file, from, bytes / 2, at);
    die();
  }
  return call(file, from, bytes, at);
}
ssize_t writev(int file, const iovec* from, int count) {
  if (is_last()) die();
  return next<ssize_t(int, const iovec*, int)>("writev")(file, from, count);
}
int fsync(int file) {
  if (is_last()) die();
  return next<int(int)>("fsync")(file);
}
int rename(const char* from, const char* to) noexcept {
  if (is_last()) die();
  return next<int(const char*, const char*)>("rename")(from, to);
}
int mkdir(const char* path, mode_t mode) noexcept {
  if (is_last()) die();
  return next<int(const char*, mode_t)>("mkdir")(path, mode);
}
int unlink(const char* path) noexcept {
  if (is_last()) die();
  return next<int(const char*)>("unlink")(path);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  if (is_last()) die();
  return next<int(int, const char*, int)>("unlinkat")(folder, path, flags);
}
int remove(const char* path) noexcept {
  if (is_last()) die();
  return next<int(const char*)>("remove")(path);
}
}

namespace {

using namespace dimesh;

struct rows : axis<> {};
struct pod : mesh<rows> {};
struct length : dim<> {};
using numbers = tensor<double, layout<pod, split<uneven<length>, rows>>, length>;

/// The elements of a step: of no two the same.
numbers of_step(const grid<pod>& g, index_t step) {
  return generate<numbers>(
      g, [step](index_t i) { return static_cast<double>(1000 * step + i); }, length{300});
}

void load_and_save(const std::string& folder, bool started, int n, int rank) {
  const grid<pod> g;
  index_t step = 0;
  if (std::filesystem::exists(folder)) {
    auto x = of_step(g, -1), y = of_step(g, -1);
    const checkpoint_record r = load_checkpoint(folder, {}, part("x", x), part("y", y));
    step = r.step;
    const auto wanted = to_rank(of_step(g, step), 0);
    if (to_rank(x, 0) != wanted || to_rank(y, 0) != wanted || r.integers.at("again") != step)
      throw error("what step " + std::to_string(step) + " has saved is not what was loaded");
  }
  if (g.rank() == 0) std::printf("loaded %ld\n", static_cast<long>(step)), std::fflush(stdout);
  const checkpoint_record record{.step = ++step, .integers = {{"again", step}}};
  const save_options options{.largest_file = 1000, .keep_last = 2};
  auto x = of_step(g, step), y = of_step(g, step);
  if (g.rank() == rank) calls_left = n;
  if (started)
    start_save_checkpoint(folder, record, options, part("x", x), part("y", y)).finish();
  else
    save_checkpoint(folder, record, options, part("x", x), part("y", y));
  calls_left = 0;
  if (g.rank() == 0) std::printf("saved %ld\n", static_cast<long>(step)), std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  return dimesh::run(argc, argv, [argv] {
    load_and_save(argv[1], argv[2] == std::string("started"), std::atoi(argv[3]),
                  std::atoi(argv[4]));
  });
}
