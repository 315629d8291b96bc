// The rules of calls.txt: what each kind of call sends. Bytes are those of the caller's data: elements x size of the type.
#pragma once

#include <type_traits>

#include "requests.hpp"

namespace fl {

inline Bytes size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  real.Type_size_x(type, &size);
  return size > 0 ? static_cast<Bytes>(size) : 0;
}

template <class N>
Bytes bytes_of(N count, MPI_Datatype type) {
  return static_cast<Bytes>(count) * size_of(type);
}

// An array of datatypes as C or Fortran passes it.
template <class Handle>
struct Types {
  const Handle* at;
  MPI_Datatype operator[](int i) const {
#ifdef OPEN_MPI
    if constexpr (!std::is_same_v<Handle, MPI_Datatype>)
      return real.Type_f2c(at[i]);
    else
#endif
      return at[i];
  }
};

// counts[i] and types[i] where the call has one of them for each process, the same one where it has one for all.
template <class N>
auto item(N many, int i) {
  if constexpr (std::is_pointer_v<N>)
    return many[i];
  else
    return many;
}
inline MPI_Datatype item(MPI_Datatype type, int) { return type; }
template <class Handle>
MPI_Datatype item(Types<Handle> types, int i) {
  return types[i];
}

template <class N, class T>
Bytes sum(N counts, T types, int processes) {
  if constexpr (!std::is_pointer_v<N> && std::is_same_v<T, MPI_Datatype>) return static_cast<Bytes>(processes) * bytes_of(counts, types);
  Bytes total = 0;
  if constexpr (std::is_pointer_v<N> && std::is_same_v<T, MPI_Datatype>) {
    for (int i = 0; i < processes; ++i) total += static_cast<Bytes>(counts[i]);
    return total * size_of(types);
  }
  for (int i = 0; i < processes; ++i) total += bytes_of(item(counts, i), item(types, i));
  return total;
}

bool in_place(const void* buffer);

// --- two-sided ------------------------------------------------------------------------------------

inline void count_to(Call& call, Pair* pair, Bytes bytes) {
  if (pair == nullptr) return;
  pair->count(bytes);
  call.table().sizes.count(bytes);
  call.bytes(bytes);
}

template <class N>
void send(Call& call, N count, MPI_Datatype type, int dest, MPI_Comm comm) {
  count_to(call, pair_in(call.table(), comm, dest), bytes_of(count, type));
}

inline void plan_one(Call& call, Bytes bytes, int dest, MPI_Comm comm, MPI_Request request) {
  Planned* p = plan(request, call.kind(), dest < 0 ? 0 : 1);
  if (dest >= 0) p->edges[0] = Edge{translated(group_of(comm), dest), bytes};
}

template <class N>
void send_init(Call& call, N count, MPI_Datatype type, int dest, MPI_Comm comm, MPI_Request request) {
  plan_one(call, bytes_of(count, type), dest, comm, request);
}

template <class N>
void partitioned_init(Call& call, int partitions, N count, MPI_Datatype type, int dest, MPI_Comm comm, MPI_Request request) {
  plan_one(call, static_cast<Bytes>(partitions) * bytes_of(count, type), dest, comm, request);
}

inline void start(Call& call, MPI_Request request) { started(call.table(), request); }

template <class Requests>
void start_all(Call& call, int count, Requests requests) {
  for (int i = 0; i < count; ++i) started(call.table(), requests[i]);
}

// --- one-sided ------------------------------------------------------------------------------------

template <class N>
void put(Call& call, N count, MPI_Datatype type, int target, MPI_Win win) {
  count_to(call, pair_in_window(call.table(), win, target, Way::out), bytes_of(count, type));
}

template <class N>
void get(Call& call, N count, MPI_Datatype type, int target, MPI_Win win) {
  count_to(call, pair_in_window(call.table(), win, target, Way::in), bytes_of(count, type));
}

bool nothing_sent(MPI_Op op);  // MPI_NO_OP: only fetches

template <class N>
void put_and_get(Call& call, N count, MPI_Datatype type, N result_count, MPI_Datatype result_type, int target, MPI_Op op, MPI_Win win) {
  if (!nothing_sent(op)) put(call, count, type, target, win);
  get(call, result_count, result_type, target, win);
}

inline void fetch(Call& call, MPI_Datatype type, int target, MPI_Op op, MPI_Win win) {
  put_and_get(call, 1, type, 1, type, target, op, win);
}

// Two elements go (the new one and the one to compare with), one comes back.
inline void swap(Call& call, MPI_Datatype type, int target, MPI_Win win) {
  put(call, 2, type, target, win);
  get(call, 1, type, target, win);
}

// --- neighbourhood collectives: they name their peers ---------------------------------------------

template <class N, class T>
void neighbours(Call& call, N counts, T types, MPI_Comm comm) {
  Group& group = group_of(comm);
  const int known = neighbours_of(group, comm);
  for (int i = 0; i < known; ++i)
    if (group.neighbour[i] >= 0) count_to(call, pair_in(call.table(), comm, group.neighbour[i]), bytes_of(item(counts, i), item(types, i)));
}

template <class N, class T>
void neighbours_init(Call& call, N counts, T types, MPI_Comm comm, MPI_Request request) {
  Group& group = group_of(comm);
  const int known = neighbours_of(group, comm);
  Planned* p = plan(request, call.kind(), known);
  int used = 0;
  for (int i = 0; i < known; ++i)
    if (group.neighbour[i] >= 0) p->edges[used++] = Edge{translated(group, group.neighbour[i]), bytes_of(item(counts, i), item(types, i))};
  p->count = used;
}

// --- collectives: MPI prescribes no route, so what a rank contributes is kept by kind ---------------

inline void collective(Call& call, Bytes bytes) { call.bytes(bytes); }

inline void collective_init(Call& call, Bytes bytes, MPI_Request request) { plan(request, call.kind(), 0)->bytes = bytes; }

inline Bytes nothing() { return 0; }

template <class N>
Bytes each(N count, MPI_Datatype type) {
  return bytes_of(count, type);
}

inline bool is_root(int root, const Group& group) { return group.inter ? root == MPI_ROOT : root == group.rank; }
inline bool beside_root(int root, const Group& group) { return group.inter && (root == MPI_ROOT || root == MPI_PROC_NULL); }

template <class N>
Bytes from_root(N count, MPI_Datatype type, int root, MPI_Comm comm) {
  return is_root(root, group_of(comm)) ? bytes_of(count, type) : 0;
}

template <class N>
Bytes to_root(N count, MPI_Datatype type, int root, MPI_Comm comm) {
  return beside_root(root, group_of(comm)) ? 0 : bytes_of(count, type);
}

template <class N, class M>
Bytes gather(const void* buffer, N count, MPI_Datatype type, M counts, MPI_Datatype result, int root, MPI_Comm comm) {
  const Group& group = group_of(comm);
  if (beside_root(root, group)) return 0;
  return in_place(buffer) ? bytes_of(item(counts, group.rank), result) : bytes_of(count, type);
}

template <class N>
Bytes scatter(N counts, MPI_Datatype type, int root, MPI_Comm comm) {
  const Group& group = group_of(comm);
  return is_root(root, group) ? sum(counts, type, group.peers) : 0;
}

template <class N, class M>
Bytes allgather(const void* buffer, N count, MPI_Datatype type, M counts, MPI_Datatype result, MPI_Comm comm) {
  return in_place(buffer) ? bytes_of(item(counts, group_of(comm).rank), result) : bytes_of(count, type);
}

template <class N, class T>
Bytes alltoall(const void* buffer, N counts, T types, N back, T result, MPI_Comm comm) {
  const int processes = group_of(comm).peers;
  return in_place(buffer) ? sum(back, result, processes) : sum(counts, types, processes);
}

// Reduce_scatter: every rank sends as much as all together receive.
template <class N>
Bytes of_all(N counts, MPI_Datatype type, MPI_Comm comm) {
  return sum(counts, type, group_of(comm).size);
}

// Numbers and handles as Fortran passes them: integers, by address.
inline int value(const void* p) { return static_cast<int>(*static_cast<const MPI_Fint*>(p)); }
inline MPI_Count large_value(const void* p) { return *static_cast<const MPI_Count*>(p); }
#ifdef OPEN_MPI
inline MPI_Comm comm_of(const void* p) { return real.Comm_f2c(value(p)); }
inline MPI_Win win_of(const void* p) { return real.Win_f2c(value(p)); }
inline MPI_Op op_of(const void* p) { return real.Op_f2c(value(p)); }
inline MPI_Datatype type_of(const void* p) { return real.Type_f2c(value(p)); }
inline MPI_Request request_of(const void* p) { return real.Request_f2c(value(p)); }
#else  // the handles of MPICH are the same integers in C
inline MPI_Comm comm_of(const void* p) { return value(p); }
inline MPI_Win win_of(const void* p) { return value(p); }
inline MPI_Op op_of(const void* p) { return value(p); }
inline MPI_Datatype type_of(const void* p) { return value(p); }
inline MPI_Request request_of(const void* p) { return value(p); }
#endif
inline const int* values(const void* p) {
  static_assert(std::is_same_v<MPI_Fint, int>);
  return static_cast<const int*>(p);
}
inline Types<MPI_Fint> types_of(const void* p) { return {static_cast<const MPI_Fint*>(p)}; }
struct FortranRequests {
  const MPI_Fint* at;
  MPI_Request operator[](int i) const { return request_of(at + i); }
};
inline FortranRequests requests_of(const void* p) { return {static_cast<const MPI_Fint*>(p)}; }

}  // namespace fl
