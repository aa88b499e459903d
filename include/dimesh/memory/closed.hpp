// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does the host touch tensors only where it could on a machine whose tensors live on a device? With
// DIMESH_CLOSED they lie in pages of their own, which are closed but for whoever opens them:
// kernels, copies, calls of MPI, and hosts that say so (host_block). Anything else ends the program
// by a signal, after a sentence.
//
//   const opened memory;                    // readable and writable to the end of the scope
//   void* p = closed_pages::all().take(4096);   // for the pool; 64-byte aligned
//
// Without DIMESH_CLOSED, `opened` does nothing. See docs/decisions/0029-closed-pages.md.
#pragma once

#ifdef DIMESH_CLOSED
#include <execinfo.h>
#include <sys/mman.h>
#include <unistd.h>
#include <Kokkos_Core.hpp>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "dimesh/detail/compiled.hpp"
#endif

#include <Kokkos_Macros.hpp>

namespace dimesh::detail {

#ifdef DIMESH_CLOSED

/// One range of addresses, of which the part in use is opened and closed as a whole. Never given
/// back.
class closed_pages {
 public:
  static closed_pages& all();
  /// Uninitialised, 64-byte aligned. Throws std::bad_alloc where the range is used up.
  void* take(std::size_t bytes);
  void open();
  void close();
  bool hold(const void* p) const { return p >= begin_ && p < begin_ + range; }

 private:
  closed_pages();
  void protect(int how) {
    if (used_ > 0 && mprotect(begin_, used_, how) != 0) fail();
  }
  /// The system refuses: nothing that the program does from here on would show anything.
  [[noreturn]] static void fail();
  /// Also after others have taken the signal over, as test programs do in each test.
  void handle_signal();
  static void on_access(int number, siginfo_t* info, void* context);

  static constexpr std::size_t range = std::size_t{1} << 40, step = std::size_t{64} << 20;
  std::mutex mutex_;
  std::byte* begin_ = nullptr;
  std::size_t next_ = 0, used_ = 0;  // handed out; of it, with all pages that were ever opened
  int openers_ = 0;
  struct sigaction before_{};
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline closed_pages& closed_pages::all() {
  static auto* const it = new closed_pages;  // never destroyed: handles may outlive statics
  return *it;
}
DIMESH_OUTLINE inline closed_pages::closed_pages() {
  void* const at =
      mmap(nullptr, range, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  begin_ = static_cast<std::byte*>(at);
  // What Kokkos runs, and copies, opens by itself.
  namespace tools = Kokkos::Tools::Experimental;
  const auto begin = [](const char*, std::uint32_t, std::uint64_t*) { all().open(); };
  const auto end = [](std::uint64_t) { all().close(); };
  tools::set_begin_parallel_for_callback(begin), tools::set_end_parallel_for_callback(end);
  tools::set_begin_parallel_reduce_callback(begin), tools::set_end_parallel_reduce_callback(end);
  tools::set_begin_parallel_scan_callback(begin), tools::set_end_parallel_scan_callback(end);
  using space = Kokkos_Profiling_SpaceHandle;
  tools::set_begin_deep_copy_callback([](space, const char*, const void*, space, const char*,
                                         const void*, std::uint64_t) { all().open(); });
  tools::set_end_deep_copy_callback([] { all().close(); });
  handle_signal();
}
DIMESH_OUTLINE inline void closed_pages::fail() {
  std::perror("dimesh: DIMESH_CLOSED: mprotect cannot open or close tensors' pages");
  std::abort();
}
DIMESH_OUTLINE inline void closed_pages::handle_signal() {
  struct sigaction there{}, ours{};
  sigaction(SIGSEGV, nullptr, &there);
  if ((there.sa_flags & SA_SIGINFO) != 0 && there.sa_sigaction == &on_access) return;
  ours.sa_sigaction = &on_access;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &ours, &before_);
}
DIMESH_OUTLINE inline void* closed_pages::take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  std::byte* const p = begin_ + next_;
  next_ += (bytes + 63) / 64 * 64;
  if (next_ > range) throw std::bad_alloc();
  if (next_ > used_) {
    used_ = (next_ + step - 1) / step * step;
    if (openers_ > 0) protect(PROT_READ | PROT_WRITE);
  }
  return p;
}
DIMESH_OUTLINE inline void closed_pages::open() {
  const std::lock_guard lock(mutex_);
  if (openers_++ == 0) protect(PROT_READ | PROT_WRITE);
}
DIMESH_OUTLINE inline void closed_pages::close() {
  const std::lock_guard lock(mutex_);
  if (--openers_ > 0) return;
  protect(PROT_NONE);
  handle_signal();
}
/// Says what happened, and leaves the rest to whoever handled the signal before.
DIMESH_OUTLINE inline void closed_pages::on_access(int number, siginfo_t* info, void*) {
  constexpr char words[] =
      "dimesh: the host touched a tensor's elements outside of kernels, copies and MPI: what lives "
      "on a device is not there; use at(), host_block, to_rank or copy_to\n";
  closed_pages& pages = all();
  if (pages.hold(info->si_addr)) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, words, sizeof words - 1);
    void* calls[24];
    backtrace_symbols_fd(calls, backtrace(calls, 24), STDERR_FILENO);
  }
  sigaction(number, &pages.before_, nullptr);  // the access is made again, and meets it
}
#endif

class [[nodiscard]] opened {
 public:
  opened() { closed_pages::all().open(); }
  opened(const opened&) : opened() {}
  opened& operator=(const opened&) = default;
  ~opened() { closed_pages::all().close(); }
};

/// The same from one call to another, or to its end.
class opening {
 public:
  opening() = default;
  opening(const opening&) = delete;
  opening& operator=(const opening&) = delete;
  ~opening() { close(); }
  void open() {
    if (!std::exchange(open_, true)) closed_pages::all().open();
  }
  void close() {
    if (std::exchange(open_, false)) closed_pages::all().close();
  }

 private:
  bool open_ = false;
};

#else

struct [[nodiscard, maybe_unused]] opened {
  KOKKOS_FORCEINLINE_FUNCTION constexpr opened() noexcept {}
};
struct opening {
  void open() {}
  void close() {}
};

#endif

}  // namespace dimesh::detail
