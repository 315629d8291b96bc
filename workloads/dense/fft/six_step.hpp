// The six steps (D. H. Bailey, 1990): transpose, transforms of the lines, a factor for each point, transpose, transforms, transpose.
// `Fourier` transforms a line, `Way` carries the parts of a transpose.
#pragma once

#include <memory>

#include "ways.hpp"

namespace fft::inline FL_ROLE {

// Of a matrix of `rows` x `columns` whose rows are divided among processes to its transpose, divided alike.
template <class Way>
class Transpose {
 public:
  Transpose(const fl::Team& team, Index rows, Index columns) : team_(team), rows_(rows), columns_(columns) {
    for (int q = 0; q < team.ranks; ++q) {
      buffers_.to.add(q == team.rank ? 0 : mine(rows).size() * fl::part(columns, team.ranks, q).size());
      buffers_.from.add(q == team.rank ? 0 : mine(columns).size() * fl::part(rows, team.ranks, q).size());
    }
    buffers_.out = fl::Array<Complex>(buffers_.to.begin.back());
    buffers_.in = fl::Array<Complex>(buffers_.from.begin.back());
  }

  void operator()(const Complex* from, Complex* to) {
    const fl::In in(phases("transpose"));
    const Index height = mine(rows_).size(), width = mine(columns_).size();
    const auto pack = [&](int q) {
      const fl::Part columns = fl::part(columns_, team_.ranks, q);
      Complex* part = buffers_.to.of(buffers_.out, q) - columns.begin * height;
      in_tiles({0, height}, columns, [&](Index i, Index j) { part[j * height + i] = from[i * columns_ + j]; });
    };
    const auto unpack = [&](int q) {
      const fl::Part rows = fl::part(rows_, team_.ranks, q);
      const Complex* part = buffers_.from.of(buffers_.in, q);
      for (Index j = 0; j < width; ++j) std::copy_n(part + j * rows.size(), rows.size(), to + j * rows_ + rows.begin);
    };
    const auto keep = [&] {
      const fl::Part columns = mine(columns_), rows = mine(rows_);
      Complex* own = to + rows.begin - columns.begin * rows_;
      in_tiles({0, height}, columns, [&](Index i, Index j) { own[j * rows_ + i] = from[i * columns_ + j]; });
    };
    way_(team_, buffers_, pack, unpack, keep);
  }

 private:
  fl::Part mine(Index n) const { return fl::part(n, team_.ranks, team_.rank); }

  // Tiles of lines that stay in the first cache; of fewer rows than it has lines that stand alike, for a row may be a power of two.
  template <class Visit>
  static void in_tiles(const fl::Part& rows, const fl::Part& columns, Visit visit) {
    constexpr Index high = 8, wide = 16;
    for (Index i0 = rows.begin; i0 < rows.end; i0 += high)
      for (Index j0 = columns.begin; j0 < columns.end; j0 += wide)
        for (Index j = j0; j < std::min(j0 + wide, columns.end); ++j)
          for (Index i = i0; i < std::min(i0 + high, rows.end); ++i) visit(i, j);
  }

  fl::Team team_;
  Index rows_, columns_;
  Buffers buffers_;
  Way way_;
};

// From a matrix of n1 rows to one of n2.
template <class Fourier, class Way>
class Transform {
 public:
  Transform(const fl::Team& team, Index n1, Index n2, const Roots<double>& roots)
      : n1_(n1),
        n2_(n2),
        first_(fl::part(n2, team.ranks, team.rank)),
        second_(fl::part(n1, team.ranks, team.rank)),
        to_columns_(team, n1, n2),
        to_rows_(team, n2, n1),
        of_n1_(n1),
        of_n2_(n2),
        roots_(roots),
        columns_(first_.size() * n1),
        rows_(second_.size() * n2) {}

  void operator()(const Complex* x, Complex* result) {
    to_columns_(x, columns_.data());
    lines(of_n1_, first_, n1_, columns_.data(), [&](Index j, Index k, const Complex& value) { return fl::times(value, roots_[j * k]); });
    to_rows_(columns_.data(), rows_.data());
    lines(of_n2_, second_, n2_, rows_.data(), [](Index, Index, const Complex& value) { return value; });
    to_columns_(rows_.data(), result);
  }

 private:
  template <class Factor>
  static void lines(Fourier& fourier, const fl::Part& mine, Index length, Complex* at, Factor factor) {
    const fl::In in(phases("lines"));
    for (Index j = mine.begin; j < mine.end; ++j, at += length) {
      std::copy_n(at, length, fourier.in.begin());
      fourier.forward();
      for (Index k = 0; k < length; ++k) at[k] = factor(j, k, fourier.out[static_cast<std::size_t>(k)]);
    }
  }

  Index n1_, n2_;
  fl::Part first_, second_;
  Transpose<Way> to_columns_, to_rows_;
  Fourier of_n1_, of_n2_;
  const Roots<double>& roots_;
  fl::Array<Complex> columns_, rows_;
};

template <class Fourier, class Way>
struct SixStep {
  Roots<double> roots;
  std::unique_ptr<Transform<Fourier, Way>> there, back;
  fl::Array<Complex> between;  // the transform that is undone

  void open(State& s) {
    roots = Roots<double>(s.p.n);
    there = std::make_unique<Transform<Fourier, Way>>(s.team, s.n1, s.n2, roots);
    if (s.p.task == Task::forward) return;
    back = std::make_unique<Transform<Fourier, Way>>(s.team, s.n2, s.n1, roots);
    between = fl::Array<Complex>(fl::part(s.n2, s.team.ranks, s.team.rank).size() * s.n1);
  }
  void step(State& s, Index) {
    if (s.p.task == Task::forward) return (*there)(s.in.data(), s.out.data());
    (*there)(s.in.data(), between.data());
    for (Complex& x : between) x = std::conj(x);
    (*back)(between.data(), s.out.data());
    const double factor = 1 / static_cast<double>(s.p.n);
    for (Complex& x : s.out) x = factor * std::conj(x);
  }
};

}  // namespace fft::inline FL_ROLE
