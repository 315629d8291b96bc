// hypre: conjugate gradients preconditioned with BoomerAMG (Henson and Yang 2002), on the same matrix and to the same tolerance.
//
// The tolerance is that of the other variants: HYPRE_PCGSetTwoNorm(0) compares sqrt(r^T C^-1 r) with its initial value. A step sets the
// preconditioner up and solves; the matrix is assembled once, before, and timed on its own.
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>

#include <memory>

#include "kernels/peers.hpp"

namespace {

struct Problem {
  HYPRE_IJMatrix matrix;
  HYPRE_IJVector right, solution;
  std::vector<HYPRE_BigInt> rows;
  std::vector<double> right_values, values;
  double assembly;
};

// HMIS coarsening, extended+i interpolation with at most 4 entries a row, threshold 0.25, l1 Gauss-Seidel forward down and backward up:
// the defaults of 2.26 (De Sterck, Yang, Heys 2006; De Sterck et al. 2008; Baker et al. 2011), written out, and one level of aggressive
// coarsening. The least processor time to 1e-6 at level 6 on one core (1.6 s) of those tried: without the aggressive level 3 s; symmetric
// Gauss-Seidel, l1-Jacobi, two aggressive levels 1.8 to 2.5 s; PMIS, threshold 0.5, CF order, Chebyshev no better.
HYPRE_Solver boomeramg() {
  HYPRE_Solver amg;
  HYPRE_BoomerAMGCreate(&amg);
  HYPRE_BoomerAMGSetMaxIter(amg, 1);
  HYPRE_BoomerAMGSetTol(amg, 0);
  HYPRE_BoomerAMGSetCoarsenType(amg, 10);
  HYPRE_BoomerAMGSetInterpType(amg, 6);
  HYPRE_BoomerAMGSetPMaxElmts(amg, 4);
  HYPRE_BoomerAMGSetStrongThreshold(amg, 0.25);
  HYPRE_BoomerAMGSetCycleRelaxType(amg, 13, 1);
  HYPRE_BoomerAMGSetCycleRelaxType(amg, 14, 2);
  HYPRE_BoomerAMGSetAggNumLevels(amg, 1);
  return amg;
}

template <class Object>
Object object(HYPRE_IJVector vector) {
  void* found = nullptr;
  HYPRE_IJVectorGetObject(vector, &found);
  return static_cast<Object>(found);
}

void begin() { HYPRE_Init(); }

void end() { HYPRE_Finalize(); }

struct Solution {
  std::unique_ptr<Problem> problem;

  void open(fem2d::State& s) {
    const fem2d::Clock clock;
    problem = std::make_unique<Problem>();
    Problem& p = *problem;
    const fem2d::Numbers numbers(s);
    const auto low = static_cast<HYPRE_BigInt>(numbers.first()), high = static_cast<HYPRE_BigInt>(numbers.first() + numbers.count() - 1);
    HYPRE_IJMatrixCreate(MPI_COMM_WORLD, low, high, low, high, &p.matrix);
    HYPRE_IJMatrixSetObjectType(p.matrix, HYPRE_PARCSR);
    std::vector<HYPRE_Int> here, elsewhere;
    numbers.sizes(here, elsewhere);
    HYPRE_IJMatrixSetDiagOffdSizes(p.matrix, here.data(), elsewhere.data());
    HYPRE_IJMatrixInitialize(p.matrix);
    p.right_values =
        fem2d::each_matrix_row<HYPRE_BigInt>(s, numbers, [&](HYPRE_BigInt row, HYPRE_BigInt* columns, double* values, HYPRE_Int count) {
          HYPRE_IJMatrixAddToValues(p.matrix, 1, &count, &row, columns, values);
        });
    HYPRE_IJMatrixAssemble(p.matrix);
    for (HYPRE_IJVector* v : {&p.right, &p.solution}) {
      HYPRE_IJVectorCreate(MPI_COMM_WORLD, low, high, v);
      HYPRE_IJVectorSetObjectType(*v, HYPRE_PARCSR);
      HYPRE_IJVectorInitialize(*v);
      HYPRE_IJVectorAssemble(*v);
    }
    for (HYPRE_BigInt row = low; row <= high; ++row) p.rows.push_back(row);
    p.values.resize(p.rows.size());
    p.assembly = clock.seconds();
  }

  void set(HYPRE_IJVector vector, const std::vector<double>& values) {
    HYPRE_IJVectorSetValues(vector, static_cast<HYPRE_Int>(values.size()), problem->rows.data(), values.data());
    HYPRE_IJVectorAssemble(vector);
  }

  // The system of a step, and what solves it.
  struct System {
    HYPRE_ParCSRMatrix matrix;
    HYPRE_ParVector right, solution;
    HYPRE_Solver amg, pcg;
  };

  System set_up(const fem2d::State& s) {
    const fl::In setting_up(fem2d::phases("setup"));
    Problem& p = *problem;
    for (std::size_t k = 0; k < p.values.size(); ++k) p.values[k] = s.g * p.right_values[k];
    set(p.right, p.values);
    std::fill(p.values.begin(), p.values.end(), 0.0);
    set(p.solution, p.values);
    void* found = nullptr;
    HYPRE_IJMatrixGetObject(p.matrix, &found);
    auto* matrix = static_cast<HYPRE_ParCSRMatrix>(found);
    auto *right = object<HYPRE_ParVector>(p.right), *solution = object<HYPRE_ParVector>(p.solution);

    HYPRE_Solver amg = boomeramg(), pcg;
    HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &pcg);
    HYPRE_PCGSetMaxIter(pcg, 1000);
    HYPRE_PCGSetTol(pcg, std::pow(10.0, -static_cast<double>(s.digits)));
    HYPRE_PCGSetTwoNorm(pcg, 0);
    HYPRE_PCGSetRelChange(pcg, 0);
    HYPRE_PCGSetPrecond(pcg, reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSolve),
                        reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSetup), amg);
    HYPRE_ParCSRPCGSetup(pcg, matrix, right, solution);
    return {matrix, right, solution, amg, pcg};
  }

  fl::Index solve(const System& system) {
    const fl::In solving(fem2d::phases("solve"));
    Problem& p = *problem;
    HYPRE_ParCSRPCGSolve(system.pcg, system.matrix, system.right, system.solution);
    HYPRE_Int iterations = 0;
    HYPRE_PCGGetNumIterations(system.pcg, &iterations);
    HYPRE_IJVectorGetValues(p.solution, static_cast<HYPRE_Int>(p.rows.size()), p.rows.data(), p.values.data());
    return iterations;
  }

  void step(fem2d::State& s, fl::Index) {
    const System system = set_up(s);
    s.outcome.iterations = solve(system);
    s.outcome.assembled = problem->assembly;
    HYPRE_ParCSRPCGDestroy(system.pcg);
    HYPRE_BoomerAMGDestroy(system.amg);
    fem2d::take_solution(s, fem2d::Numbers(s), problem->values.data());
  }

  void close(fem2d::State&) {
    HYPRE_IJVectorDestroy(problem->solution);
    HYPRE_IJVectorDestroy(problem->right);
    HYPRE_IJMatrixDestroy(problem->matrix);
    problem.reset();
  }
};

}  // namespace

FL_VARIANT(fem2d, Solution, .refuse = fem2d::needs_small_indices, .start = begin, .stop = end,
           .traits = {.another_preconditioner = true, .library = true, .work = fem2d::of_a_library})
