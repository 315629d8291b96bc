// One kernel stores integrals, others gather them.
#include "kernels/on_device.hpp"

FL_VARIANT(hartree_fock, hartree_fock::Run<hartree_fock::OnDevice<hartree_fock::Split>>, .device = &fl::device::cuda)
