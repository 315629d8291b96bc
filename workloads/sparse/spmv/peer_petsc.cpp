// PETSc's MatMult with a matrix of type AIJ (compressed rows); then VecScale, for it has no factor.
#include <petscmat.h>

#include "kernels/csr.hpp"

#include "firstlight/variant.hpp"

namespace {

// PETSc prints the reason of a failure on stderr.
void must(PetscErrorCode code) {
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, 3);
}

void begin() { must(PetscInitializeNoArguments()); }
void end() { must(PetscFinalize()); }

struct csr {
  Mat a = nullptr;
  Vec x = nullptr, y = nullptr;

  void open(spmv::State& s) {
    const spmv::Csr rows(s);  // columns of the whole matrix
    const auto own = static_cast<PetscInt>(s.own.size()), all = static_cast<PetscInt>(s.matrix.rows());
    const std::vector<PetscInt> start(rows.start.data(), rows.start.data() + rows.start.size());
    const std::vector<PetscInt> column(rows.column.data(), rows.column.data() + rows.column.size());
    must(MatCreateMPIAIJWithArrays(MPI_COMM_WORLD, own, own, all, all, start.data(), column.data(), rows.value.data(), &a));
    must(VecCreateMPIWithArray(MPI_COMM_WORLD, 1, own, all, s.x.data(), &x));
    must(VecCreateMPIWithArray(MPI_COMM_WORLD, 1, own, all, s.y.data(), &y));
  }
  void step(spmv::State& s, fl::Index) {
    must(MatMult(a, x, y));
    must(VecScale(y, s.scale));
  }
  void close(spmv::State&) {
    must(VecDestroy(&y));
    must(VecDestroy(&x));
    must(MatDestroy(&a));
  }
};

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, csr)};

}  // namespace

FL_KERNELS(spmv, table, .start = begin, .stop = end)
