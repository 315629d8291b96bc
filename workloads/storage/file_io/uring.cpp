#include "kernels/queued.hpp"

FL_VARIANT(file_io, file_io::queued_step<0>, .refuse = &file_io::Ring::refusal, .idle = true)
