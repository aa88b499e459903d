// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of a grid does not depend on the type of its mesh? Sizes, coordinates, and a communicator
// for every set of axes, made when it is first asked for.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "dimesh/collective/ordered.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/name.hpp"
#include "dimesh/detail/names.hpp"
#include "dimesh/detail/this_thread.hpp"
#include "dimesh/detail/waiting.hpp"
#if DIMESH_COMPILED != 1
#include "dimesh/detail/watchdog.hpp"
#endif
#include "dimesh/detail/words.hpp"
#include "dimesh/mesh.hpp"

namespace dimesh::detail {

/// Begins the watchdog that the environment asks for, if nobody has: a program that began MPI
/// itself may have no runtime. MPI_Finalize, which deletes the attributes of MPI_COMM_SELF before
/// all else (MPI 3.1, section 8.7.1), ends it.
void watch_until_mpi_ends();
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void watch_until_mpi_ends() {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  std::unique_ptr<watchdog> made;
  try {
    made = watchdog::from_environment(world_rank());
  } catch (const std::system_error&) {  // no thread is to be had, and nobody watches
  }
  if (made == nullptr) return;
  const auto end = [](MPI_Comm, int, void* it, void*) {
    watchdog::put_away(static_cast<watchdog*>(it));
    return MPI_SUCCESS;
  };
  int key = MPI_KEYVAL_INVALID;
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, nullptr), "grid");
  check(MPI_Comm_set_attr(MPI_COMM_SELF, key, made.get()), "grid");
  MPI_Comm_free_keyval(&key);  // it goes when the attribute does
  (void)made.release();
}
#endif

/// The part of a grid that does not depend on the mesh's type.
class grid_state {
 public:
  /// Collective over `comm`. Sizes of `dynamic` are deduced if there is one at most. Throws on
  /// every rank alike when the sizes do not multiply to the number of ranks.
  grid_state(MPI_Comm comm, std::string mesh, std::uint64_t number, std::vector<std::string> names,
             index_t* sizes);

  /// The communicator over the axes in the mask; ranks in row-major order of their coordinates.
  /// The first use is collective over its members. Threads may ask at the same time.
  const communicator& along(unsigned axes) const {
    slot& s = comms_[axes];
    if (const communicator* c = s.made.load(std::memory_order_acquire)) return *c;
    return make_once(s, axes);
  }
  /// That over `count` of them, its ranks in the order of a dim's blocks that these axes cut, major
  /// first, or from the last one to the first.
  const communicator& in_order(const int* axes, int count, bool reversed) const {
    unsigned mask = 0;
    std::uint64_t key = 0;
    index_t seat = 0;
    bool plain = !reversed;
    for (int i = 0; i < count; ++i) {
      const auto a = static_cast<std::size_t>(axes[i]);
      plain = plain && (i == 0 || axes[i - 1] < axes[i]);
      mask |= 1u << a;
      key = key << 4 | (a + 1);
      seat = seat * size_[a] + coord_[a];
    }
    if (plain) return along(mask);
    return ordered_.of(along(mask), key << 1 | (reversed ? 1u : 0u), reversed ? -seat : seat);
  }
  /// That over all of them.
  const communicator& everyone() const { return *comms_.back().owner; }
  /// Is this rank the first of those that differ from it along these axes only?
  bool is_first(unsigned axes) const {
    for (int a = 0; a < max_axes; ++a)
      if ((axes >> a & 1u) && coord_[static_cast<std::size_t>(a)] != 0) return false;
    return true;
  }
  /// A grid's state outlives it, without its communicators: tensors that do so, too, ask it.
  static grid_state& make(MPI_Comm comm, std::string mesh, std::uint64_t number,
                          std::vector<std::string> names, index_t* sizes);
  void end();
  bool alive() const { return alive_; }
  const index_t* sizes() const { return size_.data(); }
  const index_t* coords() const { return coord_.data(); }
  const std::string& mesh_name() const { return mesh_; }
  const std::string& axis_name(int a) const { return names_[static_cast<std::size_t>(a)]; }

 private:
  void deduce(index_t* sizes, int ranks) const;
  /// "rows=2 x cols=?"
  std::string sizes_words(const index_t* sizes) const;
  [[noreturn]] void refuse(const index_t* sizes, int ranks) const;
  /// A communicator that is made when it is first asked for. A lock each: ranks whose threads ask
  /// for several in different orders must not wait for one another.
  struct slot {
    std::atomic<const communicator*> made{nullptr};
    std::mutex making;
    std::unique_ptr<communicator> owner;

    void put(std::unique_ptr<communicator> c) {
      owner = std::move(c);
      made.store(owner.get(), std::memory_order_release);
    }
  };
  const communicator& make_once(slot& s, unsigned axes) const;
  std::unique_ptr<communicator> make(unsigned axes) const;
  /// In checked builds: of some ranks of `comm` (null: all), who have now met for the first time.
  meeting* meeting_of([[maybe_unused]] MPI_Comm comm, [[maybe_unused]] unsigned axes,
                      [[maybe_unused]] const std::vector<int>* members = nullptr) const;

  std::string mesh_;
  std::uint64_t number_;
#ifdef DIMESH_CHECKED
  std::uint64_t meetings_ = 0;  // by which its ranks tell its meetings from those of other grids
#endif
  std::vector<std::string> names_;
  std::array<index_t, max_axes> size_{}, coord_{};
  mutable std::vector<slot> comms_;  // by mask of axes
  mutable ordered_communicators ordered_;
  bool alive_ = true;
};

#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline grid_state& grid_state::make(MPI_Comm comm, std::string mesh,
                                                   std::uint64_t number,
                                                   std::vector<std::string> names, index_t* sizes) {
  this_thread_computes();
  static std::mutex lock;
  static std::vector<std::unique_ptr<grid_state>> all;
  auto made = std::make_unique<grid_state>(comm, std::move(mesh), number, std::move(names), sizes);
  const std::lock_guard here(lock);
  return *all.emplace_back(std::move(made));
}
DIMESH_OUTLINE inline grid_state::grid_state(MPI_Comm comm, std::string mesh, std::uint64_t number,
                                             std::vector<std::string> names, index_t* sizes)
    : mesh_(std::move(mesh)), number_(number), names_(std::move(names)) {
  require_mpi(comm);
  watch_until_mpi_ends();
  const waiting here("grid");
  const int ranks = ranks_of(comm);
#ifdef DIMESH_CHECKED
  board::start_over(comm);
  meet_over(comm, "grid", sizes_words(sizes) + " of " + mesh_);
#endif
  deduce(sizes, ranks);
  MPI_Comm all = MPI_COMM_NULL;
  check(MPI_Comm_dup(comm, &all), "grid");
#ifdef DIMESH_CHECKED
  meetings_ = meeting::agreed_number(all);
#endif
  const auto count = static_cast<int>(names_.size());
  comms_ = std::vector<slot>(std::size_t{1} << count);
  const unsigned everyone = (1u << count) - 1;
  comms_.back().put(
      std::make_unique<communicator>(all, everyone, number_, meeting_of(all, everyone)));
  index_t at = comms_.back().owner->rank();
  for (auto a = static_cast<std::size_t>(count); a-- > 0;) {
    size_[a] = sizes[a];
    coord_[a] = at % sizes[a];
    at /= sizes[a];
  }
}
#endif
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void grid_state::end() {
  comms_.clear();
  ordered_.clear();
  alive_ = false;
}
DIMESH_OUTLINE inline void grid_state::deduce(index_t* sizes, int ranks) const {
  index_t known = 1;
  int open = -1;
  for (int a = 0; a < static_cast<int>(names_.size()); ++a) {
    if (sizes[a] != dynamic) {
      if (sizes[a] < 1)
        (words() << "grid: axis '" << names_[static_cast<std::size_t>(a)] << "' of mesh '" << mesh_
                 << "' has size " << sizes[a] << "; give it at least 1")
            .raise();
      known *= sizes[a];
    } else if (open < 0) {
      open = a;
    } else {
      (words() << "grid: axes '" << names_[static_cast<std::size_t>(open)] << "' and '"
               << names_[static_cast<std::size_t>(a)] << "' of mesh '" << mesh_
               << "' both lack a size; give all but one")
          .raise();
    }
  }
  if (open >= 0 && ranks % known == 0) known *= sizes[open] = ranks / known;
  if (known != ranks || (open >= 0 && sizes[open] == dynamic)) refuse(sizes, ranks);
}
DIMESH_OUTLINE inline void grid_state::refuse(const index_t* sizes, int ranks) const {
  (words() << "grid: mesh '" << mesh_ << "' (" << sizes_words(sizes) << ") does not fit " << ranks
           << " ranks; the sizes of its axes must multiply to the number of ranks of the "
              "communicator")
      .raise();
}
DIMESH_OUTLINE inline std::string grid_state::sizes_words(const index_t* sizes) const {
  std::string text;
  for (std::size_t a = 0; a < names_.size(); ++a)
    text += (a > 0 ? " x " : "") + names_[a] + "=" +
            (sizes[a] == dynamic ? "?" : std::to_string(sizes[a]));
  return text;
}
DIMESH_OUTLINE inline const communicator& grid_state::make_once(slot& s, unsigned axes) const {
  const std::lock_guard lock(s.making);
  if (!s.owner) s.put(make(axes));
  return *s.owner;
}
DIMESH_OUTLINE inline std::unique_ptr<communicator> grid_state::make(unsigned axes) const {
  const waiting here("grid");
  const communicator& all = *comms_.back().owner;
  MPI_Group everybody = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  std::vector<int> members;
  for (int r = 0; r < all.size(); ++r) {
    index_t at = r;
    bool in = true;
    for (std::size_t a = names_.size(); a-- > 0;) {
      if (!(axes >> a & 1u)) in = in && at % size_[a] == coord_[a];
      at /= size_[a];
    }
    if (in) members.push_back(r);
  }
  MPI_Comm made = MPI_COMM_NULL;
  check(MPI_Comm_group(all.handle(), &everybody), "grid");
  check(MPI_Group_incl(everybody, static_cast<int>(members.size()), members.data(), &some), "grid");
  meeting* const m = meeting_of(all.handle(), axes, &members);
  const int code = MPI_Comm_create_group(all.handle(), some, static_cast<int>(axes), &made);
  MPI_Group_free(&some);
  MPI_Group_free(&everybody);
  check(code, "grid");
  return std::make_unique<communicator>(made, axes, number_, m);
}
DIMESH_OUTLINE inline meeting* grid_state::meeting_of(
    [[maybe_unused]] MPI_Comm comm, [[maybe_unused]] unsigned axes,
    [[maybe_unused]] const std::vector<int>* members) const {
#ifdef DIMESH_CHECKED
  std::string name;
  for (std::size_t a = 0; a < names_.size(); ++a)
    if (axes >> a & 1u) name += (name.empty() ? "" : ", ") + names_[a];
  auto m = meeting::of(comm, (name.empty() ? "" : name + " of ") + mesh_, members, meetings_);
  if (m != nullptr && members != nullptr) m->agree(errand_of("grid"));
  return m.release();
#else
  return nullptr;
#endif
}
#endif

}  // namespace dimesh::detail
