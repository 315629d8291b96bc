// One thread, vectors: Stone's factors and corrections in 32 bits, what is to be corrected in 64.
#include "../vector_rows.hpp"
#include "kernels/kernels.hpp"

namespace {

using sip = cfd_solver::Stone<cfd::Alone, cfd::VectorRows, float>;

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, sip)};

}  // namespace

FL_KERNELS(cfd_solver, table, .traits = {.mixed = true, .tolerance = 1e-5, .history_tolerance = 1e-4, .iterations_apart = 1})
