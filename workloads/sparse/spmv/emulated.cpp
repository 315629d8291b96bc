// What the kernels for a GPU do, as fibers of a processor. It measures nothing; by it the checks see what runs on a GPU where there is none.
#include "kernels/emulated_machine.hpp"

#include "firstlight/variant.hpp"

namespace {

using Formats = spmv::DeviceFormats<spmv::EmulatedMachine<>>;

}  // namespace

FL_KERNELS(spmv, Formats::table)
