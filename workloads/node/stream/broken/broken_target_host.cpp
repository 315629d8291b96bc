// Right results from the wrong place: it believes that there is a device, and everything runs on the host.
#include "kernels/target.hpp"

#include "firstlight/variant.hpp"

namespace {

constexpr fl::device::Runtime blind{fl::device::openmp.name,   [] { return std::string(); },
                                    [] { return 1; },          [](int) { omp_set_default_device(omp_get_initial_device()); },
                                    fl::device::openmp_forget, fl::device::openmp_seen};

}  // namespace

FL_VARIANT(stream, stream::target::Device, .device = &blind)
