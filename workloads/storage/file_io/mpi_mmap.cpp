#include "kernels/mapped.hpp"

FL_VARIANT(file_io, file_io::step_alone<file_io::Mapped>, .idle = true)
