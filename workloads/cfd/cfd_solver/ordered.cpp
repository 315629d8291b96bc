// One thread, vectors: red-black relaxation in red-black order, each colour's cells side by side in memory.
#include "../ordered_red_black.hpp"
#include "kernels/kernels.hpp"

namespace {

using cfd_solver::Marks, cfd_solver::Run;
template <class Real>
using Ordered = Run<cfd::OrderedRedBlack<Marks, cfd::Alone, Real>, Real>;
using red_black = cfd::Either<Ordered<double>, Ordered<float>>;

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, red_black)};

}  // namespace

FL_KERNELS(cfd_solver, table, .traits = {.colours_together = true, .ordered = true, .narrow = true})
