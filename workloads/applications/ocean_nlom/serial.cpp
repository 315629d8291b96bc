// One thread: what every other variant is compared with.
#include "run.hpp"

using Serial = ocean_nlom::Run<>;

FL_VARIANT(ocean_nlom, Serial)
