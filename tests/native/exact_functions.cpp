// Exports native/harness/include/firstlight/exact.hpp with C linkage for tests.
#include "firstlight/exact.hpp"

extern "C" {

double value(int rank, long long word, long long iteration) { return fl::exact::value(fl::exact::weight_of(rank), word, iteration); }

void values(int ranks, long long word, long long iteration, double* out) {
  for (int rank = 0; rank < ranks; ++rank) out[rank] = value(rank, word, iteration);
}

double sum(int ranks, long long word, long long iteration) { return fl::exact::Ranks(ranks).sum(word, iteration); }

}  // extern "C"
