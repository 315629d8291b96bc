// The MPI library's own messages; their memory is seen in the growth of the process.
#include <mpi.h>

#include "messages.hpp"

namespace {

struct Library {
  std::vector<MPI_Request> requests;

  void open(messages::State& s) { s.resident = messages::resident(); }

  void step(messages::State& s, fl::Index) {
    fl::Index k = 0;
    for (const messages::Round& round : s.rounds) {
      messages::lag(s);
      requests.clear();
      for (const messages::Message& m : round.out)
        MPI_Isend(&s.words[m.begin], static_cast<int>(m.bytes), MPI_BYTE, m.peer, 0, MPI_COMM_WORLD, &requests.emplace_back());
      for (const messages::Message& m : round.in) {
        MPI_Status status;
        int bytes = 0;
        MPI_Recv(&s.inbox[m.place], static_cast<int>(m.bytes), MPI_BYTE, m.peer, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        s.lengths[static_cast<std::size_t>(k++)] = bytes;
      }
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }
  }
};

}  // namespace

FL_VARIANT(messages, Library, .traits = {.own = false})
