// (1 - a^2 G H lap) P = R in a rectangle whose walls nothing passes: vertical modes, of each a cosine transform from west to east, and
// for each wave number a tridiagonal system from south to north. Tiles become whole lines and lines whole columns on the way.
#pragma once

#include "cosine.hpp"
#include "modes.hpp"
#include "transpose.hpp"

namespace ocean_nlom::inline FL_ROLE {

template <class Transport, class Team, class Ways, class Fourier>
class Helmholtz {
 public:
  void open(State& s, const Team& team) {
    const Params& p = s.p;
    modes_.emplace(p, Ways::weighted);
    Division tiles, lines, columns;
    for (Index r = 0; r < s.team.ranks; ++r) {
      tiles.push_back(grid::Block<3>(s.block.domain, s.block.ranks, static_cast<int>(r)).owned);
      const fl::Part j = fl::part(p.ny, s.team.ranks, r), i = fl::part(p.nx, s.team.ranks, r);
      lines.push_back({{0, j.begin, 0}, {p.layers, j.end, p.nx}});
      columns.push_back({{0, 0, i.begin}, {p.layers, p.ny, i.end}});
    }
    const auto me = static_cast<std::size_t>(s.team.rank);
    lines_box_ = lines[me], columns_box_ = columns[me];
    tile_ = fl::Array<double>(tiles[me].cells());
    lines_ = fl::Array<double>(lines_box_.cells()), columns_ = fl::Array<double>(columns_box_.cells());
    inverse_ = fl::Array<double>(columns_box_.cells());
    to_lines_.open(tiles, lines, s.team.rank, 1001), to_columns_.open(lines, columns, s.team.rank, 1002);
    from_columns_.open(columns, lines, s.team.rank, 1003), from_lines_.open(lines, tiles, s.team.rank, 1004);
    team([&](Index share, Index shares) {
      if (share == 0) cosines_.resize(static_cast<std::size_t>(shares));
    });
    for (auto& cosine : cosines_) cosine = std::make_unique<Cosine<Fourier>>(p.nx);
  }
  void close() {
    for (auto* transpose : {&to_lines_, &to_columns_, &from_columns_, &from_lines_}) transpose->close();
  }

  // What elimination from south to north leaves on the diagonal, inverted.
  void prepare(const Params& p, double a, const Team& team) {
    over_columns(p, team, [&](Index m, Index begin, Index end) {
      const double squared = a * a * modes_->squared[static_cast<std::size_t>(m)], north = squared / (p.dy() * p.dy());
      for (Index j = 0; j < p.ny; ++j) {
        const double walls = Ways::walls ? (j == 0) + (j == p.ny - 1) : (j == p.ny - 1);
        double *now = row(inverse_, p, m, j), *before = now - columns_box_.size(2);
        for (Index i = begin; i < end; ++i) {
          const double k = wave_number(p, columns_box_.lower[2] + i);
          const double diagonal = 1 + squared * k * k + (2 - walls) * north;
          now[i] = 1 / (diagonal - (j == 0 ? 0 : north * north * before[i]));
        }
      }
    });
    north_ = a * a / (p.dy() * p.dy());
  }

  // `field` holds R, then P, in own cells.
  void solve(State& s, grid::Field<double, 3>& field, const Team& team) {
    const Params& p = s.p;
    fl::during(phases("transform"), [&] { to_modes(*modes_, field, tile_.data(), team); });
    fl::during(phases("transpose"), [&] { to_lines_(tile_.data(), lines_.data(), team); });
    fl::during(phases("transform"), [&] { over_lines(p, team, [](auto& cosine, double* x, double* y) { cosine.forward(x, y); }); });
    fl::during(phases("transpose"), [&] { to_columns_(lines_.data(), columns_.data(), team); });
    fl::during(phases("columns"), [&] { over_columns(p, team, [&](Index m, Index begin, Index end) { eliminate(p, m, begin, end); }); });
    fl::during(phases("transpose"), [&] { from_columns_(columns_.data(), lines_.data(), team); });
    fl::during(phases("transform"), [&] { over_lines(p, team, [](auto& cosine, double* x, double* y) { cosine.backward(x, y); }); });
    fl::during(phases("transpose"), [&] { from_lines_(lines_.data(), tile_.data(), team); });
    fl::during(phases("transform"), [&] { from_modes(*modes_, tile_.data(), field, team); });
  }

  const Modes& modes() const { return *modes_; }

 private:
  // Of the differences of a cosine wave.
  static double wave_number(const Params& p, Index m) {
    return 2 / p.dx() * std::sin(M_PI * static_cast<double>(m) / (2 * static_cast<double>(p.nx)));
  }
  double* row(fl::Array<double>& columns, const Params& p, Index m, Index j) const {
    return columns.data() + (m * p.ny + j) * columns_box_.size(2);
  }

  // Two modes of a line at a time, the same two on any grid of processes.
  template <class Both>
  void over_lines(const Params& p, const Team& team, const Both& both) {
    const Index count = lines_box_.size(1);
    team([&](Index share, Index shares) {
      const fl::Part mine = fl::part(count, shares, share);
      auto& cosine = *cosines_[static_cast<std::size_t>(share)];
      for (Index j = mine.begin; j < mine.end; ++j)
        for (Index m = 0; m < p.layers; m += 2)
          both(cosine, lines_.data() + (m * count + j) * p.nx, m + 1 < p.layers ? lines_.data() + ((m + 1) * count + j) * p.nx : nullptr);
    });
  }
  template <class Columns>
  void over_columns(const Params& p, const Team& team, const Columns& columns) {
    team([&](Index share, Index shares) {
      const fl::Part mine = fl::part(columns_box_.size(2), shares, share);
      for (Index m = 0; m < p.layers; ++m) columns(m, mine.begin, mine.end);
    });
  }
  void eliminate(const Params& p, Index m, Index begin, Index end) {
    const double north = north_ * modes_->squared[static_cast<std::size_t>(m)];
    const Index across = columns_box_.size(2);
    for (Index j = 1; j < p.ny; ++j) {
      double* x = row(columns_, p, m, j);
      const double* inverse = row(inverse_, p, m, j - 1);
      for (Index i = begin; i < end; ++i) x[i] += north * inverse[i] * x[i - across];
    }
    for (Index j = p.ny; j-- > 0;) {
      double* x = row(columns_, p, m, j);
      const double* inverse = row(inverse_, p, m, j);
      if (j == p.ny - 1)
        for (Index i = begin; i < end; ++i) x[i] *= inverse[i];
      else
        for (Index i = begin; i < end; ++i) x[i] = (x[i] + north * x[i + across]) * inverse[i];
    }
  }

  std::optional<Modes> modes_;
  grid::Box<3> lines_box_, columns_box_;
  fl::Array<double> tile_, lines_, columns_, inverse_;
  Transpose<Transport> to_lines_, to_columns_, from_columns_, from_lines_;
  std::vector<std::unique_ptr<Cosine<Fourier>>> cosines_;
  double north_ = 0;
};

}  // namespace ocean_nlom::inline FL_ROLE
