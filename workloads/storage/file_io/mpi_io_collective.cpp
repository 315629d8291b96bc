#include "kernels/shared.hpp"

FL_VARIANT(file_io, file_io::step_alone<file_io::MpiFile<file_io::Transfers::collective>>, .traits = {.collective = true}, .idle = true)
