// Conjugate gradients preconditioned by one geometric V-cycle: the best method here on time to solution.
//
// On every level is the linear operator A_k (5-point), also on the finest, where it is spectrally equivalent to the quadratic one
// (1 <= kappa <= 4/3). One damped Jacobi step before and one after the correction; z before it is omega D^-1 r and never stored. As in
// the additive method, a row of the result is made where it is used. On shared nodes a level needs two exchanges.
#pragma once

#include "coarsest.hpp"
#include "solver.hpp"
#include "stage.hpp"

namespace fem2d {

template <class Team>
class Multigrid {
 public:
  // `z`: the corrections of levels 0..L, shaped like block.coarse.
  Multigrid(State& s, std::size_t mine, std::vector<Grid>& z, Team& team)
      : s_(s), b_(s.blocks[mine]), z_(z), load_(s.manufactured ? &s.load[mine] : nullptr), team_(team), sweep_(b_, s.level, s.cut.base) {
    const fl::Index base = s.cut.base;
    const bool left = b_.i0 == 0, right = b_.i0 + b_.x.nx == cells(s.level + 1);
    for (fl::Index k = 0; k <= s.level + 1; ++k) {
      Grid& r = k <= s.level ? b_.coarse[static_cast<std::size_t>(k)] : b_.r;
      if (k <= base) {
        stages_.emplace_back(r, Stage::Borders{true, true, true, true}, std::vector<const Segment*>{}, 0);
        continue;
      }
      std::vector<const Segment*> frame;
      for (const Segment& segment : b_.frame)
        if (segment.grid == &r) frame.push_back(&segment);
      stages_.emplace_back(r, Stage::Borders{b_.bottom, b_.top, left, right}, frame, static_cast<std::size_t>(k - base - 1));
    }
  }

  Outcome solve() {
    const fl::In solving(phases("solve"));
    start();
    OneSum next;
    Stage& finest = stages_.back();
    for (;; ++out_.iterations) {
      precondition();
      double scalars[2];
      energies(finest, scalars);
      sum(scalars, 2);
      if (!next.goes_on(scalars[0], scalars[1], s_.digits, out_)) break;
      advance(finest, next.alpha, next.beta);
    }
    return out_;
  }

 private:
  void start() {
    b_.x.clear();
    if (b_.top) std::fill_n(b_.x.row(b_.x.ny), b_.x.nx + 1, s_.g);
    for (fl::Index j = 0; j <= b_.r.ny; ++j) {
      double* r = b_.r.row(j);
      for (fl::Index i = 0; i <= b_.r.nx; ++i) r[i] = load_ != nullptr ? s_.g * load_->at(i, j) : 0;
      apply_row(b_.x, j, [r](fl::Index i, double q) { r[i] -= q; });
      if (sweep_.dirichlet(j, b_.r.ny)) std::fill_n(r, b_.r.nx + 1, 0.0);
    }
    b_.s.clear();
  }

  // One V-cycle up to, and without, the last step on the finest level, whose rows are made by Stage::row.
  void precondition() {
    const fl::Index base = s_.cut.base;
    for (fl::Index k = s_.level + 1; k > base; --k) {
      Stage& stage = stages_[static_cast<std::size_t>(k)];
      presmooth_frame(stage);
      if (k - 1 == base) sweep_.clear_base();
      stage.descend([&](fl::Index j, const double* below, const double* mid, const double* above) {
        const fl::Index nx = stage.nx / 2;
        double* out = sweep_.coarse_row(k - 1, j);
        if (stage.dirichlet(2 * j))
          std::fill_n(out, nx + 1, 0.0);
        else
          restrict_row(out, below, mid, above, nx);
      });
    }
    whole();
    for (fl::Index k = base + 1; k <= s_.level + 1; ++k) {
      Stage& stage = stages_[static_cast<std::size_t>(k)];
      const fl::Index down = s_.level + 2 - k;  // from the finest level to level k - 1
      const bool global = k - 1 <= base;
      stage.stand_on(z_[static_cast<std::size_t>(k - 1)], global ? b_.i0 >> down : 0, global ? b_.j0 >> down : 0);
      postsmooth_frame(stage);
      if (k > s_.level) continue;
      Grid& z = z_[static_cast<std::size_t>(k)];
      for (fl::Index j = 0; j <= stage.ny; ++j) std::copy_n(stage.row(j), stage.nx + 1, z.row(j));
    }
  }

  // The levels that every process has as a whole.
  void whole() {
    const fl::Index base = s_.cut.base;
    Grid& r = b_.coarse[static_cast<std::size_t>(base)];
    sum(r.memory().data(), r.memory().size());
    for (fl::Index k = base; k > 0; --k) {
      Grid& coarse = b_.coarse[static_cast<std::size_t>(k) - 1];
      stages_[static_cast<std::size_t>(k)].descend([&](fl::Index j, const double* below, const double* mid, const double* above) {
        if (j == 0 || j == coarse.ny)
          std::fill_n(coarse.row(j), coarse.nx + 1, 0.0);
        else
          restrict_row(coarse.row(j), below, mid, above, coarse.nx);
      });
    }
    coarsest_.solve(b_.coarse[0], z_[0]);
    for (fl::Index k = 1; k <= base; ++k) {
      Stage& stage = stages_[static_cast<std::size_t>(k)];
      stage.stand_on(z_[static_cast<std::size_t>(k) - 1], 0, 0);
      for (fl::Index j = 0; j <= stage.ny; ++j) std::copy_n(stage.row(j), stage.nx + 1, z_[static_cast<std::size_t>(k)].row(j));
    }
  }

  // What the blocks have of `value` on the shared nodes of a level, added up in the order of the blocks.
  template <class Value, class Use>
  void exchange(Stage& stage, Lines& lines, Value value, Use use) {
    if (stage.frame.empty()) {
      swap(stage);  // threads wait for each other here
      return;
    }
    const auto each = [](const Segment& segment, auto visit) {
      for (fl::Index k = 0; k < segment.count; ++k) visit(segment.i + k * segment.di, segment.j + k * segment.dj);
    };
    const auto offset = [&](const Link& link) {
      fl::Index at = 0;
      for (std::size_t p = 0; p < stage.part; ++p) at += link.shared[p].count;
      return at;
    };
    for (Link& link : b_.links) {
      double* out = link.out.data() + offset(link);
      each(link.shared[stage.part], [&](fl::Index i, fl::Index j) { *out++ = value(i, j); });
    }
    own_.clear();
    for (const Segment* segment : stage.frame) each(*segment, [&](fl::Index i, fl::Index j) { own_.push_back(value(i, j)); });
    swap(stage);
    Lines sums(stage.nx, stage.ny, stage.frame);
    const auto add_own = [&] {
      const double* next = own_.data();
      for (const Segment* segment : stage.frame)
        each(*segment, [&](fl::Index i, fl::Index j) {
          sums.at(i, j, [&](double& sum) { sum += *next; });
          ++next;
        });
    };
    bool mine = false;
    for (const Link& link : b_.links) {
      if (!mine && link.block > b_.number) add_own(), mine = true;
      const double* next = link.arriving + offset(link);
      each(link.shared[stage.part], [&](fl::Index i, fl::Index j) {
        sums.at(i, j, [&](double& sum) { sum += *next; });
        ++next;
      });
    }
    if (!mine) add_own();
    for (const Segment* segment : stage.frame)
      each(*segment, [&](fl::Index i, fl::Index j) {
        const double result = use(i, j, sums.value(i, j, 0));
        lines.at(i, j, [&](double& line) { line = result; });
      });
  }

  void presmooth_frame(Stage& stage) {
    exchange(
        stage, stage.before, [&](fl::Index i, fl::Index j) { return stage.r.at(i, j); },
        [&](fl::Index i, fl::Index j, double r) { return stage.dirichlet(j) ? 0 : omega * stage.inverse_diagonal(i) * r; });
  }

  void postsmooth_frame(Stage& stage) {
    // The correction first: z on the frame is what the neighbours have, too.
    for (const Segment* segment : stage.frame)
      for (fl::Index k = 0; k < segment->count; ++k) {
        const fl::Index i = segment->i + k * segment->di, j = segment->j + k * segment->dj;
        if (stage.dirichlet(j)) continue;
        const double more = stage.coarse_at(i, j);
        stage.before.at(i, j, [&](double& z) { z += more; });
      }
    exchange(
        stage, stage.after, [&](fl::Index i, fl::Index j) { return stage.dirichlet(j) ? 0 : stage.residual_at(i, j); },
        [&](fl::Index i, fl::Index j, double residual) {
          return stage.dirichlet(j) ? 0 : stage.z_at(i, j) + omega * stage.inverse_diagonal(i) * residual;
        });
  }

  // r^T w and w^T A w.
  void energies(Stage& finest, double* scalars) {
    const double* w[3] = {};
    scalars[0] = scalars[1] = 0;
    for (fl::Index j = 0; j <= finest.ny; ++j) {
      w[j % 3] = finest.row(j);
      scalars[0] += dot(b_.r.row(j), w[j % 3], finest.nx + 1);
      const bool even = j % 2 == 0;
      scalars[1] += row_energy(w[j % 3], j > 0 ? w[(j - 1) % 3] : nullptr, even && j > 1 ? w[(j - 2) % 3] : nullptr, finest.nx, even,
                               sweep_.along(j));
    }
  }

  // r of a row is needed by the row after it, too: the update follows three rows behind.
  void advance(Stage& finest, double alpha, double beta) {
    for (fl::Index j = 0; j <= finest.ny + 3; ++j) {
      if (j <= finest.ny) {
        const double* __restrict w = finest.row(j);
        double* __restrict s = b_.s.row(j);
        FL_INDEPENDENT
        for (fl::Index i = 0; i <= finest.nx; ++i) s[i] = w[i] + beta * s[i];
      }
      if (j >= 3) sweep_.update_row(j - 3, alpha);
    }
  }

  void swap(const Stage& stage) {
    const fl::In communicating(phases("communication"));
    team_.swap(b_, stage.part);
  }

  void sum(double* parts, fl::Index count) {
    const fl::In communicating(phases("communication"));
    team_.sum(parts, count);
  }

  State& s_;
  Block& b_;
  std::vector<Grid>& z_;
  const Grid* load_;
  Team& team_;
  Sweep<double> sweep_;
  std::vector<Stage> stages_;
  Coarsest coarsest_;
  std::vector<double> own_;
  Outcome out_;
};

// Corrections for a block.
inline std::vector<Grid> corrections(const Block& b) {
  std::vector<Grid> z;
  for (const Grid& g : b.coarse) {
    z.emplace_back(g.nx, g.ny);
    z.back().clear();
  }
  return z;
}

}  // namespace fem2d
