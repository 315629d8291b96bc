// Resumes a run from its files as if it began, by a first step over one length instead of two.
#include "kernels/semi.hpp"

namespace {

struct Wrong : ocean_nlom::Right {
  static constexpr bool continues = false;
};
using Broken = ocean_nlom::Semi<fl::grid::OneProcess, fl::grid::Alone, Wrong>;
std::string restarts_only(const ocean_nlom::Params& p) { return p.restart > 0 ? "" : "this variant needs a restart"; }

}  // namespace

FL_VARIANT(ocean_nlom, Broken, .refuse = restarts_only)
