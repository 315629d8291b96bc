// One process copies its field; a thread writes the copy while the process computes.
#include "kernels/saving.hpp"

FL_VARIANT(checkpoint, checkpoint::Lone<checkpoint::InBackground>, .traits = {.asynchronous = true}, .idle = true)
