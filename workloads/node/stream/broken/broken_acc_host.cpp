// Right results from the wrong place: it believes that there is a device, and everything runs on the host.
#include "kernels/acc.hpp"

#include "firstlight/variant.hpp"

namespace {

constexpr fl::device::Runtime blind{fl::device::openacc.name,   [] { return std::string(); },
                                    [] { return 1; },           [](int) { acc_set_device_type(acc_device_host); },
                                    fl::device::openacc_forget, fl::device::openacc_seen};

}  // namespace

FL_VARIANT(stream, stream::acc::Device, .device = &blind)
