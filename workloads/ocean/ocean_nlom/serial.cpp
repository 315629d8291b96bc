// One thread: what every other variant is compared with.
#include "kernels/semi.hpp"

using Serial = ocean_nlom::Semi<>;

FL_VARIANT(ocean_nlom, Serial)
