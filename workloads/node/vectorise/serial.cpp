// The loops as written; `novec` is this file with the vectoriser off.
#include "kernels.hpp"

FL_KERNELS(vectorise, vectorise::table)
