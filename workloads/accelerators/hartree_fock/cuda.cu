// Tuned against register spills and for fewer atomics.
#include "kernels/on_device.hpp"
#include "kernels/tuned.hpp"

FL_VARIANT(hartree_fock, hartree_fock::Run<hartree_fock::OnDevice<hartree_fock::Tuned>>, .device = &fl::device::cuda)
