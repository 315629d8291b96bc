// The kernels of cuda_atomics.cu on a processor.
#include "blocks.hpp"

FL_VARIANT(hartree_fock, hartree_fock::Run<hartree_fock::OnFibers<hartree_fock::Fused<hartree_fock::Atomically>>>)
