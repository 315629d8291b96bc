#include "firstlight/variant.hpp"
#include "kernels/run.hpp"

using Serial = rsdft::Run<rsdft::PlainStencil, rsdft::PlainProducts>;
FL_VARIANT(rsdft, Serial)
