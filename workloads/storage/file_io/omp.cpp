#include "kernels/threads.hpp"

FL_VARIANT(file_io, file_io::step_of_threads<file_io::Posix<0>>, .traits = {.threads = true}, .idle = true)
