// Waits for the word of the first step, and remembers it; then the ranks know what is to come.
#include "waiting.hpp"

namespace {

struct Wait {
  std::uint64_t kept = 0;
  bool known = false;

  void step(waiting::State& s, fl::Index iteration) {
    if (s.team.rank == 0) {
      waiting::sleep(s);
      if (!known) waiting::send_to_all(s, iteration);
    } else {
      waiting::begin(s);
      if (!known) MPI_Recv(&kept, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      s.word = kept;
      waiting::end(s);
    }
    known = true;
  }
};

}  // namespace

FL_VARIANT(waiting, Wait, .idle = true)
