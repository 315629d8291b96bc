// The job seen by the harness: one process, or the ranks of MPI_COMM_WORLD. Two source files implement it; the build links one.
#pragma once

#include <cstddef>
#include <string>

#include "firstlight/variant.hpp"

namespace fl::comm {

void start(int& argc, char**& argv, Threads wanted);  // exits with status 3 when MPI cannot give `wanted`
void finish();
[[noreturn]] void abort(int status);  // ends every rank

bool with_mpi();  // whether this program has MPI; also before start()
int rank();
int size();
int nodes();            // how many shared-memory nodes take part
int node();             // the number of this rank's node
int place();            // this rank's number among those of its node
std::string library();  // version string of the MPI library, "" without MPI

void barrier();
void phase(int level);  // MPI_Pcontrol: a profiler then counts what follows apart; it costs a call of an empty function
void broadcast(void* data, std::size_t bytes);                                     // from rank 0
bool any(bool mine);                                                               // whether it is true on any rank
void gather(const void* mine, std::size_t bytes, void* at_root);                   // `at_root` contains size() * bytes on rank 0
void gather_first(int ranks, const void* mine, std::size_t bytes, void* at_root);  // of so many ranks, no more than there are
void add_up(double* mine, int count);                                              // the same of their sums
void shift(const void* mine, std::size_t bytes, int to, int from, void* theirs);   // all ranks, around rings
void maximum(double* mine, int count);                                             // of each number over the ranks, on every rank

}  // namespace fl::comm
