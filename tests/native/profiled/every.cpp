// Calls every function that the profiler counts, each in its own phase, and prints the correct profile:
//   <level> <call> <calls, all ranks> <bytes, all ranks> <to> <messages a pair> <bytes a pair>
// where <to> names the pairs: "next" (rank r to r + 1), "both" (r to r - 1 and r + 1), "back" (r + 1 to r), "none".
#include <mpi.h>

#include <cstdio>
#include <vector>

// Open MPI 5 has the functions of MPI 4 without the version number, except for large counts.
#define FL_MPI4 (MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5))

namespace {

int rank, size, next, previous, level = 1;
std::vector<double> out(4096, 1.0), in(4096);
std::vector<char> attached(1 << 20);

void expect(const char* call, long calls, long bytes, const char* to = "none", long messages = 0, long each = 0) {
  MPI_Pcontrol(0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(++level);
  if (rank == 0) std::printf("%d %s %ld %ld %s %ld %ld\n", level, call, calls, bytes, to, messages, each);
}

void ring(const char* call, int count, long calls_a_rank = 1) {
  const long bytes = 8L * count;
  expect(call, calls_a_rank * size, calls_a_rank * size * bytes, "next", calls_a_rank, calls_a_rank * bytes);
}

using Blocking = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
using Immediate = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

void two_sided() {
  int n = 1;
  const struct {
    const char* name;
    Blocking call;
  } blocking[] = {{"MPI_Send", MPI_Send}, {"MPI_Bsend", MPI_Bsend}, {"MPI_Ssend", MPI_Ssend}, {"MPI_Rsend", MPI_Rsend}};
  const struct {
    const char* name;
    Immediate call;
  } immediate[] = {{"MPI_Isend", MPI_Isend}, {"MPI_Ibsend", MPI_Ibsend}, {"MPI_Issend", MPI_Issend}, {"MPI_Irsend", MPI_Irsend}},
    persistent[] = {{"MPI_Send_init", MPI_Send_init},
                    {"MPI_Bsend_init", MPI_Bsend_init},
                    {"MPI_Ssend_init", MPI_Ssend_init},
                    {"MPI_Rsend_init", MPI_Rsend_init}};
  MPI_Request requests[2];
  for (const auto& f : blocking) {
    ring(f.name, ++n);
    MPI_Irecv(in.data(), n, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, requests);
    MPI_Barrier(MPI_COMM_WORLD);
    f.call(out.data(), n, MPI_DOUBLE, next, 0, MPI_COMM_WORLD);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
  }
  for (const auto& f : immediate) {
    ring(f.name, ++n);
    MPI_Irecv(in.data(), n, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, requests);
    MPI_Barrier(MPI_COMM_WORLD);
    f.call(out.data(), n, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, requests + 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  for (const auto& f : persistent) {
    ring(f.name, ++n, 3);  // started three times; the persistent receive counts nothing
    MPI_Recv_init(in.data(), n, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, requests);
    f.call(out.data(), n, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, requests + 1);
    for (int k = 0; k < 3; ++k) {
      MPI_Start(requests);
      MPI_Barrier(MPI_COMM_WORLD);
      if (k == 0)
        MPI_Start(requests + 1);
      else
        MPI_Startall(1, requests + 1);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    for (MPI_Request& r : requests) MPI_Request_free(&r);
  }
  ring("MPI_Sendrecv", ++n);
  MPI_Sendrecv(out.data(), n, MPI_DOUBLE, next, 0, in.data(), n, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  ring("MPI_Sendrecv_replace", ++n);
  MPI_Sendrecv_replace(in.data(), n, MPI_DOUBLE, next, 0, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect("MPI_Sendrecv", size, 0);  // to no process
  MPI_Sendrecv(out.data(), 5, MPI_DOUBLE, MPI_PROC_NULL, 0, in.data(), 5, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect("MPI_Sendrecv", size, 0, "next", 1, 0);  // a message without bytes is one
  MPI_Sendrecv(nullptr, 0, MPI_DOUBLE, next, 0, nullptr, 0, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// 3 blocks of 2 doubles in a stride of 5: 48 bytes, whatever they span.
void datatypes() {
  MPI_Datatype type;
  MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  expect("MPI_Sendrecv", size, 96L * size, "next", 1, 96);
  MPI_Sendrecv(out.data(), 2, type, next, 0, in.data(), 2, type, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
}

// Ranks in other communicators are those of MPI_COMM_WORLD again, also where a handle comes back for another group.
void communicators() {
  expect("MPI_Sendrecv", 6L * size, 6 * 24L * size, "next", 6, 6 * 24);
  for (int k = 0; k < 6; ++k) {
    MPI_Comm turned;
    MPI_Comm_split(MPI_COMM_WORLD, 0, (rank + k) % size, &turned);  // rank r has number (r + k) mod size
    const int to = (next + k) % size, from = (previous + k) % size;
    MPI_Sendrecv(out.data(), 3, MPI_DOUBLE, to, 0, in.data(), 3, MPI_DOUBLE, from, 0, turned, MPI_STATUS_IGNORE);
    MPI_Comm_free(&turned);
  }
  // Between the even and the odd ranks: number i of one side speaks to number i of the other and back.
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &both);
  expect("MPI_Isend", size / 2, 56L * (size / 2), "even", 1, 56);
  MPI_Request request = MPI_REQUEST_NULL;
  int me;
  MPI_Comm_rank(both, &me);
  if (rank % 2 == 0)
    MPI_Isend(out.data(), 7, MPI_DOUBLE, me, 0, both, &request);
  else
    MPI_Recv(in.data(), 7, MPI_DOUBLE, me, 0, both, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("MPI_Bcast", size, 8);  // the root is rank 0; every other rank receives or waits
  MPI_Bcast(in.data(), 1, MPI_DOUBLE, rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

void one_sided() {
  MPI_Win win;
  double* base;
  MPI_Win_allocate(4096 * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  for (int i = 0; i < 4096; ++i) base[i] = 0;
  MPI_Request request;
  const auto begin = [&] { MPI_Win_lock_all(0, win); };
  const auto end = [&] { MPI_Win_unlock_all(win); };
  ring("MPI_Put", 31);
  begin(), MPI_Put(out.data(), 31, MPI_DOUBLE, next, 0, 31, MPI_DOUBLE, win), end();
  ring("MPI_Rput", 32);
  begin(), MPI_Rput(out.data(), 32, MPI_DOUBLE, next, 0, 32, MPI_DOUBLE, win, &request), MPI_Wait(&request, MPI_STATUS_IGNORE), end();
  ring("MPI_Accumulate", 33);
  begin(), MPI_Accumulate(out.data(), 33, MPI_DOUBLE, next, 0, 33, MPI_DOUBLE, MPI_SUM, win), end();
  ring("MPI_Raccumulate", 34);
  begin(), MPI_Raccumulate(out.data(), 34, MPI_DOUBLE, next, 0, 34, MPI_DOUBLE, MPI_SUM, win, &request),
      MPI_Wait(&request, MPI_STATUS_IGNORE), end();
  expect("MPI_Get", size, 35L * 8 * size, "back", 1, 35 * 8);
  begin(), MPI_Get(in.data(), 35, MPI_DOUBLE, next, 0, 35, MPI_DOUBLE, win), end();
  expect("MPI_Rget", size, 36L * 8 * size, "back", 1, 36 * 8);
  begin(), MPI_Rget(in.data(), 36, MPI_DOUBLE, next, 0, 36, MPI_DOUBLE, win, &request), MPI_Wait(&request, MPI_STATUS_IGNORE), end();
  expect("MPI_Get_accumulate", size, 2 * 37L * 8 * size, "there and back", 1, 37 * 8);
  begin(), MPI_Get_accumulate(out.data(), 37, MPI_DOUBLE, in.data(), 37, MPI_DOUBLE, next, 0, 37, MPI_DOUBLE, MPI_SUM, win), end();
  expect("MPI_Get_accumulate", size, 38L * 8 * size, "back", 1, 38 * 8);
  begin(), MPI_Get_accumulate(nullptr, 0, MPI_DOUBLE, in.data(), 38, MPI_DOUBLE, next, 0, 38, MPI_DOUBLE, MPI_NO_OP, win), end();
  expect("MPI_Rget_accumulate", size, 2 * 39L * 8 * size, "there and back", 1, 39 * 8);
  begin();
  MPI_Rget_accumulate(out.data(), 39, MPI_DOUBLE, in.data(), 39, MPI_DOUBLE, next, 0, 39, MPI_DOUBLE, MPI_SUM, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE), end();
  expect("MPI_Fetch_and_op", size, 16L * size, "there and back", 1, 8);
  begin(), MPI_Fetch_and_op(out.data(), in.data(), MPI_DOUBLE, next, 0, MPI_SUM, win), end();
  expect("MPI_Compare_and_swap", size, 12L * size, "swap", 1, 4);
  int one = 1, two = 2, three;
  begin(), MPI_Compare_and_swap(&one, &two, &three, MPI_INT, next, 0, win), end();
  MPI_Win_free(&win);
}

void collectives() {
  const long p = size;
  MPI_Request request;
  const MPI_Comm w = MPI_COMM_WORLD;
  const auto wait = [&] { MPI_Wait(&request, MPI_STATUS_IGNORE); };
  const double* a = out.data();
  double* b = in.data();
  std::vector<int> counts(p), places(p), bytes(p);
  std::vector<MPI_Datatype> types(p, MPI_DOUBLE);
  for (int r = 0; r < p; ++r) counts[r] = r + 1, places[r] = r * (r + 1) / 2, bytes[r] = 8 * places[r];
  const long all = p * (p + 1) / 2;  // of counts
  // Rank r's counts of an alltoallv with one double for each rank: the same count for every rank.
  std::vector<int> ones(p, 1), steps(p), byte_steps(p);
  for (int r = 0; r < p; ++r) steps[r] = r, byte_steps[r] = 8 * r;
  const auto both = [&](const char* blocking, const char* immediate, long total, auto call, auto other) {
    expect(blocking, p, total), call();
    expect(immediate, p, total), other(), wait();
  };
  both("MPI_Barrier", "MPI_Ibarrier", 0, [&] { MPI_Barrier(w); }, [&] { MPI_Ibarrier(w, &request); });
  both("MPI_Bcast", "MPI_Ibcast", 24, [&] { MPI_Bcast(b, 3, MPI_DOUBLE, 1, w); }, [&] { MPI_Ibcast(b, 3, MPI_DOUBLE, 1, w, &request); });
  both(
      "MPI_Reduce", "MPI_Ireduce", 32 * p, [&] { MPI_Reduce(a, b, 4, MPI_DOUBLE, MPI_SUM, 1, w); },
      [&] { MPI_Ireduce(a, b, 4, MPI_DOUBLE, MPI_SUM, 1, w, &request); });
  both(
      "MPI_Allreduce", "MPI_Iallreduce", 40 * p, [&] { MPI_Allreduce(a, b, 5, MPI_DOUBLE, MPI_SUM, w); },
      [&] { MPI_Iallreduce(MPI_IN_PLACE, b, 5, MPI_DOUBLE, MPI_SUM, w, &request); });
  both(
      "MPI_Scan", "MPI_Iscan", 48 * p, [&] { MPI_Scan(a, b, 6, MPI_DOUBLE, MPI_SUM, w); },
      [&] { MPI_Iscan(a, b, 6, MPI_DOUBLE, MPI_SUM, w, &request); });
  both(
      "MPI_Exscan", "MPI_Iexscan", 56 * p, [&] { MPI_Exscan(a, b, 7, MPI_DOUBLE, MPI_SUM, w); },
      [&] { MPI_Iexscan(a, b, 7, MPI_DOUBLE, MPI_SUM, w, &request); });
  // The root gathers in place: its own part is in the receive buffer.
  both(
      "MPI_Gather", "MPI_Igather", 16 * p,
      [&] { MPI_Gather(rank == 1 ? MPI_IN_PLACE : a, rank == 1 ? 99 : 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, 1, w); },
      [&] { MPI_Igather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, 1, w, &request); });
  both(
      "MPI_Gatherv", "MPI_Igatherv", 8 * all,
      [&] { MPI_Gatherv(a, rank + 1, MPI_DOUBLE, b, counts.data(), places.data(), MPI_DOUBLE, 1, w); },
      [&] {
        MPI_Igatherv(rank == 1 ? MPI_IN_PLACE : a, rank == 1 ? 0 : rank + 1, MPI_DOUBLE, b, counts.data(), places.data(), MPI_DOUBLE, 1, w,
                     &request);
      });
  both(
      "MPI_Scatter", "MPI_Iscatter", 24 * p, [&] { MPI_Scatter(a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, 1, w); },
      [&] { MPI_Iscatter(a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, 1, w, &request); });
  both(
      "MPI_Scatterv", "MPI_Iscatterv", 8 * all,
      [&] { MPI_Scatterv(a, counts.data(), places.data(), MPI_DOUBLE, b, rank + 1, MPI_DOUBLE, 1, w); },
      [&] { MPI_Iscatterv(a, counts.data(), places.data(), MPI_DOUBLE, b, rank + 1, MPI_DOUBLE, 1, w, &request); });
  both(
      "MPI_Allgather", "MPI_Iallgather", 16 * p, [&] { MPI_Allgather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, w); },
      [&] { MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DOUBLE, b, 2, MPI_DOUBLE, w, &request); });
  both(
      "MPI_Allgatherv", "MPI_Iallgatherv", 8 * all,
      [&] { MPI_Allgatherv(a, rank + 1, MPI_DOUBLE, b, counts.data(), places.data(), MPI_DOUBLE, w); },
      [&] { MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, b, counts.data(), places.data(), MPI_DOUBLE, w, &request); });
  both(
      "MPI_Alltoall", "MPI_Ialltoall", 16 * p * p, [&] { MPI_Alltoall(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, w); },
      [&] { MPI_Ialltoall(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, w, &request); });
  both(
      "MPI_Alltoallv", "MPI_Ialltoallv", 8 * p * p,
      [&] { MPI_Alltoallv(a, ones.data(), steps.data(), MPI_DOUBLE, b, ones.data(), steps.data(), MPI_DOUBLE, w); },
      [&] { MPI_Ialltoallv(a, ones.data(), steps.data(), MPI_DOUBLE, b, ones.data(), steps.data(), MPI_DOUBLE, w, &request); });
  both(
      "MPI_Alltoallw", "MPI_Ialltoallw", 8 * p * p,
      [&] { MPI_Alltoallw(a, ones.data(), byte_steps.data(), types.data(), b, ones.data(), byte_steps.data(), types.data(), w); },
      [&] {
        MPI_Ialltoallw(a, ones.data(), byte_steps.data(), types.data(), b, ones.data(), byte_steps.data(), types.data(), w, &request);
      });
  both(
      "MPI_Reduce_scatter", "MPI_Ireduce_scatter", 8 * all * p, [&] { MPI_Reduce_scatter(a, b, counts.data(), MPI_DOUBLE, MPI_SUM, w); },
      [&] { MPI_Ireduce_scatter(a, b, counts.data(), MPI_DOUBLE, MPI_SUM, w, &request); });
  both(
      "MPI_Reduce_scatter_block", "MPI_Ireduce_scatter_block", 24 * p * p,
      [&] { MPI_Reduce_scatter_block(a, b, 3, MPI_DOUBLE, MPI_SUM, w); },
      [&] { MPI_Ireduce_scatter_block(a, b, 3, MPI_DOUBLE, MPI_SUM, w, &request); });
}

void neighbourhoods() {
  MPI_Comm line;
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &line);
  MPI_Request request;
  const double* a = out.data();
  double* b = in.data();
  const int counts[2] = {3, 3}, places[2] = {0, 3};
  const MPI_Aint bytes[2] = {0, 24};
  const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_DOUBLE};
  const auto say = [&](const char* call, long each) { expect(call, size, 2 * each * size, "both", 1, each); };
  const auto wait = [&] { MPI_Wait(&request, MPI_STATUS_IGNORE); };
  say("MPI_Neighbor_allgather", 16), MPI_Neighbor_allgather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, line);
  say("MPI_Ineighbor_allgather", 16), MPI_Ineighbor_allgather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, line, &request), wait();
  say("MPI_Neighbor_allgatherv", 24), MPI_Neighbor_allgatherv(a, 3, MPI_DOUBLE, b, counts, places, MPI_DOUBLE, line);
  say("MPI_Ineighbor_allgatherv", 24), MPI_Ineighbor_allgatherv(a, 3, MPI_DOUBLE, b, counts, places, MPI_DOUBLE, line, &request), wait();
  say("MPI_Neighbor_alltoall", 32), MPI_Neighbor_alltoall(a, 4, MPI_DOUBLE, b, 4, MPI_DOUBLE, line);
  say("MPI_Ineighbor_alltoall", 32), MPI_Ineighbor_alltoall(a, 4, MPI_DOUBLE, b, 4, MPI_DOUBLE, line, &request), wait();
  say("MPI_Neighbor_alltoallv", 24), MPI_Neighbor_alltoallv(a, counts, places, MPI_DOUBLE, b, counts, places, MPI_DOUBLE, line);
  say("MPI_Ineighbor_alltoallv", 24);
  MPI_Ineighbor_alltoallv(a, counts, places, MPI_DOUBLE, b, counts, places, MPI_DOUBLE, line, &request), wait();
  say("MPI_Neighbor_alltoallw", 24), MPI_Neighbor_alltoallw(a, counts, bytes, types, b, counts, bytes, types, line);
  say("MPI_Ineighbor_alltoallw", 24), MPI_Ineighbor_alltoallw(a, counts, bytes, types, b, counts, bytes, types, line, &request), wait();
  MPI_Comm_free(&line);
  // A line that is not periodic: the ends have a neighbour less.
  const int open = 0;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &open, 0, &line);
  expect("MPI_Neighbor_allgather", size, 8L * 2 * (size - 1), "line", 1, 8);
  MPI_Neighbor_allgather(a, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, line);
  MPI_Comm_free(&line);
  // A graph where everyone sends to the next only.
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &line);
  ring("MPI_Neighbor_alltoall", 5);
  MPI_Neighbor_alltoall(a, 5, MPI_DOUBLE, b, 5, MPI_DOUBLE, line);
  MPI_Comm_free(&line);
}

#if FL_MPI4
void brought_by_4() {
  MPI_Request requests[2];
  const double* a = out.data();
  double* b = in.data();
  const long p = size;
  ring("MPI_Psend_init", 4 * 10, 2);  // 4 parts of 10, twice
  MPI_Psend_init(a, 4, 10, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
  MPI_Precv_init(b, 4, 10, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests + 1);
  for (int k = 0; k < 2; ++k) {
    MPI_Startall(2, requests);
    for (int part = 0; part < 4; ++part) MPI_Pready(part, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  for (MPI_Request& r : requests) MPI_Request_free(&r);
  ring("MPI_Isendrecv", 41);
  MPI_Isendrecv(a, 41, MPI_DOUBLE, next, 0, b, 41, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, requests);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  ring("MPI_Isendrecv_replace", 42);
  MPI_Isendrecv_replace(b, 42, MPI_DOUBLE, next, 0, previous, 0, MPI_COMM_WORLD, requests);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  expect("MPI_Allreduce_init", 2 * p, 2 * 40 * p);
  MPI_Allreduce_init(a, b, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
  for (int k = 0; k < 2; ++k) MPI_Start(requests), MPI_Wait(requests, MPI_STATUS_IGNORE);
  MPI_Request_free(requests);
  expect("MPI_Bcast_init", p, 16);
  MPI_Bcast_init(b, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, requests);
  MPI_Start(requests), MPI_Wait(requests, MPI_STATUS_IGNORE), MPI_Request_free(requests);
  MPI_Comm line;
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &line);
  expect("MPI_Neighbor_alltoall_init", 3 * p, 3 * 2 * 32 * p, "both", 3, 3 * 32);
  MPI_Neighbor_alltoall_init(a, 4, MPI_DOUBLE, b, 4, MPI_DOUBLE, line, MPI_INFO_NULL, requests);
  for (int k = 0; k < 3; ++k) MPI_Start(requests), MPI_Wait(requests, MPI_STATUS_IGNORE);
  MPI_Request_free(requests);
  MPI_Comm_free(&line);
}
#endif

#if MPI_VERSION >= 4 && !defined(OPEN_MPI)
void large_counts() {
  const MPI_Count n = 43;
  ring("MPI_Send", 43);
  MPI_Request request;
  MPI_Irecv_c(in.data(), n, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, &request);
  MPI_Send_c(out.data(), n, MPI_DOUBLE, next, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect("MPI_Allreduce", size, 43L * 8 * size);
  MPI_Allreduce_c(out.data(), in.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  std::vector<MPI_Count> ones(static_cast<std::size_t>(size), 1);
  std::vector<MPI_Aint> steps(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) steps[static_cast<std::size_t>(r)] = r;
  expect("MPI_Alltoallv", size, 8L * size * size);
  MPI_Alltoallv_c(out.data(), ones.data(), steps.data(), MPI_DOUBLE, in.data(), ones.data(), steps.data(), MPI_DOUBLE, MPI_COMM_WORLD);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Pcontrol(0);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
  two_sided();
  datatypes();
  communicators();
  one_sided();
  collectives();
  neighbourhoods();
#if FL_MPI4
  brought_by_4();
#endif
#if MPI_VERSION >= 4 && !defined(OPEN_MPI)
  large_counts();
#endif
  MPI_Pcontrol(0);
  void* gone;
  int bytes;
  MPI_Buffer_detach(&gone, &bytes);
  MPI_Finalize();
  return 0;
}
