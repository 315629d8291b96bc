// H, and the filter's recurrence, on a pack of states in the block of a process: halos, stencil, projectors.
#pragma once

#include "parties.hpp"

namespace rsdft {

// What the four projectors see of a pack, and by how much they then change it: s, and p along x, y, z.
struct Seen {
  Pack of[4];
};

// The projectors in a block: the cells of it in which they are not zero.
class Projectors {
 public:
  explicit Projectors(const State& s) : s_(factor(s.p, false)), p_(factor(s.p, true)), block_(s.block), box_(s.block.cells()) {
    for (std::size_t d = 0; d < 3; ++d) {
      while (box_.lower[d] < box_.upper[d] && !inside(s.p, block_.owned.lower[d] + box_.lower[d])) ++box_.lower[d];
      while (box_.lower[d] < box_.upper[d] && !inside(s.p, block_.owned.lower[d] + box_.upper[d] - 1)) --box_.upper[d];
    }
  }
  // Adds to `seen` what a share of the block has of it.
  void see(const Field& u, Index share, Index shares, Seen& seen) const {
    each_row(share, shares,
             [&](const grid::Point<3>& p, Index count, double x, double xs, double y, double ys, const double* z, const double* zs) {
               const Pack* at = &u[p];
               Pack even{}, odd{};
               for (Index k = 0; k < count; ++k)
                 for (Index l = 0; l < lanes; ++l) even.at[l] += zs[k] * at[k].at[l], odd.at[l] += z[k] * at[k].at[l];
               for (Index l = 0; l < lanes; ++l) {
                 seen.of[0].at[l] += xs * ys * even.at[l];
                 seen.of[1].at[l] += x * ys * even.at[l];
                 seen.of[2].at[l] += xs * y * even.at[l];
                 seen.of[3].at[l] += xs * ys * odd.at[l];
               }
             });
  }
  // `by` instead of what was seen: adds its products with the projectors.
  void change(Field& out, Index share, Index shares, const Seen& by) const {
    each_row(share, shares,
             [&](const grid::Point<3>& p, Index count, double x, double xs, double y, double ys, const double* z, const double* zs) {
               Pack* at = &out[p];
               Pack even, odd;
               for (Index l = 0; l < lanes; ++l) {
                 even.at[l] = xs * ys * by.of[0].at[l] + x * ys * by.of[1].at[l] + xs * y * by.of[2].at[l];
                 odd.at[l] = xs * ys * by.of[3].at[l];
               }
               for (Index k = 0; k < count; ++k)
                 for (Index l = 0; l < lanes; ++l) at[k].at[l] += zs[k] * even.at[l] + z[k] * odd.at[l];
             });
  }

 private:
  // work(cell, count, factors of x and y: p's and s's; of z from the first cell on)
  template <class Work>
  void each_row(Index share, Index shares, const Work& work) const {
    grid::each_row(grid::intersection(box_, grid::share_of(block_.cells(), share, shares)), [&](const grid::Point<3>& p, Index count) {
      const grid::Point<3> place = block_.global(p);
      const auto x = static_cast<std::size_t>(place[0]), y = static_cast<std::size_t>(place[1]);
      work(p, count, p_[x], s_[x], p_[y], s_[y], p_.data() + place[2], s_.data() + place[2]);
    });
  }

  std::vector<double> s_, p_;
  grid::Block<3> block_;
  grid::Box<3> box_;
};

template <class Stencil, class Parties, class Team, class Exchange>
class Hamiltonian {
 public:
  Hamiltonian(State& s, Parties& parties, const Team& team)
      : u(s.block.size(), s.block.domain.halo),
        next(u.size(), u.halo()),
        s_(s),
        parties_(parties),
        team_(team),
        weights_(s.p),
        projectors_(s),
        potential_(s.block.cells().cells()) {
    team_([&](Index share, Index shares) {
      for (Field* field : {&u, &next}) grid::first_touch(*field, share, shares);  // and halos beyond the box are zero
    });
    for (Field* field : {&u, &next}) std::fill_n(reinterpret_cast<double*>(field->data()), field->layout().elements * lanes, 0.0);
    double* to = potential_.data();
    grid::each_cell(s.block.cells(), [&](const grid::Point<3>& cell) {
      double squares = 0;
      for (const Index i : s.block.global(cell)) squares += s.p.place(i) * s.p.place(i);
      *to++ = 0.5 * squares;
    });
    halo_.open(s.block, {.reach = grid::Reach::faces}, parties.transport(), u);
  }

  Field u, next;

  void load(const Pack* from) {
    each_own_row([&](Pack* row, Index at, Index count) { std::copy_n(from + at, count, row); }, u);
  }
  void store(Field& field, Pack* to) {
    each_own_row([&](Pack* row, Index at, Index count) { std::copy_n(row, count, to + at); }, field);
  }

  // next = alpha (H - shift) u + beta next
  void apply(const Recurrence& r) {
    fl::during(phases("halo"), [&] { halo_.start(team_); });
    Seen seen{};
    if (s_.p.projectors > 0) seen = looked();
    fl::during(phases("halo"), [&] { halo_.finish(team_); });
    team_([&](Index share, Index shares) {
      stencil(grid::share_of(s_.block.cells(), share, shares), r);
      if (s_.p.projectors == 0) return;
      Seen by;
      for (std::size_t which = 0; which < 4; ++which)
        for (std::size_t l = 0; l < lanes; ++l)
          by.of[which].at[l] = r.alpha * (which == 0 ? strength_s(s_.p) : strength_p(s_.p)) * seen.of[which].at[l];
      projectors_.change(next, share, shares, by);
    });
  }
  // No eigenvalue is larger.
  double most() const {
    const double far = s_.p.place(s_.p.n - 1);
    return Stencil::most(weights_) + 1.5 * s_.trap * far * far + s_.p.projectors;
  }

 private:
  Seen looked() {
    std::vector<Seen> parts(static_cast<std::size_t>(s_.team.threads));
    team_([&](Index share, Index shares) { projectors_.see(u, share, shares, parts[static_cast<std::size_t>(share)]); });
    for (std::size_t t = 1; t < parts.size(); ++t)
      for (std::size_t which = 0; which < 4; ++which)
        for (std::size_t l = 0; l < lanes; ++l) parts[0].of[which].at[l] += parts[t].of[which].at[l];
    parties_.over_grid(parts[0].of[0].at, 4 * lanes);
    return parts[0];
  }
  void stencil(const grid::Box<3>& box, const Recurrence& r) {
    const auto& stride = u.layout().stride;
    const grid::Point<3> size = u.size(), first{};
    Stencil::apply({&u[first], &next[first], potential_.data(), stride[0], stride[1], size[1] * size[2], size[2]}, box, weights_, s_.trap,
                   r);
  }
  template <class Work>
  void each_own_row(const Work& work, Field& field) {
    const grid::Point<3> size = field.size();
    team_([&](Index share, Index shares) {
      grid::each_row(grid::share_of(s_.block.cells(), share, shares),
                     [&](const grid::Point<3>& p, Index count) { work(&field[p], (p[0] * size[1] + p[1]) * size[2] + p[2], count); });
    });
  }

  State& s_;
  Parties& parties_;
  Team team_;
  Weights weights_;
  Projectors projectors_;
  fl::Array<double> potential_;  // of a trap of strength 1
  Exchange halo_;
};

}  // namespace rsdft
