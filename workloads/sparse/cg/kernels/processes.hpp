// Parties that are processes: sums by MPI_Iallreduce, which the library may take on while the party works.
#pragma once

#include <mpi.h>

#include <optional>

#include "../halo.hpp"
#include "progress.hpp"
#include "solver.hpp"

namespace cg {

struct Process {
  const Rows& a;
  const Sweeps& sweeps;
  sparse::Halo& halo;
  fl::Part own = {};
  MPI_Request request = MPI_REQUEST_NULL;

  void multiply(double* x, double* y) const {
    const fl::In in(phases("products"));
    halo.start(x);
    halo.finish(x);
    a.multiply(x, y, own);
  }
  void precondition(const double* r, double* z) const { sweeps.apply(r, z, own); }
  void start(double* values, int count) { MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request); }
  void finish() {
    const fl::In in(phases("sums"));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
};

template <class Party = Process>
struct Processes {
  std::optional<sparse::Halo> halo;
  std::optional<Rows> a;
  std::optional<Sweeps> sweeps;
  std::optional<Vectors> vectors;

  void open(State& s) {
    halo.emplace(s.matrix, s.own, s.team, s.own.size());
    a.emplace(s.matrix, s.own, [](fl::Index, fl::Index) { return true; }, [&](fl::Index c) { return halo->local(c); });
    sweeps.emplace(s, 1);
    vectors.emplace(cg::vectors(s.p), halo->size());
    const bool hides = s.p.method == Method::gropp || s.p.method == Method::pipelined || s.p.method == Method::replaced;
    if (hides && s.team.ranks > 1) measure_progress(s);
  }
  void step(State& s, fl::Index) {
    const fl::In in(phases("iterations"));
    Party party{*a, *sweeps, *halo, {0, s.own.size()}};
    s.outcome = Solver<Party>(s, party, *vectors).solve();
  }
  void close(State&) { halo.reset(); }

 private:
  void measure_progress(State& s) {
    fl::Array<double> x(halo->size()), y(s.own.size());
    std::fill_n(x.data(), x.size(), 1.);
    const auto multiply = [&] { a->multiply(x.data(), y.data(), {0, s.own.size()}); };
    const Progress behind_products = progress(multiply), behind_exchanges = progress([&] {
                                                           halo->start(x.data());
                                                           halo->finish(x.data());
                                                           multiply();
                                                         });
    s.hidden = behind_products.hidden;
    s.hidden_by_exchange = behind_exchanges.hidden;
    s.wrong_sums = behind_products.wrong_sums + behind_exchanges.wrong_sums;
  }
};

}  // namespace cg
