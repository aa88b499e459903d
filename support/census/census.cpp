// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How are MPI calls counted? Each wrapper below has the name of the MPI function, adds what it sees
// to the counts (and its time to the library's timeline, where that is on), and passes the call on
// to the function's profiling name, PMPI_*.
#include "census.hpp"

#include <dimesh/collective/communicator.hpp>
#include <dimesh/ledger/timeline.hpp>
#include <mutex>
#include <optional>
#include <ostream>

namespace census {
namespace {

/// What a persistent request hands over each time it is started.
struct handed {
  MPI_Comm comm = MPI_COMM_NULL;
  std::int64_t bytes = 0;
};

struct state {
  std::mutex mutex;
  counts current;
  std::map<MPI_Request, handed> persistent;  // sends
  std::int64_t persistent_made = 0, dense_made = 0;
  int keyval = MPI_KEYVAL_INVALID;
  int paused = 0;
};

state& the_state() {
  static state s;
  return s;
}

/// The library's communicators carry their axes as an attribute.
unsigned axes_of(MPI_Comm comm, int& keyval) {
  if (keyval == MPI_KEYVAL_INVALID) keyval = dimesh::detail::axes_keyval();
  void* value = nullptr;
  int found = 0;
  PMPI_Comm_get_attr(comm, keyval, &value, &found);
  return found != 0 ? static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(value)) : 0;
}

/// Counts one call to MPI and, where the library's timeline is on, records how long it takes.
class call {
 public:
  call(operation op, MPI_Comm comm, std::int64_t bytes) {
    state& s = the_state();
    const std::lock_guard lock(s.mutex);
    if (s.paused > 0) return;
    const unsigned axes = axes_of(comm, s.keyval);
    tally& t = s.current.entries[{op, axes}];
    t.calls += 1;
    t.bytes += bytes;
    span_.emplace(name(op).data(), dimesh::lane::communication, axes, bytes);
  }

 private:
  std::optional<dimesh::trace_span> span_;
};

/// Passes on the start of a persistent request, and counts it where it sends. (MPI may begin
/// another one in its place.)
int start(MPI_Request* request) {
  state& s = the_state();
  std::optional<handed> sends;
  {
    const std::lock_guard lock(s.mutex);
    if (const auto at = s.persistent.find(*request); at != s.persistent.end()) sends = at->second;
  }
  if (!sends) return PMPI_Start(request);
  const call here(operation::send, sends->comm, sends->bytes);
  const MPI_Request before = *request;
  const int code = PMPI_Start(request);
  if (*request == before) return code;
  const std::lock_guard lock(s.mutex);
  s.persistent.erase(before);
  s.persistent[*request] = *sends;
  return code;
}

void note_dense() {
  state& s = the_state();
  const std::lock_guard lock(s.mutex);
  ++s.dense_made;
}

/// A call that hands over nothing and only waits for others: on the timeline, but not counted.
struct waiting : dimesh::trace_span {
  explicit waiting(const char* what) : trace_span(what, dimesh::lane::communication) {}
};

std::int64_t bytes_of(std::int64_t elements, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return elements * size;
}

int ranks(MPI_Comm comm) {
  int n = 0;
  PMPI_Comm_size(comm, &n);
  return n;
}

int others(MPI_Comm comm) { return ranks(comm) - 1; }

bool is_root(int root, MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank == root;
}

std::int64_t sum(const int* numbers, int n) {
  std::int64_t total = 0;
  for (int i = 0; i < n; ++i) total += numbers[i];
  return total;
}

/// Of an all-to-all: the part that a rank has for itself is handed to nobody.
std::int64_t sum_to_others(const int* numbers, MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return sum(numbers, ranks(comm)) - numbers[rank];
}

/// What a rank contributes to an all-gather or a gather: in place, its part of the receive buffer.
std::int64_t contribution(const void* send, int send_count, MPI_Datatype send_type, int recv_count,
                          MPI_Datatype recv_type) {
  return send == MPI_IN_PLACE ? bytes_of(recv_count, recv_type) : bytes_of(send_count, send_type);
}

std::int64_t contribution_v(const void* send, int send_count, MPI_Datatype send_type,
                            const int* recv_counts, MPI_Datatype recv_type, MPI_Comm comm) {
  if (send != MPI_IN_PLACE) return bytes_of(send_count, send_type);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return bytes_of(recv_counts[rank], recv_type);
}

std::int64_t sum_w(const int* numbers, const MPI_Datatype* types, int n) {
  std::int64_t total = 0;
  for (int i = 0; i < n; ++i) total += bytes_of(numbers[i], types[i]);
  return total;
}

/// A send to MPI_PROC_NULL hands over nothing.
std::int64_t sent(int to, std::int64_t elements, MPI_Datatype type) {
  return to == MPI_PROC_NULL ? 0 : bytes_of(elements, type);
}

/// The number of ranks that this one sends to in a communicator with a topology.
int targets(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &kind);
  int n = 0;
  if (kind == MPI_CART) {
    PMPI_Cartdim_get(comm, &n);
    return 2 * n;
  }
  int sources = 0;
  int weighted = 0;
  if (kind == MPI_DIST_GRAPH) PMPI_Dist_graph_neighbors_count(comm, &sources, &n, &weighted);
  return n;
}

template <class Select> tally total(const counts& c, Select select) {
  tally t;
  for (const auto& [key, entry] : c.entries) {
    if (!select(key.first, key.second)) continue;
    t.calls += entry.calls;
    t.bytes += entry.bytes;
  }
  return t;
}

}  // namespace

std::string_view name(operation op) {
  constexpr std::string_view names[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                        "broadcast",  "reduce",         "gather",     "scatter",
                                        "scan",       "neighbor",       "send",       "barrier"};
  return names[static_cast<int>(op)];
}

tally counts::of(operation op, unsigned mask) const {
  const auto found = entries.find({op, mask});
  return found == entries.end() ? tally{} : found->second;
}

std::int64_t counts::calls(operation op) const {
  return total(*this, [op](operation o, unsigned) { return o == op; }).calls;
}
std::int64_t counts::bytes(operation op) const {
  return total(*this, [op](operation o, unsigned) { return o == op; }).bytes;
}
std::int64_t counts::calls() const {
  return total(*this, [](operation, unsigned) { return true; }).calls;
}
std::int64_t counts::bytes() const {
  return total(*this, [](operation, unsigned) { return true; }).bytes;
}
std::int64_t counts::calls_on(unsigned mask) const {
  return total(*this, [mask](operation, unsigned m) { return m == mask; }).calls;
}
std::int64_t counts::bytes_on(unsigned mask) const {
  return total(*this, [mask](operation, unsigned m) { return m == mask; }).bytes;
}

counts operator-(const counts& after, const counts& before) {
  counts result;
  for (const auto& [key, entry] : after.entries) {
    const tally b = before.of(key.first, key.second);
    const tally difference{entry.calls - b.calls, entry.bytes - b.bytes};
    if (difference != tally{}) result.entries[key] = difference;
  }
  return result;
}

std::ostream& operator<<(std::ostream& out, const counts& c) {
  for (const auto& [key, entry] : c.entries) {
    out << name(key.first) << " axes 0b";
    for (int bit = 31, seen = 0; bit >= 0; --bit) {
      const bool set = (key.second >> bit & 1U) != 0;
      if (set || seen != 0 || bit == 0) out << (set ? '1' : '0');
      seen |= set ? 1 : 0;
    }
    out << ": " << entry.calls << " calls, " << entry.bytes << " bytes\n";
  }
  return out;
}

void set_keyval(int keyval) { the_state().keyval = keyval; }

void reset() {
  state& s = the_state();
  const std::lock_guard lock(s.mutex);
  s.current.entries.clear();
}

counts snapshot() {
  state& s = the_state();
  const std::lock_guard lock(s.mutex);
  return s.current;
}

std::int64_t persistent_sends() {
  state& s = the_state();
  const std::lock_guard lock(s.mutex);
  return s.persistent_made;
}

std::int64_t dense_all_to_alls() {
  state& s = the_state();
  const std::lock_guard lock(s.mutex);
  return s.dense_made;
}

pause::pause() {
  const std::lock_guard lock(the_state().mutex);
  ++the_state().paused;
}
pause::~pause() {
  const std::lock_guard lock(the_state().mutex);
  --the_state().paused;
}

}  // namespace census

using namespace census;  // for the wrappers, which are C functions

extern "C" {

int MPI_Allreduce(const void* send, void* recv, int n, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const call here(operation::all_reduce, comm, bytes_of(n, type));
  return PMPI_Allreduce(send, recv, n, type, op, comm);
}

int MPI_Iallreduce(const void* send, void* recv, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  const call here(operation::all_reduce, comm, bytes_of(n, type));
  return PMPI_Iallreduce(send, recv, n, type, op, comm, request);
}

int MPI_Reduce_scatter(const void* send, void* recv, const int recv_counts[], MPI_Datatype type,
                       MPI_Op op, MPI_Comm comm) {
  const call here(operation::reduce_scatter, comm, bytes_of(sum(recv_counts, ranks(comm)), type));
  return PMPI_Reduce_scatter(send, recv, recv_counts, type, op, comm);
}

int MPI_Ireduce_scatter(const void* send, void* recv, const int recv_counts[], MPI_Datatype type,
                        MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  const call here(operation::reduce_scatter, comm, bytes_of(sum(recv_counts, ranks(comm)), type));
  return PMPI_Ireduce_scatter(send, recv, recv_counts, type, op, comm, request);
}

int MPI_Reduce_scatter_block(const void* send, void* recv, int recv_count, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm) {
  const call here(operation::reduce_scatter, comm,
                  bytes_of(std::int64_t{recv_count} * ranks(comm), type));
  return PMPI_Reduce_scatter_block(send, recv, recv_count, type, op, comm);
}

int MPI_Ireduce_scatter_block(const void* send, void* recv, int recv_count, MPI_Datatype type,
                              MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  const call here(operation::reduce_scatter, comm,
                  bytes_of(std::int64_t{recv_count} * ranks(comm), type));
  return PMPI_Ireduce_scatter_block(send, recv, recv_count, type, op, comm, request);
}

int MPI_Allgather(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                  int recv_count, MPI_Datatype recv_type, MPI_Comm comm) {
  const call here(operation::all_gather, comm,
                  contribution(send, send_count, send_type, recv_count, recv_type));
  return PMPI_Allgather(send, send_count, send_type, recv, recv_count, recv_type, comm);
}

int MPI_Iallgather(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   int recv_count, MPI_Datatype recv_type, MPI_Comm comm, MPI_Request* request) {
  const call here(operation::all_gather, comm,
                  contribution(send, send_count, send_type, recv_count, recv_type));
  return PMPI_Iallgather(send, send_count, send_type, recv, recv_count, recv_type, comm, request);
}

int MPI_Allgatherv(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   const int recv_counts[], const int recv_at[], MPI_Datatype recv_type,
                   MPI_Comm comm) {
  const call here(operation::all_gather, comm,
                  contribution_v(send, send_count, send_type, recv_counts, recv_type, comm));
  return PMPI_Allgatherv(send, send_count, send_type, recv, recv_counts, recv_at, recv_type, comm);
}

int MPI_Iallgatherv(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                    const int recv_counts[], const int recv_at[], MPI_Datatype recv_type,
                    MPI_Comm comm, MPI_Request* request) {
  const call here(operation::all_gather, comm,
                  contribution_v(send, send_count, send_type, recv_counts, recv_type, comm));
  return PMPI_Iallgatherv(send, send_count, send_type, recv, recv_counts, recv_at, recv_type, comm,
                          request);
}

int MPI_Alltoall(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                 int recv_count, MPI_Datatype recv_type, MPI_Comm comm) {
  note_dense();
  const call here(operation::all_to_all, comm,
                  others(comm) * contribution(send, send_count, send_type, recv_count, recv_type));
  return PMPI_Alltoall(send, send_count, send_type, recv, recv_count, recv_type, comm);
}

int MPI_Ialltoall(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                  int recv_count, MPI_Datatype recv_type, MPI_Comm comm, MPI_Request* request) {
  note_dense();
  const call here(operation::all_to_all, comm,
                  others(comm) * contribution(send, send_count, send_type, recv_count, recv_type));
  return PMPI_Ialltoall(send, send_count, send_type, recv, recv_count, recv_type, comm, request);
}

int MPI_Alltoallv(const void* send, const int send_counts[], const int send_at[],
                  MPI_Datatype send_type, void* recv, const int recv_counts[], const int recv_at[],
                  MPI_Datatype recv_type, MPI_Comm comm) {
  const call here(operation::all_to_all, comm,
                  send == MPI_IN_PLACE ? bytes_of(sum_to_others(recv_counts, comm), recv_type)
                                       : bytes_of(sum_to_others(send_counts, comm), send_type));
  return PMPI_Alltoallv(send, send_counts, send_at, send_type, recv, recv_counts, recv_at,
                        recv_type, comm);
}

int MPI_Ialltoallv(const void* send, const int send_counts[], const int send_at[],
                   MPI_Datatype send_type, void* recv, const int recv_counts[], const int recv_at[],
                   MPI_Datatype recv_type, MPI_Comm comm, MPI_Request* request) {
  const call here(operation::all_to_all, comm,
                  send == MPI_IN_PLACE ? bytes_of(sum_to_others(recv_counts, comm), recv_type)
                                       : bytes_of(sum_to_others(send_counts, comm), send_type));
  return PMPI_Ialltoallv(send, send_counts, send_at, send_type, recv, recv_counts, recv_at,
                         recv_type, comm, request);
}

int MPI_Alltoallw(const void* send, const int send_counts[], const int send_at[],
                  const MPI_Datatype send_types[], void* recv, const int recv_counts[],
                  const int recv_at[], const MPI_Datatype recv_types[], MPI_Comm comm) {
  const call here(operation::all_to_all, comm,
                  send == MPI_IN_PLACE ? sum_w(recv_counts, recv_types, ranks(comm))
                                       : sum_w(send_counts, send_types, ranks(comm)));
  return PMPI_Alltoallw(send, send_counts, send_at, send_types, recv, recv_counts, recv_at,
                        recv_types, comm);
}

int MPI_Ialltoallw(const void* send, const int send_counts[], const int send_at[],
                   const MPI_Datatype send_types[], void* recv, const int recv_counts[],
                   const int recv_at[], const MPI_Datatype recv_types[], MPI_Comm comm,
                   MPI_Request* request) {
  const call here(operation::all_to_all, comm,
                  send == MPI_IN_PLACE ? sum_w(recv_counts, recv_types, ranks(comm))
                                       : sum_w(send_counts, send_types, ranks(comm)));
  return PMPI_Ialltoallw(send, send_counts, send_at, send_types, recv, recv_counts, recv_at,
                         recv_types, comm, request);
}

int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  const call here(operation::broadcast, comm, is_root(root, comm) ? bytes_of(n, type) : 0);
  return PMPI_Bcast(data, n, type, root, comm);
}

int MPI_Ibcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  const call here(operation::broadcast, comm, is_root(root, comm) ? bytes_of(n, type) : 0);
  return PMPI_Ibcast(data, n, type, root, comm, request);
}

int MPI_Reduce(const void* send, void* recv, int n, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  const call here(operation::reduce, comm, bytes_of(n, type));
  return PMPI_Reduce(send, recv, n, type, op, root, comm);
}

int MPI_Ireduce(const void* send, void* recv, int n, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm, MPI_Request* request) {
  const call here(operation::reduce, comm, bytes_of(n, type));
  return PMPI_Ireduce(send, recv, n, type, op, root, comm, request);
}

int MPI_Gather(const void* send, int send_count, MPI_Datatype send_type, void* recv, int recv_count,
               MPI_Datatype recv_type, int root, MPI_Comm comm) {
  const call here(operation::gather, comm,
                  contribution(send, send_count, send_type, recv_count, recv_type));
  return PMPI_Gather(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
}

int MPI_Igather(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm,
                MPI_Request* request) {
  const call here(operation::gather, comm,
                  contribution(send, send_count, send_type, recv_count, recv_type));
  return PMPI_Igather(send, send_count, send_type, recv, recv_count, recv_type, root, comm,
                      request);
}

int MPI_Gatherv(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                const int recv_counts[], const int recv_at[], MPI_Datatype recv_type, int root,
                MPI_Comm comm) {
  const call here(operation::gather, comm,
                  contribution_v(send, send_count, send_type, recv_counts, recv_type, comm));
  return PMPI_Gatherv(send, send_count, send_type, recv, recv_counts, recv_at, recv_type, root,
                      comm);
}

int MPI_Igatherv(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                 const int recv_counts[], const int recv_at[], MPI_Datatype recv_type, int root,
                 MPI_Comm comm, MPI_Request* request) {
  const call here(operation::gather, comm,
                  contribution_v(send, send_count, send_type, recv_counts, recv_type, comm));
  return PMPI_Igatherv(send, send_count, send_type, recv, recv_counts, recv_at, recv_type, root,
                       comm, request);
}

int MPI_Scatter(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) {
  const call here(operation::scatter, comm,
                  is_root(root, comm) ? ranks(comm) * bytes_of(send_count, send_type) : 0);
  return PMPI_Scatter(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
}

int MPI_Iscatter(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                 int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm,
                 MPI_Request* request) {
  const call here(operation::scatter, comm,
                  is_root(root, comm) ? ranks(comm) * bytes_of(send_count, send_type) : 0);
  return PMPI_Iscatter(send, send_count, send_type, recv, recv_count, recv_type, root, comm,
                       request);
}

int MPI_Scatterv(const void* send, const int send_counts[], const int send_at[],
                 MPI_Datatype send_type, void* recv, int recv_count, MPI_Datatype recv_type,
                 int root, MPI_Comm comm) {
  const call here(operation::scatter, comm,
                  is_root(root, comm) ? bytes_of(sum(send_counts, ranks(comm)), send_type) : 0);
  return PMPI_Scatterv(send, send_counts, send_at, send_type, recv, recv_count, recv_type, root,
                       comm);
}

int MPI_Iscatterv(const void* send, const int send_counts[], const int send_at[],
                  MPI_Datatype send_type, void* recv, int recv_count, MPI_Datatype recv_type,
                  int root, MPI_Comm comm, MPI_Request* request) {
  const call here(operation::scatter, comm,
                  is_root(root, comm) ? bytes_of(sum(send_counts, ranks(comm)), send_type) : 0);
  return PMPI_Iscatterv(send, send_counts, send_at, send_type, recv, recv_count, recv_type, root,
                        comm, request);
}

int MPI_Scan(const void* send, void* recv, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const call here(operation::scan, comm, bytes_of(n, type));
  return PMPI_Scan(send, recv, n, type, op, comm);
}

int MPI_Iscan(const void* send, void* recv, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              MPI_Request* request) {
  const call here(operation::scan, comm, bytes_of(n, type));
  return PMPI_Iscan(send, recv, n, type, op, comm, request);
}

int MPI_Exscan(const void* send, void* recv, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const call here(operation::scan, comm, bytes_of(n, type));
  return PMPI_Exscan(send, recv, n, type, op, comm);
}

int MPI_Iexscan(const void* send, void* recv, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request* request) {
  const call here(operation::scan, comm, bytes_of(n, type));
  return PMPI_Iexscan(send, recv, n, type, op, comm, request);
}

int MPI_Barrier(MPI_Comm comm) {
  const call here(operation::barrier, comm, 0);
  return PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  const call here(operation::barrier, comm, 0);
  return PMPI_Ibarrier(comm, request);
}

int MPI_Send(const void* send, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const call here(operation::send, comm, sent(to, n, type));
  return PMPI_Send(send, n, type, to, tag, comm);
}

int MPI_Isend(const void* send, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const call here(operation::send, comm, sent(to, n, type));
  return PMPI_Isend(send, n, type, to, tag, comm, request);
}

int MPI_Send_init(const void* send, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int code = PMPI_Send_init(send, n, type, to, tag, comm, request);
  census::state& s = census::the_state();
  const std::lock_guard lock(s.mutex);
  s.persistent[*request] = {comm, sent(to, n, type)};
  ++s.persistent_made;
  return code;
}

int MPI_Start(MPI_Request* request) { return census::start(request); }

int MPI_Startall(int n, MPI_Request requests[]) {
  int code = n == 0 ? PMPI_Startall(n, requests) : MPI_SUCCESS;  // which may refuse that
  for (int i = 0; i < n && code == MPI_SUCCESS; ++i) code = census::start(&requests[i]);
  return code;
}

int MPI_Request_free(MPI_Request* request) {
  census::state& s = census::the_state();
  {
    const std::lock_guard lock(s.mutex);
    s.persistent.erase(*request);
  }
  return PMPI_Request_free(request);
}

int MPI_Ssend(const void* send, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const call here(operation::send, comm, sent(to, n, type));
  return PMPI_Ssend(send, n, type, to, tag, comm);
}

int MPI_Issend(const void* send, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  const call here(operation::send, comm, sent(to, n, type));
  return PMPI_Issend(send, n, type, to, tag, comm, request);
}

int MPI_Bsend(const void* send, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const call here(operation::send, comm, sent(to, n, type));
  return PMPI_Bsend(send, n, type, to, tag, comm);
}

int MPI_Ibsend(const void* send, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  const call here(operation::send, comm, sent(to, n, type));
  return PMPI_Ibsend(send, n, type, to, tag, comm, request);
}

int MPI_Rsend(const void* send, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const call here(operation::send, comm, sent(to, n, type));
  return PMPI_Rsend(send, n, type, to, tag, comm);
}

int MPI_Irsend(const void* send, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  const call here(operation::send, comm, sent(to, n, type));
  return PMPI_Irsend(send, n, type, to, tag, comm, request);
}

int MPI_Sendrecv(const void* send, int send_count, MPI_Datatype send_type, int to, int send_tag,
                 void* recv, int recv_count, MPI_Datatype recv_type, int from, int recv_tag,
                 MPI_Comm comm, MPI_Status* status) {
  const call here(operation::send, comm, sent(to, send_count, send_type));
  return PMPI_Sendrecv(send, send_count, send_type, to, send_tag, recv, recv_count, recv_type, from,
                       recv_tag, comm, status);
}

int MPI_Sendrecv_replace(void* data, int n, MPI_Datatype type, int to, int send_tag, int from,
                         int recv_tag, MPI_Comm comm, MPI_Status* status) {
  const call here(operation::send, comm, sent(to, n, type));
  return PMPI_Sendrecv_replace(data, n, type, to, send_tag, from, recv_tag, comm, status);
}

int MPI_Neighbor_allgather(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                           int recv_count, MPI_Datatype recv_type, MPI_Comm comm) {
  const call here(operation::neighbor, comm, bytes_of(send_count, send_type));
  return PMPI_Neighbor_allgather(send, send_count, send_type, recv, recv_count, recv_type, comm);
}

int MPI_Ineighbor_allgather(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                            int recv_count, MPI_Datatype recv_type, MPI_Comm comm,
                            MPI_Request* request) {
  const call here(operation::neighbor, comm, bytes_of(send_count, send_type));
  return PMPI_Ineighbor_allgather(send, send_count, send_type, recv, recv_count, recv_type, comm,
                                  request);
}

int MPI_Neighbor_alltoall(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                          int recv_count, MPI_Datatype recv_type, MPI_Comm comm) {
  const call here(operation::neighbor, comm,
                  bytes_of(std::int64_t{send_count} * targets(comm), send_type));
  return PMPI_Neighbor_alltoall(send, send_count, send_type, recv, recv_count, recv_type, comm);
}

int MPI_Ineighbor_alltoall(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                           int recv_count, MPI_Datatype recv_type, MPI_Comm comm,
                           MPI_Request* request) {
  const call here(operation::neighbor, comm,
                  bytes_of(std::int64_t{send_count} * targets(comm), send_type));
  return PMPI_Ineighbor_alltoall(send, send_count, send_type, recv, recv_count, recv_type, comm,
                                 request);
}

int MPI_Neighbor_alltoallv(const void* send, const int send_counts[], const int send_at[],
                           MPI_Datatype send_type, void* recv, const int recv_counts[],
                           const int recv_at[], MPI_Datatype recv_type, MPI_Comm comm) {
  const call here(operation::neighbor, comm, bytes_of(sum(send_counts, targets(comm)), send_type));
  return PMPI_Neighbor_alltoallv(send, send_counts, send_at, send_type, recv, recv_counts, recv_at,
                                 recv_type, comm);
}

int MPI_Ineighbor_alltoallv(const void* send, const int send_counts[], const int send_at[],
                            MPI_Datatype send_type, void* recv, const int recv_counts[],
                            const int recv_at[], MPI_Datatype recv_type, MPI_Comm comm,
                            MPI_Request* request) {
  const call here(operation::neighbor, comm, bytes_of(sum(send_counts, targets(comm)), send_type));
  return PMPI_Ineighbor_alltoallv(send, send_counts, send_at, send_type, recv, recv_counts, recv_at,
                                  recv_type, comm, request);
}

int MPI_Recv(void* recv, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
  const waiting here("receive");
  return PMPI_Recv(recv, n, type, from, tag, comm, status);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const waiting here("wait");
  return PMPI_Wait(request, status);
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
  const waiting here("wait");
  return PMPI_Waitall(n, requests, statuses);
}

int MPI_Waitany(int n, MPI_Request requests[], int* which, MPI_Status* status) {
  const waiting here("wait");
  return PMPI_Waitany(n, requests, which, status);
}

int MPI_Waitsome(int n, MPI_Request requests[], int* done, int which[], MPI_Status statuses[]) {
  const waiting here("wait");
  return PMPI_Waitsome(n, requests, done, which, statuses);
}
}  // extern "C"
