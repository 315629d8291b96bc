#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

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
  int first = rank();
  MPI_Bcast(&first, 1, MPI_INT, 0, shared);
  MPI_Comm_rank(shared, &place_on_node);
  MPI_Comm_free(&shared);
  std::vector<int> firsts(static_cast<std::size_t>(size()));
  MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  node_count = 0;
  for (int r = 0; r < size(); ++r) {
    if (firsts[static_cast<std::size_t>(r)] == r) {
      if (r == first) node_number = node_count;
      ++node_count;
    }
  }
}

}  // namespace

void start(int& argc, char**& argv, Threads wanted) {
  const int level = wanted == Threads::multiple     ? MPI_THREAD_MULTIPLE
                    : wanted == Threads::serialized ? MPI_THREAD_SERIALIZED
                                                    : MPI_THREAD_FUNNELED;
  int given = 0;
  MPI_Init_thread(&argc, &argv, level, &given);
  if (given < level) {
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
  int one = mine ? 1 : 0, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum > 0;
}

void gather(const void* mine, std::size_t bytes, void* at_root) {
  MPI_Gather(mine, static_cast<int>(bytes), MPI_BYTE, at_root, static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD);
}

}  // namespace fl::comm
