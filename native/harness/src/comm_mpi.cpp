#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "comm.hpp"

namespace fl::comm {
namespace {

int node_count = 1;
int node_number = 0;
int place_on_node = 0;

// Nodes are numbered by their first rank, so the numbers are the same everywhere and in every launch.
void find_nodes() {
  MPI_Comm shared = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
  MPI_Comm_rank(shared, &place_on_node);
  // The first rank of each node counts the nodes before its own, and sends the count to the others.
  const int one = place_on_node == 0 ? 1 : 0;
  int through = 0;
  MPI_Scan(&one, &through, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&one, &node_count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  node_number = through - 1;
  MPI_Bcast(&node_number, 1, MPI_INT, 0, shared);
  MPI_Comm_free(&shared);
}

}  // namespace

void start(int& argc, char**& argv, Threads wanted) {
  const int level = wanted == Threads::multiple     ? MPI_THREAD_MULTIPLE
                    : wanted == Threads::serialized ? MPI_THREAD_SERIALIZED
                                                    : MPI_THREAD_FUNNELED;
  int given = 0;
  MPI_Init_thread(&argc, &argv, level, &given);
  if (any(given < level)) {
    if (rank() == 0)
      std::fprintf(stderr, "this MPI library does not offer the thread level that the variant needs; choose another with --mpi\n");
    MPI_Finalize();
    std::exit(3);
  }
  find_nodes();
}

// The end of OpenSHMEM is the end of the MPI below it.
void finish() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) MPI_Finalize();
}

void abort(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

bool with_mpi() { return true; }
int rank() {
  int r = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  return r;
}

int size() {
  int s = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &s);
  return s;
}

int nodes() { return node_count; }
int node() { return node_number; }
int place() { return place_on_node; }

std::string library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  return std::string(text, static_cast<std::size_t>(length));
}

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

void phase(int level) { MPI_Pcontrol(level); }

void broadcast(void* data, std::size_t bytes) { MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD); }

bool any(bool mine) {
  int one = mine ? 1 : 0, most = 0;
  MPI_Allreduce(&one, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return most > 0;
}

void gather(const void* mine, std::size_t bytes, void* at_root) {
  MPI_Gather(mine, static_cast<int>(bytes), MPI_BYTE, at_root, static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD);
}

void gather_first(int ranks, const void* mine, std::size_t bytes, void* at_root) {
  constexpr int tag = 0;
  if (rank() > 0 && rank() < ranks) MPI_Send(mine, static_cast<int>(bytes), MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  if (rank() > 0) return;
  std::memcpy(at_root, mine, bytes);
  for (int r = 1; r < ranks; ++r)
    MPI_Recv(static_cast<char*>(at_root) + static_cast<std::size_t>(r) * bytes, static_cast<int>(bytes), MPI_BYTE, r, tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

// In parts, for an MPI library counts bytes in an int.
void shift(const void* mine, std::size_t bytes, int to, int from, void* theirs) {
  constexpr std::size_t most = std::size_t{1} << 30;
  constexpr int tag = 0;
  for (std::size_t done = 0; done < bytes; done += most) {
    const int size = static_cast<int>(std::min(bytes - done, most));
    MPI_Sendrecv(static_cast<const char*>(mine) + done, size, MPI_BYTE, to, tag, static_cast<char*>(theirs) + done, size, MPI_BYTE, from,
                 tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

void add_up(double* mine, int count) { MPI_Allreduce(MPI_IN_PLACE, mine, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
void maximum(double* mine, int count) { MPI_Allreduce(MPI_IN_PLACE, mine, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); }

}  // namespace fl::comm
