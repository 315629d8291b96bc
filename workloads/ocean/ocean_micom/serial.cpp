// One thread: what every other variant is compared with.
#include "kernels/run.hpp"

using Serial = ocean_micom::Run<>;

FL_VARIANT(ocean_micom, Serial)
