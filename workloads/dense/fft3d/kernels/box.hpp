// Lines of one dimension after the other, with a transpose between them: among the processes of a row of the grid, then among those of a column.
#pragma once

#include <memory>
#include <optional>

#include "../transposed.hpp"
#include "fft3d.hpp"

namespace fft3d {

using spectral::Rows;

// Transforms a box whose first dimension is cut among `rows` processes and whose second among `columns`. The result has the dimensions in
// the other order, its first cut among `columns`, its second among `rows`. To undo it, use the same with the names exchanged.
template <class Fourier, class Network>
class Box {
 public:
  using Group = typename Network::Group;

  Box(const Group& row, const Group& column, const Extents& n, bool back)
      : n_(n),
        first_(fl::part(n[0], column.ranks, column.rank)),
        second_(fl::part(n[1], row.ranks, row.rank)),
        third_(fl::part(n[2], row.ranks, row.rank)),
        turned_(fl::part(n[1], column.ranks, column.rank)),
        to_first_(column, third_.size(), n[0], n[1], row.ranks == 1 ? spectral::First::rows : spectral::First::matrices),
        along_first_(n[0], back),
        along_second_(n[1], back),
        along_third_(n[2], back) {
    if (row.ranks > 1)
      to_second_.emplace(row, first_.size(), n[1], n[2]);
    else
      planes_ = fl::Array<Complex>(n[2] * column_of_planes());
  }

  // The result times `factor`.
  void operator()(const Complex* x, Complex* result, double factor) {
    to_second_ ? by_lines(x) : by_planes(x);
    for (Index c = 0; c < third_.size(); ++c)
      for (Index b = 0; b < turned_.size(); b += spectral::block_rows) {
        const Index count = std::min(spectral::block_rows, turned_.size() - b);
        const auto take = [&](Index k, Complex* to) { to_first_.line(c, b + k, to); };
        Complex* at = result + (c * turned_.size() + b) * n_[0];
        along_first_.to(at, count, take, [factor](Index, Index, const Complex& value) { return factor * value; });
      }
  }

 private:
  Rows along_third(const Complex* x, Index a, Index b, Index count) {
    return along_third_.of({x + (a * second_.size() + b) * n_[2], n_[2]}, count, spectral::AsItIs());
  }
  // Each row of the grid has planes of the box in parts.
  void by_lines(const Complex* x) {
    (*to_second_)([&](Index a, Index b, Index count) { return along_third(x, a, b, count); });
    to_first_([&](Index c, Index a, Index count) {
      const auto take = [&](Index k, Complex* to) { to_second_->line(a + k, c, to); };
      return along_second_(count, take, spectral::AsItIs());
    });
  }
  // A process has whole planes: a few at a time are turned in a cache, and leave it when they are packed.
  void by_planes(const Complex* x) {
    to_first_([&](Index c, Index a, Index count) {
      if (c == 0) turn_planes(x, a, count);
      return along_second_.of({planes_.data() + c * column_of_planes(), line()}, count, spectral::AsItIs());
    });
  }
  void turn_planes(const Complex* x, Index a, Index planes) {
    for (Index k = 0; k < planes; ++k)
      for (Index b = 0; b < n_[1]; b += spectral::block_rows) {
        const Index count = std::min(spectral::block_rows, n_[1] - b);
        const Rows rows = along_third(x, a + k, b, count);
        const fl::In in(spectral::phases("reorder"));
        spectral::turn(rows, n_[2], count, {planes_.data() + k * line() + b, column_of_planes()});
      }
  }
  Index line() const { return n_[1] + 8; }  // of a plane that was turned: they begin in different sets of a cache
  Index column_of_planes() const { return std::min(spectral::block_rows, first_.size()) * line(); }  // y of each, at one z

  Extents n_;
  fl::Part first_, second_, third_, turned_;
  std::optional<spectral::Transposed<Group>> to_second_;
  spectral::Transposed<Group> to_first_;
  fl::Array<Complex> planes_;  // z, x, y, of a few x
  spectral::Lines<Fourier> along_first_, along_second_, along_third_;
};

template <class Fourier, class Network>
struct Transform {
  std::optional<Box<Fourier, Network>> there, back;
  fl::Array<Complex> between;  // the transform that is undone

  void open(State& s) {
    const Network network(s.p.exchange);
    const int place_in_row = s.grid.column(s.team.rank), place_in_column = s.grid.row(s.team.rank);
    const auto row = network.group(place_in_column, place_in_row), column = network.group(place_in_row, place_in_column);
    there.emplace(row, column, s.n, false);
    if (s.p.task == Task::forward) return;
    back.emplace(column, row, turned(s.n), true);
    between = fl::Array<Complex>(s.transformed.size());
  }
  void step(State& s, Index) {
    if (s.p.task == Task::forward) return (*there)(s.in.data(), s.out.data(), 1);
    (*there)(s.in.data(), between.data(), 1);
    (*back)(between.data(), s.out.data(), 1 / static_cast<double>(s.p.points()));
  }
};

}  // namespace fft3d
