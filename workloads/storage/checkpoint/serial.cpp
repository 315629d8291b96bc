// One process saves its field in one file.
#include "kernels/saving.hpp"

FL_VARIANT(checkpoint, checkpoint::Lone<>, .idle = true)
