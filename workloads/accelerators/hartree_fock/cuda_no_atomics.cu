// The same without atomics, to measure their cost: threads overwrite each other's sums.
#include "kernels/on_device.hpp"

FL_VARIANT(hartree_fock, hartree_fock::Run<hartree_fock::OnDevice<hartree_fock::Fused<hartree_fock::Racing>>>,
           .unverified = "its sums are wrong on purpose: threads add without atomics, to show how much time atomics add",
           .device = &fl::device::cuda)
