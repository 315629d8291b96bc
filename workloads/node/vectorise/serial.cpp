// The loops as written; `novec` is this file with the vectoriser off.
#include "kernels/kernels.hpp"

FL_KERNELS(vectorise, vectorise::table)
