// PETSc: conjugate gradients preconditioned with its smoothed aggregation GAMG, on the same matrix and to the same tolerance.
//
// The tolerance is that of the other variants: KSP_NORM_NATURAL is sqrt(r^T C^-1 r). A step sets the preconditioner up and solves; the
// matrix is assembled once, before, and timed on its own.
#include <petscksp.h>

#include <memory>

#include "kernels/peers.hpp"

namespace {

struct Problem {
  Mat matrix;
  Vec right, solution;
  std::vector<double> right_values;
  double assembly;
};

// PETSc prints the reason of a failure on stderr.
void must(PetscErrorCode code) {
  if (code != 0) MPI_Abort(MPI_COMM_WORLD, 3);
}

// GAMG as it comes (PETSc's manual, chapter Algebraic Multigrid), smoothed by one symmetric sweep of Gauss-Seidel. Processor time to 1e-6
// at level 5 on one core 1.0 s; with the two steps of Chebyshev that are the default of 3.18 1.5 s; with one 1.1 s (at level 6 both about
// 4.7 s); with a threshold for weak couplings, without aggressive coarsening, or without smoothing the aggregates 2.2 to 3 s.
void begin() {
  must(PetscInitializeNoArguments());
  must(PetscOptionsSetValue(nullptr, "-mg_levels_ksp_type", "richardson"));
  must(PetscOptionsSetValue(nullptr, "-mg_levels_ksp_max_it", "1"));
  must(PetscOptionsSetValue(nullptr, "-mg_levels_pc_type", "sor"));
}

void end() { must(PetscFinalize()); }

struct Solution {
  std::unique_ptr<Problem> problem;

  void open(fem2d::State& s) {
    const fem2d::Clock clock;
    problem = std::make_unique<Problem>();
    Problem& p = *problem;
    const fem2d::Numbers numbers(s);
    const auto count = static_cast<PetscInt>(numbers.count());
    must(MatCreate(MPI_COMM_WORLD, &p.matrix));
    must(MatSetSizes(p.matrix, count, count, PETSC_DETERMINE, PETSC_DETERMINE));
    must(MatSetType(p.matrix, MATAIJ));
    std::vector<PetscInt> here, elsewhere;
    numbers.sizes(here, elsewhere);
    must(MatXAIJSetPreallocation(p.matrix, 1, here.data(), elsewhere.data(), nullptr, nullptr));
    p.right_values = fem2d::each_matrix_row<PetscInt>(s, numbers, [&](PetscInt row, PetscInt* columns, double* values, PetscInt entries) {
      must(MatSetValues(p.matrix, 1, &row, entries, columns, values, ADD_VALUES));
    });
    must(MatAssemblyBegin(p.matrix, MAT_FINAL_ASSEMBLY));
    must(MatAssemblyEnd(p.matrix, MAT_FINAL_ASSEMBLY));
    must(MatSetOption(p.matrix, MAT_SPD, PETSC_TRUE));
    must(MatCreateVecs(p.matrix, &p.solution, &p.right));
    p.assembly = clock.seconds();
  }

  KSP set_up(const fem2d::State& s) {
    const fl::In setting_up(fem2d::phases("setup"));
    Problem& p = *problem;
    PetscScalar* values;
    must(VecGetArrayWrite(p.right, &values));
    for (const double value : p.right_values) *values++ = s.g * value;
    values -= p.right_values.size();
    must(VecRestoreArrayWrite(p.right, &values));

    KSP solver;
    PC preconditioner;
    must(KSPCreate(MPI_COMM_WORLD, &solver));
    must(KSPSetOperators(solver, p.matrix, p.matrix));
    must(KSPSetType(solver, KSPCG));
    must(KSPSetNormType(solver, KSP_NORM_NATURAL));
    must(KSPSetTolerances(solver, std::pow(10.0, -static_cast<double>(s.digits)), 0, PETSC_DEFAULT, 1000));
    must(KSPGetPC(solver, &preconditioner));
    must(PCSetType(preconditioner, PCGAMG));
    must(KSPSetFromOptions(solver));
    must(KSPSetUp(solver));
    return solver;
  }

  fl::Index solve(KSP solver) {
    const fl::In solving(fem2d::phases("solve"));
    must(KSPSolve(solver, problem->right, problem->solution));
    PetscInt iterations = 0;
    must(KSPGetIterationNumber(solver, &iterations));
    return iterations;
  }

  void step(fem2d::State& s, fl::Index) {
    const Problem& p = *problem;
    KSP solver = set_up(s);
    s.outcome.iterations = solve(solver);
    s.outcome.assembled = p.assembly;
    must(KSPDestroy(&solver));

    const PetscScalar* found;
    must(VecGetArrayRead(p.solution, &found));
    fem2d::take_solution(s, fem2d::Numbers(s), found);
    must(VecRestoreArrayRead(p.solution, &found));
  }

  void close(fem2d::State&) {
    must(VecDestroy(&problem->solution));
    must(VecDestroy(&problem->right));
    must(MatDestroy(&problem->matrix));
    problem.reset();
  }
};

}  // namespace

FL_VARIANT(fem2d, Solution, .refuse = fem2d::needs_small_indices, .start = begin, .stop = end,
           .traits = {.another_preconditioner = true, .library = true, .work = fem2d::of_a_library})
