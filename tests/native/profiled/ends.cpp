// Ends in the way that its argument names, after each rank sent 24 bytes to the next: the correct profile is then known.
#include <mpi.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

int rank, size;

void ring(int tag) {
  double out[3] = {}, in[3];
  MPI_Sendrecv(out, 3, MPI_DOUBLE, (rank + 1) % size, tag, in, 3, MPI_DOUBLE, (rank + size - 1) % size, tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "well";
  int given;
  MPI_Init_thread(&argc, &argv, how == "threads" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (how == "threads") {
    if (given < MPI_THREAD_MULTIPLE) return 77;
    std::vector<std::thread> threads;
    for (int wave = 0; wave < 2; ++wave) {  // threads that come after others have ended
      for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
          for (int k = 0; k < 50; ++k) ring(t);
        });
      for (std::thread& t : threads) t.join();
      threads.clear();
    }
  }
  ring(9);
  if (how == "leave") {  // a communicator that is never freed
    MPI_Comm turned;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    int empty = 0;
    MPI_Request request;
    MPI_Irecv(&empty, 0, MPI_INT, rank, 0, turned, &request);
    MPI_Send(&empty, 0, MPI_INT, rank, 0, turned);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (how == "fork") {
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    waitpid(child, nullptr, 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (how == "abort") MPI_Abort(MPI_COMM_WORLD, 3);
  if (how == "exit") std::exit(0);
  if (how == "kill" && rank == 1) {
    sleep(1);  // the others are in MPI_Finalize by then
    raise(SIGKILL);
  }
  if (how == "levels")
    for (int level = 2; level < 400; ++level) MPI_Pcontrol(level);
  MPI_Finalize();
  if (how == "late") return 5;
  return 0;
}
