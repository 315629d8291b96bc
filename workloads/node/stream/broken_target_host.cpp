// Right results from the wrong place: it believes that there is a device, and everything runs on the host.
#include "target.hpp"

#include "firstlight/variant.hpp"

namespace {

constexpr fl::device::Runtime blind{fl::device::openmp.name,   [] { return std::string(); },
                                    [] { return 1; },          [](int) { omp_set_default_device(omp_get_initial_device()); },
                                    fl::device::openmp_forget, fl::device::openmp_seen};

void step(stream::State& s, fl::Index) { stream::target::step(s); }

}  // namespace

FL_VARIANT(stream, step, .setup = FL_HOOK(stream, stream::target::upload), .finish = FL_HOOK(stream, stream::target::release),
           .device = &blind)
