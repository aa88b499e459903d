// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4
// main: own
// Moves arrive just the same where a thread calls MPI for them; dropped ones and those that nobody
// asks after are over in the end, too.
#include "dimesh/collective/progress.hpp"
#include "support/host.hpp"

#include <dimesh/dimesh.hpp>
#include <dimesh/op/persistent.hpp>

#include <algorithm>
#include <optional>

namespace {
namespace dm = dimesh;
using dm::index_t;

struct rows : dm::axis<> {};
struct line : dm::mesh<rows> {};
struct batch : dm::dim<> {};
struct hidden : dm::dim<> {};
using matrix = dm::tensor<double, dm::layout<line, dm::split<batch, rows>>, batch, hidden>;

template <class X> void require_same(const X& a, const X& b, const char* what) {
  if (a.local_size() != b.local_size() ||
      !std::equal(test_support::on_host(a).data(), test_support::on_host(a).data() + a.local_size(),
                  test_support::on_host(b).data()))
    throw dm::error(std::string(what) + " differs");
}

void check() {
  const dm::grid<line> g;
  matrix a(g, batch{g.ranks()}, hidden{30000});
  for (index_t i = 0; i < a.local_size(); ++i)
    test_support::on_host(a)[i] = static_cast<double>(i + g.rank());
  const auto whole = dm::all_gather<rows>(a);
  const auto shifted = dm::shift<batch>(a, 1);
  const auto haloed = dm::halo_exchange<1, batch, hidden>(a);
  auto again = dm::persistent_shift<batch>(a, 1);
  auto again_whole = dm::persistent_all_gather<rows>(a);
  std::optional<dm::progress_thread> helper;
  for (int i = 0; i < 30; ++i) {  // begun while it helps, waited for when it is gone, and back
    again.start(), again_whole.start();
    if (i % 2 == 0) helper.reset();
    if (i % 2 == 1) helper.emplace();
    require_same(again_whole.wait(), whole, "persistent all_gather");
    require_same(again.wait(), shifted, "persistent shift");
    require_same(again.run(), shifted, "persistent shift at once");
  }
  for (int i = 0; i < 50; ++i) {
    auto one = dm::start_all_gather<rows>(a);
    auto two = dm::start_shift<batch>(a, 1);
    auto three = dm::start_halo_exchange<1, batch, hidden>(a);
    const auto dropped = dm::start_shift<batch>(a, 2);
    if (i % 3 == 0) (void)two.ready();
    if (i % 5 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    require_same(dm::await(std::move(three)), haloed, "halo_exchange");
    require_same(dm::await(std::move(two)), shifted, "shift");
    require_same(dm::await(std::move(one)), whole, "all_gather");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const dm::runtime rt(argc, argv, MPI_THREAD_MULTIPLE);
  try {
    check();
  } catch (const std::exception& e) {
    dm::runtime::end_job(e.what());
  }
  return 0;
}
