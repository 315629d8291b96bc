// Does nothing.
#include "kernels/run.hpp"

namespace {

void step(hartree_fock::State&, fl::Index) {}

}  // namespace

FL_VARIANT(hartree_fock, step)
