// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What if a disk is full, or a folder read-only, or a program killed, at any of its calls that
// change files? Calls of this program, of the C++ library and of MPI come here first. Included in
// one translation unit of a program.
//
//   file_calls::kill_at(n);
//   file_calls::fail_from(n, ENOSPC, "run");  ...  file_calls::succeed();
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <string>

namespace file_calls {

inline std::atomic<bool> counts{false};
inline std::atomic<int> before{0};       // calls that are made still
inline std::atomic<bool> halves{false};  // the next write is made by half
inline int code = 0;                     // what calls fail with; 0: the program ends
inline char below[512] = "";             // the folder, or "": all

/// The program ends at the n-th call; if that writes, when half is written. 0: it does not.
inline void kill_at(int n) {
  before = n - 1;
  counts = n > 0;
}
/// The n-th call that changes something in a folder fails, and all after it. On a full disk half of
/// the first write succeeds, and so does whatever removes files.
inline void fail_from(int n, int with, const std::string& folder) {
  code = with;
  folder.copy(below, sizeof below - 1);
  before = n - 1;
  halves = with == ENOSPC;
  counts = true;
}
inline void succeed() {
  counts = false;
  std::memset(below, 0, sizeof below);
}

inline bool concerns(const char* path) {
  return std::strncmp(path, below, std::strlen(below)) == 0;
}
inline bool concerns(int file) {
  char path[1024] = "";
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  return below[0] == '\0' ||
         (::readlink(link.c_str(), path, sizeof path - 1) > 0 && concerns(path));
}
/// Is this call not made?
template <class File> bool stops_at(File file) {
  if (!counts || !concerns(file) || before-- > 0) return false;
  before = 0;
  return true;
}
/// The same of a call that opens a file. MPI opens to read and write what the library has just
/// opened to write, and succeeds: Open MPI waits for ever where one rank cannot open a file that
/// others can, which is why the library asks before.
inline bool stops_at_open(const char* path, int flags) {
  const bool again = (flags & (O_RDWR | O_CREAT)) == O_RDWR;
  return (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0 && !(again && code != 0) && stops_at(path);
}
template <class File> bool stops_removal(File file) {
  return !(counts && code == ENOSPC) && stops_at(file);
}
/// What a call returns that is not made.
inline int failure() {
  if (code == 0) {
    ::kill(::getpid(), SIGKILL);
    for (;;) ::pause();
  }
  errno = code;
  return -1;
}
/// The same of one that would write, and can do so by half.
template <class Half> ssize_t failure_to_write(size_t bytes, const Half& half) {
  if (code == 0) (void)half();
  if (code != 0 && bytes > 1 && halves.exchange(false)) return half();
  return failure();
}
template <class F> F* next(const char* name) {
  static_assert(sizeof(F*) == sizeof(void*));
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace file_calls

extern "C" {
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(more, int) : 0;
  va_end(more);
  if (file_calls::stops_at_open(path, flags)) return file_calls::failure();
  return file_calls::next<int(const char*, int, ...)>("open")(path, flags, mode);
}
ssize_t pwrite(int file, const void* from, size_t bytes, off_t at) {
  const auto call = file_calls::next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  if (!file_calls::stops_at(file)) return call(file, from, bytes, at);
  return file_calls::failure_to_write(bytes, [&] { return call(file, from, bytes / 2, at); });
}
ssize_t pwritev(int file, const iovec* from, int count, off_t at) {
  const auto call = file_calls::next<ssize_t(int, const iovec*, int, off_t)>("pwritev");
  if (!file_calls::stops_at(file)) return call(file, from, count, at);
  return file_calls::failure_to_write(static_cast<size_t>(count),
                                      [&] { return call(file, from, count / 2, at); });
}
ssize_t writev(int file, const iovec* from, int count) {
  if (file_calls::stops_at(file)) return file_calls::failure();
  return file_calls::next<ssize_t(int, const iovec*, int)>("writev")(file, from, count);
}
int fallocate(int file, int mode, off_t at, off_t bytes) {
  if (file_calls::stops_at(file)) return file_calls::failure();
  return file_calls::next<int(int, int, off_t, off_t)>("fallocate")(file, mode, at, bytes);
}
int fsync(int file) {
  if (file_calls::stops_at(file)) return file_calls::failure();
  return file_calls::next<int(int)>("fsync")(file);
}
int rename(const char* from, const char* to) noexcept {
  if (file_calls::stops_at(from)) return file_calls::failure();
  return file_calls::next<int(const char*, const char*)>("rename")(from, to);
}
int mkdir(const char* path, mode_t mode) noexcept {
  if (file_calls::stops_at(path)) return file_calls::failure();
  return file_calls::next<int(const char*, mode_t)>("mkdir")(path, mode);
}
int unlink(const char* path) noexcept {
  if (file_calls::stops_removal(path)) return file_calls::failure();
  return file_calls::next<int(const char*)>("unlink")(path);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  if (folder == AT_FDCWD ? file_calls::stops_removal(path) : file_calls::stops_removal(folder))
    return file_calls::failure();
  return file_calls::next<int(int, const char*, int)>("unlinkat")(folder, path, flags);
}
int remove(const char* path) noexcept {
  if (file_calls::stops_removal(path)) return file_calls::failure();
  return file_calls::next<int(const char*)>("remove")(path);
}
}
