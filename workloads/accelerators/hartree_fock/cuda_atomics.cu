// A thread a quartet, which adds number by number to G: what is written first.
#include "kernels/on_device.hpp"

FL_VARIANT(hartree_fock, hartree_fock::Run<hartree_fock::OnDevice<hartree_fock::Fused<hartree_fock::Atomically>>>,
           .device = &fl::device::cuda)
