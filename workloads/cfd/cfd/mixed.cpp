// One thread, vectors; Stone's factors and corrections of the pressure in 32 bits, everything else in 64.
#include "../vector_rows.hpp"
#include "kernels/simple.hpp"

namespace {

using Mixed = cfd::Simple<cfd::Alone, cfd::VectorRows, true, cfd::FlowSides, float>;

std::string stones_alone(const cfd::Params& p) {
  return p.pressure == cfd::Method::sip ? "" : "mixed has factors of 32 bits for Stone's solver only; use pressure=sip";
}

}  // namespace

FL_VARIANT(cfd, Mixed, .refuse = stones_alone, .traits = {.colours_together = true, .mixed = true})
