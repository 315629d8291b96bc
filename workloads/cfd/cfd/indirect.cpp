// One thread, a cell after the other; equations and solvers find the next cells by number, as R2's program does. Multigrid's coarse grids are
// those of a structured grid.
#include "../indirect_rows.hpp"
#include "kernels/simple.hpp"

namespace {

using Numbered = cfd::Simple<cfd::Alone, cfd::IndirectRows>;

std::string one_grid(const cfd::Params& p) {
  return p.pressure == cfd::Method::mgcg ? "indirect has one grid; use pressure=sip, red_black or iccg" : "";
}

}  // namespace

FL_VARIANT(cfd, Numbered, .refuse = one_grid, .traits = {.indirect = true})
