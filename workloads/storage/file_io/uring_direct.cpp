#include "kernels/queued.hpp"

FL_VARIANT(file_io, file_io::queued_step<O_DIRECT>, .refuse = &file_io::Ring::refusal, .traits = {.direct = true}, .idle = true)
