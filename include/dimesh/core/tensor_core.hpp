// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is a tensor below its type? What its type says, its extents, this rank's blocks, the grid
// that it lives on and the memory that holds its elements. One type for all tensors, so that what
// stands below the typing rules is compiled once. A shape is a core without memory.
//
//   core_of(x).facts->layout      what x's type says of its axes
//   core_of(x).own(d)             this rank's block of dim d: {offset, length}
#pragma once

#include <array>

#include "dimesh/core/dim_runs.hpp"
#include "dimesh/core/geometry.hpp"
#include "dimesh/core/live_bytes.hpp"
#include "dimesh/core/real_functions.hpp"
#include "dimesh/detail/compiled.hpp"
#include "dimesh/detail/extent_history.hpp"
#include "dimesh/grid.hpp"
#include "dimesh/memory/storage.hpp"

namespace dimesh::detail {

struct cell;
struct tensor_core;
void require_grid(std::string_view call, const tensor_core& x);

/// The coordinates of a rank at the origin.
inline constexpr index_t origin_of_mesh[max_axes] = {};

/// A tensor without its type. Copies share the memory. Beginnings, copies and ends are out of line:
/// they stand all over a program, and cost more code than time.
struct tensor_core {
  const tensor_facts* facts = nullptr;
  const void* grid_object = nullptr;  // the grid<M>; null where there are no data
  const grid_state* grid = nullptr;  // what it says, without its type
  cell* record = nullptr;  // where cotangents go; null: nobody wants them
  dim_runs runs;
  cut_list cuts;  // of ragged dims, and of some that are not; null where there are none
  storage memory;
  /// Partial axes along which every rank holds the whole value, to be counted once (a note on how
  /// the addends are stored; see docs/decisions). Bit a is mesh axis a.
  unsigned once = 0;
  /// Placed axes along which this rank is not where the tensor lives: it holds no elements.
  unsigned away = 0;
  bool is_shape = false;
  std::array<index_t, max_axes> shape_sizes{};  // of the mesh, where there is no grid
  tally* count = nullptr;  // where the cost of operations on a shape goes
  live_bytes live;
#ifdef DIMESH_CHECKED
  extent_history before;  // extents of what it was computed from
#endif

  DIMESH_OUTLINE constexpr tensor_core() {}
  DIMESH_OUTLINE constexpr explicit tensor_core(const tensor_facts* f) : facts(f) {}
  DIMESH_OUTLINE constexpr tensor_core(const tensor_core& x)
      : facts(x.facts),
        grid_object(x.grid_object),
        grid(x.grid),
        record(x.record),
        runs(x.runs),
        cuts(x.cuts),
        memory(x.memory),
        once(x.once),
        away(x.away),
        is_shape(x.is_shape),
        shape_sizes(x.shape_sizes),
        count(x.count),
        live(x.live) {
    take_history(x);
  }
  DIMESH_OUTLINE constexpr tensor_core(tensor_core&& x) noexcept
      : facts(x.facts),
        grid_object(x.grid_object),
        grid(x.grid),
        record(x.record),
        runs(x.runs),
        cuts(x.cuts),
        memory(std::move(x.memory)),
        once(x.once),
        away(x.away),
        is_shape(x.is_shape),
        shape_sizes(x.shape_sizes),
        count(x.count),
        live(std::move(x.live)) {
    take_history(x);
    x.leave();
  }
  DIMESH_OUTLINE constexpr tensor_core& operator=(const tensor_core& x) {
    take_all_but_memory(x);
    memory = x.memory;
    live = x.live;
    return *this;
  }
  DIMESH_OUTLINE constexpr tensor_core& operator=(tensor_core&& x) noexcept {
    take_all_but_memory(x);
    memory = std::move(x.memory);
    live = std::move(x.live);
    if (this != &x) x.leave();
    return *this;
  }
  DIMESH_OUTLINE constexpr ~tensor_core() {}  // in one place

  constexpr int rank() const { return facts->rank; }
  constexpr const table& layout() const { return facts->layout; }
  constexpr index_t extent(int d) const { return runs.extents()[d]; }
  constexpr const block& own(int d) const { return runs.own()[d]; }
  /// How many elements of dim d this rank stores (halo counted).
  constexpr index_t local(int d) const {
    return away != 0 ? 0 : own(d).length + facts->layout.halo[d].both();
  }
  constexpr index_t stride(int d) const {
    return stride_along(facts->layout, runs.own(), d, facts->rank);
  }
  constexpr block_view blocks() const { return {&facts->layout, runs.own(), facts->rank}; }
  /// How many elements this rank stores.
  DIMESH_OUTLINE constexpr index_t elements() const {
    if (away != 0) return 0;
    const block* const b = runs.own();
    index_t n = 1;
    for (int d = 0; d < facts->rank; ++d) n *= b[d].length + facts->layout.halo[d].both();
    return n;
  }
  constexpr index_t bytes() const { return elements() * facts->element; }
  template <class T> T* data() const { return static_cast<T*>(memory.data()); }
  /// Ranks along each axis of the mesh.
  constexpr const index_t* sizes() const {
    return grid != nullptr ? grid->sizes() : shape_sizes.data();
  }
  constexpr bool defined() const { return grid != nullptr; }
  /// Is it data, on a grid that lives? Else require_grid says what it is.
  constexpr bool is_there() const { return !is_shape && grid != nullptr && grid->alive(); }

  /// Becomes a tensor of these extents on the grid of `like`, in memory given (null: the pool's).
  /// Throws dimesh::error where an extent is missing or cannot be cut evenly.
  DIMESH_OUTLINE inline void make_on(const void* object, const grid_state& g,
                                     const index_t* extents, const storage& given) {
    grid_object = object;
    grid = &g;
    is_shape = false;
    place(extents);
    if (given && away == 0)
      memory = given;
    else
      memory = fresh_memory();
  }
  /// Becomes a shape, whose bytes are alive on a tally. Stands for the rank at the origin, or where
  /// the tally says; where that says nothing, for one that holds whatever is placed.
  DIMESH_OUTLINE constexpr void make_shape(const index_t* sizes, const index_t* extents, tally* t) {
    is_shape = true;
    for (int a = 0; a < facts->layout.axes; ++a)
      shape_sizes[static_cast<std::size_t>(a)] = sizes[a];
    count = t;
    place(extents);
    live = live_bytes(t, bytes());
  }
  /// Stands for itself while costs are counted: extents and blocks without elements or grid, whose
  /// bytes are alive to the end.
  DIMESH_OUTLINE constexpr void become_shape(tally* t) {
    index_t on[max_axes] = {}, extents[max_dims] = {};
    if (!is_shape) require_grid("count", *this);
    for (int a = 0; a < facts->layout.axes; ++a) on[a] = sizes()[a];
    for (int d = 0; d < facts->rank; ++d) extents[d] = runs.extents()[d];
    forget_data();
    record = nullptr;  // no tape outlives what is counted
    grid = nullptr;
    grid_object = nullptr;
    make_shape(on, extents, t);
    live.pin();
  }
  /// Works out the blocks; the grid, or the sizes of a shape, are there.
  constexpr void place(const index_t* extents) {
    runs.resize(facts->rank);
    for (int d = 0; d < facts->rank; ++d) runs.extents()[d] = extents[d];
    place();
  }
  /// The same where the extents, too, are there.
  constexpr void place() {
    const index_t* at = grid != nullptr ? grid->coords() : origin_of_mesh;
    if (is_shape && count != nullptr && count->block_coords != nullptr) at = count->block_coords;
    work_out_blocks(*facts, runs.extents(), sizes(), at, runs.own(), cuts.first());
    away = 0;
    if (facts->placed != 0) stay_away();
  }
  /// Becomes a tensor with the extents, blocks and grid of x, which has the same blocks by type; or
  /// gets its layout, too, where no type says one.
  constexpr void place_like(const tensor_core& x) {
    if (facts->is_open) facts = x.facts;
    runs = x.runs;
    cuts = x.cuts;
    away = x.away;
    stand_with(x);
  }
  /// On the grid of x, or a shape with its sizes.
  constexpr void stand_with(const tensor_core& x) {
    grid = x.grid;
    grid_object = x.grid_object;
    is_shape = x.is_shape;
    if (is_shape) shape_sizes = x.shape_sizes;
  }
  /// Memory of the pool for the elements: none where this rank is not where the tensor lives.
  storage fresh_memory() const {
    if (away != 0) return {};
    return storage::acquire(static_cast<std::size_t>(counted_bytes(*facts, runs.own())),
                            facts->space);
  }
  /// In checked builds: what went into x went into this.
  constexpr void take_history([[maybe_unused]] const tensor_core& x) {
#ifdef DIMESH_CHECKED
    before = x.before;
#endif
  }
  /// In checked builds: the run-time extents that went into it, its own among them.
  constexpr void add_extents([[maybe_unused]] extent_history& h) const {
#ifdef DIMESH_CHECKED
    for (int d = 0; d < rank(); ++d)
      if (const dim_facts* const dim = facts->dim[d]; dim->extent == dynamic)
        h.add(dim->number, dim->name, extent(d));
    h.add_all(before);
#endif
  }
  /// In checked builds: these went into it.
  constexpr void set_history([[maybe_unused]] const extent_history& h) {
#ifdef DIMESH_CHECKED
    before = h;
#endif
  }
  /// Gives up the elements; blocks and grid stay.
  DIMESH_OUTLINE constexpr void forget_data() {
    memory = storage{};
    live = live_bytes{};
  }

 private:
  /// Notes where this rank is not at the tensor's place: its blocks are empty there.
  constexpr void stay_away() {
    const std::array<index_t, max_axes> seat = count != nullptr ? count->seat : tally::anywhere();
    away = away_at(*facts, sizes(), grid != nullptr ? grid->coords() : seat.data());
    for (int d = 0; away != 0 && d < facts->rank; ++d) runs.own()[d].length = 0;
  }
  constexpr void leave() { grid = nullptr, is_shape = false; }  // moved from: not defined
  constexpr void take_all_but_memory(const tensor_core& x) {
    facts = x.facts;
    grid_object = x.grid_object;
    grid = x.grid;
    record = x.record;
    runs = x.runs;
    cuts = x.cuts;
    once = x.once;
    away = x.away;
    is_shape = x.is_shape;
    if (is_shape) shape_sizes = x.shape_sizes;
    count = x.count;
    take_history(x);
  }
};

/// x has been made, and its grid is there. Throws dimesh::error that names the call.
#if DIMESH_COMPILED != 1
DIMESH_OUTLINE inline void require_grid(std::string_view call, const tensor_core& x) {
  if (x.is_shape)
    (words() << call
             << ": an operand holds no elements, since costs are being counted; count a function "
                "that reads none, and takes the tensors that it needs as arguments")
        .raise();
  if (x.grid == nullptr)
    (words() << call
             << ": an operand is not defined: it was moved from, or never made on a grid; make it "
                "first")
        .raise();
  if (!x.grid->alive())
    (words() << call
             << ": an operand's grid is gone; a grid must outlive the tensors that are made on it")
        .raise();
}
#endif

/// Where what is done with x is reported: on shapes with its tally, on data to whoever watches.
constexpr event_sink* sink_of(const tensor_core& x) {
  if (!x.is_shape) return watcher;
  return x.count != nullptr ? x.count->sink : nullptr;
}

/// The way from a tensor to what lies below its type, for the library and for operations.
struct core_access {
  /// Back from a core, where the type is known.
  template <class X> static constexpr X& back(tensor_core& x) { return static_cast<X&>(x); }
  template <class X> static constexpr const X& back(const tensor_core& x) {
    return static_cast<const X&>(x);
  }
  /// X is a tensor.
  template <class X> static constexpr bool is = requires(X& x) { static_cast<tensor_core&>(x); };
};
constexpr tensor_core& core_of(tensor_core& x) { return x; }
constexpr const tensor_core& core_of(const tensor_core& x) { return x; }

}  // namespace dimesh::detail
