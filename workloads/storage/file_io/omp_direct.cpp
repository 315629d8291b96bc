#include "kernels/threads.hpp"

FL_VARIANT(file_io, file_io::step_of_threads<file_io::Posix<O_DIRECT>>, .traits = {.threads = true, .direct = true}, .idle = true)
