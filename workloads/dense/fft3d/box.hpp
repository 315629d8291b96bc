// Lines of one dimension after the other, with a transpose between them: among the processes of a row of the grid, then among those of a column.
#pragma once

#include <memory>
#include <optional>

#include "../transposed.hpp"
#include "fft3d.hpp"

namespace fft3d::inline FL_ROLE {

using spectral::Rows;

// Of a box whose first dimension is cut among `rows` processes and whose second among `columns`; the result has the dimensions in the other order,
// its first cut among `columns`, its second among `rows`. So who undoes it takes the same with the names exchanged.
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
        to_second_(row, first_.size(), n[1], n[2]),
        to_first_(column, third_.size(), n[0], n[1]),
        along_first_(n[0], back),
        along_second_(n[1], back),
        along_third_(n[2], back) {}

  // The result times `factor`.
  void operator()(const Complex* x, Complex* result, double factor) {
    to_second_([&](Index a, Index b, Index count) {
      const Complex* at = x + (a * second_.size() + b) * n_[2];
      return along_third_.of({at, n_[2]}, count, spectral::AsItIs());
    });
    to_first_([&](Index c, Index a, Index count) {
      const auto take = [&](Index k, Complex* to) { to_second_.line(a + k, c, to); };
      return along_second_(count, take, spectral::AsItIs());
    });
    for (Index c = 0; c < third_.size(); ++c)
      for (Index b = 0; b < turned_.size(); b += spectral::block_rows) {
        const Index count = std::min(spectral::block_rows, turned_.size() - b);
        const auto take = [&](Index k, Complex* to) { to_first_.line(c, b + k, to); };
        Complex* at = result + (c * turned_.size() + b) * n_[0];
        along_first_.to(at, count, take, [factor](Index, Index, const Complex& value) { return factor * value; });
      }
  }

 private:
  Extents n_;
  fl::Part first_, second_, third_, turned_;
  spectral::Transposed<Group> to_second_, to_first_;
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

}  // namespace fft3d::inline FL_ROLE
