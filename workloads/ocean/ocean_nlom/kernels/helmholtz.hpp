// (1 - a^2 G H lap) P = R in a rectangle whose walls nothing passes: vertical modes, of each a cosine transform from west to east, and
// for each wave number a tridiagonal system from south to north. Tiles become whole lines, where they are not, and lines whole columns on the
// way. Two lines at a time go from layers to waves in the cache, and from there to who has their columns; one thread alone takes them on to what
// elimination leaves, and back.
#pragma once

#include "cosine.hpp"
#include "modes.hpp"
#include "transpose.hpp"

namespace ocean_nlom {

template <class Transport, class Team, class Ways, class Fourier>
class Helmholtz {
 public:
  void open(State& s, const Team& team) {
    const Params& p = s.p;
    modes_.emplace(p, Ways::weighted);
    Division tiles, lines, columns;
    for (Index r = 0; r < s.team.ranks; ++r) {
      tiles.push_back(grid::Block<3>(s.block.domain, s.block.ranks, static_cast<int>(r)).owned);
      const fl::Part j = fl::part((p.ny + 1) / 2, s.team.ranks, r), i = fl::part(p.nx, s.team.ranks, r);
      lines.push_back({{0, 2 * j.begin, 0}, {p.layers, std::min(p.ny, 2 * j.end), p.nx}});
      columns.push_back({{0, 0, i.begin}, {p.layers, p.ny, i.end}});
    }
    const auto me = static_cast<std::size_t>(s.team.rank);
    lines_box_ = lines[me], columns_box_ = columns[me];
    inverse_ = fl::Array<double>(columns_box_.cells()), waves_ = fl::Array<double>(columns_box_.size(2));
    for (Index i = 0; i < columns_box_.size(2); ++i) waves_[i] = wave_number(p, columns_box_.lower[2] + i);
    columns_ = make(columns_box_);
    const Group group = Network<Transport>(p.transpose).group(0, s.team.rank);
    to_columns_.open(lines, columns, group), from_columns_.open(columns, lines, group);
    if (tiles != lines) {
      tile_ = make(tiles[me]), lines_ = make(lines_box_);
      to_lines_.open(tiles, lines, group), from_lines_.open(lines, tiles, group);
    }
    alone_ = lines == columns;
    team([&](Index share, Index shares) {
      if (share == 0) works_.resize(static_cast<std::size_t>(shares));
    });
    for (auto& work : works_) work = std::make_unique<Work>(p);
  }
  void close() {
    for (auto* transpose : {&to_lines_, &to_columns_, &from_columns_, &from_lines_}) transpose->close();
    works_.clear(), memory_.clear();
    tile_ = lines_ = nullptr;
  }

  // What elimination from south to north leaves on the diagonal, inverted. Once it is to the last bit what it was a line before it stays so up
  // to the northern wall, and such lines share the first one of them: a few for slow modes, whose waves pass less than a cell in a step.
  void prepare(const Params& p, double a, const Team& team) {
    north_ = a * a / (p.dy() * p.dy());
    over_columns(p, team, [&](Work& work, Index m, Index begin, Index end) {
      const double c2 = modes_->squared[static_cast<std::size_t>(m)], squared = a * a * c2, north = north_ * c2;
      const auto fill = [&](Index j, const double* before) {
        const double walls = Ways::walls ? (j == 0) + (j == p.ny - 1) : (j == p.ny - 1);
        const double* waves = waves_.data();
        double* now = row(inverse_.data(), p, m, j);
        for (Index i = begin; i < end; ++i) {
          const double diagonal = 1 + squared * waves[i] * waves[i] + (2 - walls) * north;
          now[i] = 1 / (diagonal - (j == 0 ? 0 : north * north * before[i]));
        }
      };
      const auto line = [&](Index j) { return row(inverse_.data(), p, m, j); };
      Index& settled = work.settled[static_cast<std::size_t>(m)];
      settled = 0;
      fill(0, nullptr);
      for (; settled < p.ny - 2; ++settled) {
        fill(settled + 1, line(settled));
        if (std::equal(line(settled) + begin, line(settled) + end, line(settled + 1) + begin)) break;
      }
      fill(p.ny - 1, line(settled));
    });
  }

  // `field` contains R, then P, in own cells.
  void solve(State& s, grid::Field<double, 3>& field, const Team& team) {
    const Params& p = s.p;
    if (alone_ && works_.size() == 1) return solve_alone(p, field);
    if (tile_ != nullptr) {
      fl::during(phases("transform"), [&] { to_modes(*modes_, field, tile_, team); });
      fl::during(phases("transpose"), [&] { to_lines_(tile_, lines_, team); });
    }
    for (int slice = 0; slice < to_columns_.slices(); ++slice) {
      fl::during(phases("transform"), [&] { forward(p, field, slice, team); });
      fl::during(phases("transpose"), [&] { to_columns_.start(slice); });
    }
    fl::during(phases("transpose"), [&] { to_columns_.arrive(columns_, team); });
    fl::during(phases("columns"), [&] {
      over_columns(p, team, [&](const Work& work, Index m, Index begin, Index end) { eliminate(p, work, m, begin, end); });
    });
    fl::during(phases("transpose"), [&] { from_columns_.send(columns_, team), from_columns_.wait(); });
    fl::during(phases("transform"), [&] { backward(p, field, team); });
    if (tile_ != nullptr) {
      fl::during(phases("transpose"), [&] { from_lines_(lines_, tile_, team); });
      fl::during(phases("transform"), [&] { from_modes(*modes_, tile_, field, team); });
    }
  }

  const Modes& modes() const { return *modes_; }

 private:
  using Group = decltype(std::declval<const Network<Transport>&>().group(0, 0));

  // What a thread works with: a transform, and lines of each mode.
  struct Work {
    Cosine<Fourier> cosine;
    Index nx;
    fl::Array<double> memory;
    std::array<Index, most_layers> settled{};  // of each mode
    explicit Work(const Params& p) : cosine(p.nx), nx(p.nx), memory(6 * p.layers * nx) {}
    double* line(Index m, Index number) { return memory.data() + (6 * m + number) * nx; }
    double* solved(Index m, Index j) { return line(m, 2 + (j & 3)); }
  };
  // Returns the wave number of the differences of a cosine wave.
  static double wave_number(const Params& p, Index m) {
    return 2 / p.dx() * std::sin(M_PI * static_cast<double>(m) / (2 * static_cast<double>(p.nx)));
  }
  double* make(const grid::Box<3>& box) { return memory_.emplace_back(box.cells()).data(); }
  double* row(double* columns, const Params& p, Index m, Index j) const { return columns + (m * p.ny + j) * columns_box_.size(2); }

  // Two lines at a time, the same two on any grid of processes; the last one of an odd number is its own partner.
  template <class Both>
  void over_lines(const Team& team, const Both& both) {
    const Index count = lines_box_.size(1);
    team([&](Index share, Index shares) {
      const fl::Part mine = fl::part((count + 1) / 2, shares, share);
      Work& work = *works_[static_cast<std::size_t>(share)];
      for (Index j = 2 * mine.begin; j < std::min(count, 2 * mine.end); j += 2) both(work, j, std::min(j + 1, count - 1));
    });
  }
  double* whole(const Params& p, Index m, Index j) { return lines_ + (m * lines_box_.size(1) + j) * p.nx; }
  // Some modes of lines, of layers where tiles are whole lines, become waves, and go from the cache to who has their columns,
  void forward(const Params& p, grid::Field<double, 3>& field, int slice, const Team& team) {
    const fl::Part modes = to_columns_.modes(slice);
    const auto view = field.view();
    over_lines(team, [&](Work& work, Index j, Index last) {
      for (Index y = j; y <= last; ++y)
        if (tile_ == nullptr)
          mix_line(
              modes_->to, p.layers, modes, p.nx, [&](Index k) { return &view(k, y, 0); }, [&](Index m) { return work.line(m, y - j); });
        else
          for (Index m = modes.begin; m < modes.end; ++m) std::copy_n(whole(p, m, y), p.nx, work.line(m, y - j));
      for (Index m = modes.begin; m < modes.end; ++m) {
        double *one = work.line(m, 0), *other = work.line(m, last - j);
        work.cosine.forward(one, other, one, other);
        for (Index y = j; y <= last; ++y) to_columns_.put(slice, m, lines_box_.lower[1] + y, work.line(m, y - j), columns_);
      }
    });
  }
  // and all of them back.
  void backward(const Params& p, grid::Field<double, 3>& field, const Team& team) {
    const auto view = field.view();
    over_lines(team, [&](Work& work, Index j, Index last) {
      for (int slice = 0; slice < from_columns_.slices(); ++slice) {
        const fl::Part modes = from_columns_.modes(slice);
        for (Index m = modes.begin; m < modes.end; ++m) {
          for (Index y = j; y <= last; ++y) from_columns_.get(slice, m, lines_box_.lower[1] + y, columns_, work.line(m, y - j));
          double *one = work.line(m, 0), *other = work.line(m, last - j);
          work.cosine.backward(one, other, one, other);
        }
      }
      for (Index y = j; y <= last; ++y)
        if (tile_ == nullptr)
          mix_line(
              modes_->from, p.layers, {0, p.layers}, p.nx, [&](Index m) { return work.line(m, y - j); },
              [&](Index k) { return &view(k, y, 0); });
        else
          for (Index m = 0; m < p.layers; ++m) std::copy_n(work.line(m, y - j), p.nx, whole(p, m, y));
    });
  }
  template <class Columns>
  void over_columns(const Params& p, const Team& team, const Columns& columns) {
    team([&](Index share, Index shares) {
      const fl::Part mine = fl::part(columns_box_.size(2), shares, share);
      for (Index m = 0; m < p.layers; ++m) columns(*works_[static_cast<std::size_t>(share)], m, mine.begin, mine.end);
    });
  }
  void eliminate(const Params& p, const Work& work, Index m, Index begin, Index end) {
    for (Index j = 1; j < p.ny; ++j) up(p, work, m, j, begin, end);
    for (Index j = p.ny; j-- > 0;) down(p, work, m, j, row(columns_, p, m, j + 1), row(columns_, p, m, j), begin, end);
  }
  const double* inverse(const Params& p, const Work& work, Index m, Index j) {
    return row(inverse_.data(), p, m, j == p.ny - 1 ? j : std::min(j, work.settled[static_cast<std::size_t>(m)]));
  }
  // What the line j - 1 leaves of the line j > 0,
  void up(const Params& p, const Work& work, Index m, Index j, Index begin, Index end) {
    const double north = north_ * modes_->squared[static_cast<std::size_t>(m)];
    const double *inverted = inverse(p, work, m, j - 1), *before = row(columns_, p, m, j - 1);
    double* x = row(columns_, p, m, j);
    for (Index i = begin; i < end; ++i) x[i] += north * inverted[i] * before[i];
  }
  // and what becomes of it when the next one is known.
  void down(const Params& p, const Work& work, Index m, Index j, const double* next, double* to, Index begin, Index end) {
    const double north = north_ * modes_->squared[static_cast<std::size_t>(m)];
    const double *inverted = inverse(p, work, m, j), *x = row(columns_, p, m, j);
    if (j == p.ny - 1)
      for (Index i = begin; i < end; ++i) to[i] = x[i] * inverted[i];
    else
      for (Index i = begin; i < end; ++i) to[i] = (x[i] + north * next[i]) * inverted[i];
  }

  // Solves for all lines with one thread.
  void solve_alone(const Params& p, grid::Field<double, 3>& field) {
    Work& work = *works_.front();
    const auto view = field.view();
    for (Index j = 0; j < p.ny; j += 2) {
      const Index last = std::min(j + 1, p.ny - 1);
      fl::during(phases("transform"), [&] {
        for (Index y = j; y <= last; ++y)
          mix_line(
              modes_->to, p.layers, {0, p.layers}, p.nx, [&](Index k) { return &view(k, y, 0); },
              [&](Index m) { return work.line(m, y - j); });
        for (Index m = 0; m < p.layers; ++m)
          work.cosine.forward(work.line(m, 0), work.line(m, last - j), row(columns_, p, m, j), row(columns_, p, m, last));
      });
      fl::during(phases("columns"), [&] {
        for (Index y = std::max<Index>(j, 1); y <= last; ++y)
          for (Index m = 0; m < p.layers; ++m) up(p, work, m, y, 0, p.nx);
      });
    }
    for (Index j = (p.ny - 1) / 2 * 2; j >= 0; j -= 2) {
      const Index last = std::min(j + 1, p.ny - 1);
      fl::during(phases("columns"), [&] {
        for (Index y = last; y >= j; --y)
          for (Index m = 0; m < p.layers; ++m) down(p, work, m, y, work.solved(m, y + 1), work.solved(m, y), 0, p.nx);
      });
      fl::during(phases("transform"), [&] {
        for (Index m = 0; m < p.layers; ++m)
          work.cosine.backward(work.solved(m, j), work.solved(m, last), work.line(m, 0), work.line(m, last - j));
        for (Index y = j; y <= last; ++y)
          mix_line(
              modes_->from, p.layers, {0, p.layers}, p.nx, [&](Index m) { return work.line(m, y - j); },
              [&](Index k) { return &view(k, y, 0); });
      });
    }
  }

  std::optional<Modes> modes_;
  grid::Box<3> lines_box_, columns_box_;
  std::vector<fl::Array<double>> memory_;
  double *tile_ = nullptr, *lines_ = nullptr, *columns_ = nullptr;  // none of the first two where tiles are whole lines
  bool alone_ = false;                                              // lines are whole columns
  fl::Array<double> inverse_, waves_;
  Transpose<Group> to_lines_, to_columns_, from_columns_, from_lines_;
  std::vector<std::unique_ptr<Work>> works_;
  double north_ = 0;
};

}  // namespace ocean_nlom
