#include "kernels/blocking.hpp"

FL_VARIANT(file_io, file_io::step_alone<file_io::Posix<0>>, .idle = true)
