// Conjugate gradients over the passes of sweep.hpp, for one block among `Team`'s parties. Every party calls it.
//
// A Team has
//   double sum(double);              of all parties, the same on all
//   void sum(double*, fl::Index);
//   void swap(Block&);               after which every link's `arriving` contains what its other end has packed
//   or void start(); void finish();  the same in two halves, with work between them
#pragma once

#include "shared.hpp"
#include "sweep.hpp"

namespace fem2d {

// The scalars of Chronopoulos and Gear (1989): the energy of the direction follows from that of the preconditioned residual, so that both
// sums of an iteration travel in one.
struct OneSum {
  static constexpr fl::Index most = 1000;  // iterations

  // Receives the sums of an iteration; returns whether the next one is to be computed, with alpha and beta.
  bool goes_on(double rho, double energy, fl::Index digits, Outcome& out) {
    out.see(rho);
    if (out.iterations == 0) first = rho;
    if (!(rho > first * std::pow(10.0, -2.0 * static_cast<double>(digits))) || out.iterations == most) return false;
    beta = before == 0 ? 0 : rho / before;
    alpha = rho / (energy - (before == 0 ? 0 : beta * rho / alpha));
    before = rho;
    return true;
  }

  double first = 0, before = 0, alpha = 0, beta = 0;
};

template <class Team, class Real = double>  // Real: of the coarser levels
class Solver {
 public:
  Solver(State& state, std::size_t mine, Team& team)
      : s_(state),
        b_(state.blocks[mine]),
        load_(state.manufactured ? &state.load[mine] : nullptr),
        team_(team),
        sweep_(b_, state.level, state.cut.base),
        shared_(b_) {}

  // The classic form: rho and s^T A s are summed one after the other; the direction is written before its energy is known.
  Outcome classic() {
    const fl::In solving(phases("solve"));
    double rho = start();
    const double stop = rho * std::pow(10.0, -2.0 * static_cast<double>(s_.digits));
    for (double before = 0; out_.see(rho), rho > stop && out_.iterations < most; ++out_.iterations) {
      const double energy = sum(direction(before == 0 ? 0 : rho / before));
      before = rho;
      rho = gather(update(rho / energy));
    }
    return finish();
  }

  // The classic form with a matrix in memory and its product with it.
  template <class Matrix>
  Outcome stored(const Matrix& matrix, Grid& q) {
    const fl::In solving(phases("solve"));
    double rho = start();
    const double stop = rho * std::pow(10.0, -2.0 * static_cast<double>(s_.digits));
    for (double before = 0; out_.see(rho), rho > stop && out_.iterations < most; ++out_.iterations) {
      const double beta = before == 0 ? 0 : rho / before;
      for (fl::Index j = 0; j <= b_.s.ny; ++j) {
        sweep_.direction_row(j, beta);
        shared_.restore(j);
      }
      double energy = 0;
      for (fl::Index j = 0; j <= b_.s.ny; ++j) energy += matrix.apply_row(j, b_.s, q.row(j));
      const double alpha = rho / sum(energy);
      before = rho;
      double squares = 0;
      sweep_.clear_base();
      for (fl::Index j = 0; j <= b_.r.ny; ++j) {
        squares += sweep_.update_row(j, alpha, q.row(j));
        squares += sweep_.restrict_behind(j);
      }
      rho = gather(squares);
    }
    return finish();
  }

  // One pass makes the direction, applies the operator to it and moves x and r.
  Outcome chronopoulos_gear() {
    const fl::In solving(phases("solve"));
    double scalars[2] = {start_local(), 0};
    OneSum next;
    for (;; ++out_.iterations) {
      scalars[1] = preconditioned_energy();
      sum(scalars, 2);
      if (!next.goes_on(scalars[0] + coarse_, scalars[1], s_.digits, out_)) break;
      scalars[0] = gather_local(advance(next.alpha, next.beta));
    }
    return finish();
  }

 private:
  static constexpr fl::Index most = OneSum::most;
  static constexpr bool overlapped = requires(Team& team) { team.start(); };

  // The start vector, its residual, restricted; returns rho.
  double start() { return sum(start_local()) + coarse_; }

  double start_local() {
    b_.x.clear();
    if (b_.top) std::fill_n(b_.x.row(b_.x.ny), b_.x.nx + 1, s_.g);
    double squares = 0;
    sweep_.clear_base();
    for (fl::Index j = 0; j <= b_.r.ny; ++j) {
      double* r = b_.r.row(j);
      if (sweep_.dirichlet(j, b_.r.ny)) {
        std::fill_n(r, b_.r.nx + 1, 0.0);
      } else {
        for (fl::Index i = 0; i <= b_.r.nx; ++i) r[i] = load_ != nullptr ? s_.g * load_->at(i, j) : 0;
        apply_row(b_.x, j, [r](fl::Index i, double q) { r[i] -= q; });
        squares += sweep_.own_squares(r, j, b_.r.ny, b_.r.nx);
      }
      squares += sweep_.restrict_behind(j);
    }
    b_.s.clear();
    return gather_local(squares);
  }

  double direction(double beta) {
    double energy = 0;
    for (fl::Index j = 0; j <= b_.s.ny; ++j) {
      sweep_.direction_row(j, beta);
      energy += energy_of(j, [&](fl::Index row) { return b_.s.row(row); });
    }
    for (fl::Index j = 0; j <= b_.s.ny; ++j) shared_.restore(j);
    return energy;
  }

  double preconditioned_energy() {
    const double* w[3] = {};
    double energy = 0;
    for (fl::Index j = 0; j <= b_.s.ny; ++j) {
      w[j % 3] = sweep_.preconditioned_row(j);
      energy += energy_of(j, [&](fl::Index row) { return w[row % 3]; });
    }
    return energy;
  }

  template <class Row>
  double energy_of(fl::Index j, Row row) {
    const bool even = j % 2 == 0;
    return row_energy(row(j), j > 0 ? row(j - 1) : nullptr, even && j > 1 ? row(j - 2) : nullptr, b_.s.nx, even, sweep_.along(j));
  }

  double update(double alpha) {
    double squares = 0;
    sweep_.clear_base();
    for (fl::Index j = 0; j <= b_.r.ny; ++j) {
      squares += sweep_.update_row(j, alpha);
      squares += sweep_.restrict_behind(j);
    }
    return squares;
  }

  // The direction two rows ahead of the update, because the operator looks two rows up and down.
  double advance(double alpha, double beta) {
    double squares = 0;
    sweep_.clear_base();
    for (fl::Index j = 0; j <= b_.r.ny + 2; ++j) {
      if (j <= b_.r.ny) {
        sweep_.direction_row(j, beta);
        shared_.restore(j);
      }
      if (j < 2) continue;
      if constexpr (overlapped)
        squares += sweep_.template update_row<false>(j - 2, alpha);
      else
        squares += sweep_.update_row(j - 2, alpha);
      squares += sweep_.restrict_behind(j - 2);
    }
    pending_ = alpha;
    return squares;
  }

  // What needs no neighbour is done while the messages are under way: x, which nothing else waits for.
  void catch_up() {
    for (fl::Index j = 0; pending_ != 0 && j <= b_.x.ny; ++j)
      if (!sweep_.dirichlet(j, b_.x.ny)) sweep_.update_x_row(j, pending_);
    pending_ = 0;
  }

  void sum_base() {
    GridOf<Real>& base = levels<Real>(b_)[static_cast<std::size_t>(s_.cut.base)];
    if constexpr (sizeof(Real) == sizeof(double)) {
      team_.sum(base.memory().data(), base.memory().size());
    } else {
      whole_.assign(base.memory().begin(), base.memory().end());
      team_.sum(whole_.data(), static_cast<fl::Index>(whole_.size()));
      std::transform(whole_.begin(), whole_.end(), base.memory().begin(), [](double v) { return static_cast<Real>(v); });
    }
  }

  // What the parties share becomes accumulated; the sums of squares with it. Returns this party's part of rho.
  double gather_local(double squares) {
    squares += sweep_.restrict_down();
    if constexpr (overlapped) {
      send();
      catch_up();
    }
    squares += receive();
    coarse_ = factor * sweep_.restrict_base();
    sweep_.prolong();
    return factor * squares;
  }

  void send() {
    const fl::In communicating(phases("communication"));
    shared_.pack();
    team_.start();
  }

  // What the others hold of the shared nodes and of the coarse levels; the sums of squares with it.
  double receive() {
    const fl::In communicating(phases("communication"));
    if constexpr (overlapped) {
      team_.finish();
    } else {
      shared_.pack();
      team_.swap(b_);
    }
    const double squares = shared_.accumulate();
    sum_base();
    return squares;
  }

  double gather(double squares) { return sum(gather_local(squares)) + coarse_; }

  double sum(double part) {
    sum(&part, 1);
    return part;
  }

  void sum(double* parts, fl::Index count) {
    const fl::In communicating(phases("communication"));
    team_.sum(parts, count);
  }

  Outcome finish() {
    for (fl::Index j = 0; j <= b_.r.ny; ++j) shared_.restore(j);
    return out_;
  }

  State& s_;
  Block& b_;
  const Grid* load_;
  Team& team_;
  Sweep<Real> sweep_;
  Shared shared_;
  Outcome out_;
  double coarse_ = 0;          // the part of rho that every party has
  double pending_ = 0;         // the factor of an update of x that is still to be done
  std::vector<double> whole_;  // level `base` in 64 bits
};

}  // namespace fem2d
