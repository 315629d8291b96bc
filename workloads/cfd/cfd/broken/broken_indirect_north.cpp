// Wrong on purpose: the equations, not their solvers, take the cell above for the one to the north.
#include "../indirect_rows.hpp"
#include "kernels/simple.hpp"

namespace {

struct Wrong : cfd::IndirectRows {
  const std::int32_t* numbers(std::size_t place) const { return IndirectRows::numbers(place == cfd::N ? cfd::T : place); }
};

using Run = cfd::Simple<cfd::Alone, Wrong>;

}  // namespace

FL_VARIANT(cfd, Run, .traits = {.indirect = true})
