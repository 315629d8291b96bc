// The ranks of the job as a team of the library.
#pragma once

#include "firstlight/checkpoint/mpi_field.hpp"
#include "saving.hpp"

namespace checkpoint {

template <template <class, class> class Step = Saving, class Ways = store::Right>
struct OfRanks : Step<store::Store<store::Ranks, Ways>, store::Ranks> {
  OfRanks() { this->team = store::Ranks(MPI_COMM_WORLD); }
};

template <class Ways = store::Right>
struct OfOneFile : Saving<store::SharedFile<Ways>, store::Ranks> {
  OfOneFile() { this->team = store::Ranks(MPI_COMM_WORLD); }
};

}  // namespace checkpoint
