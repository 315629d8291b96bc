#include "firstlight/variant.hpp"
#include "run.hpp"

using Serial = rsdft::Run<rsdft::PlainStencil, rsdft::PlainProducts>;
FL_VARIANT(rsdft, Serial)
