// One core, a vector of quartets at a time: its lanes are quartets of the same bra, class and contraction depth.
#include "kernels/builder.hpp"

#include "firstlight/simd.hpp"

using Lanes = hartree_fock::Run<hartree_fock::OneCore<fl::simd::native<double>>>;
FL_VARIANT(hartree_fock, Lanes)
