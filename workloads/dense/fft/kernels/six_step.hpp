// The six steps (D. H. Bailey, 1990): transpose, transforms of the lines, a factor for each point, transpose, transforms, transpose.
// `Fourier` transforms a line, `Network` carries the parts of a transpose.
#pragma once

#include <memory>

#include "../roots.hpp"
#include "../transposed.hpp"
#include "fft.hpp"

namespace fft {

using spectral::Roots, spectral::Rows;

// From a matrix of n1 rows to one of n2.
template <class Fourier, class Network>
class Transform {
 public:
  Transform(const Network& network, const fl::Team& team, Index n1, Index n2, const Roots<double>& roots, bool back)
      : n2_(n2),
        first_(fl::part(n2, team.ranks, team.rank)),
        to_columns_(network.group(0, team.rank), 1, n1, n2),
        to_rows_(network.group(0, team.rank), 1, n2, n1),
        of_n1_(n1, back),
        of_n2_(n2, back),
        roots_(roots),
        back_(back) {}

  // The result times `factor`.
  void operator()(const Complex* x, Complex* result, double factor) {
    to_columns_([&](Index, Index i, Index) { return Rows{x + i * n2_, n2_}; });
    to_rows_([&](Index, Index i, Index count) {
      const auto take = [&](Index k, Complex* to) { to_columns_.line(0, i + k, to); };
      return of_n1_(count, take, [&, j = first_.begin + i](Index k, Index point, const Complex& value) {
        const Complex root = roots_[(j + k) * point];
        return fl::times(value, back_ ? std::conj(root) : root);
      });
    });
    to_columns_.into(result, [&](Index, Index i, Index count) {
      const auto take = [&](Index k, Complex* to) { to_rows_.line(0, i + k, to); };
      return of_n2_(count, take, [&](Index, Index, const Complex& value) { return factor * value; });
    });
  }

 private:
  Index n2_;
  fl::Part first_;
  spectral::Transposed<typename Network::Group> to_columns_, to_rows_;
  spectral::Lines<Fourier> of_n1_, of_n2_;
  const Roots<double>& roots_;
  bool back_;
};

template <class Fourier, class Network>
struct SixStep {
  Roots<double> roots;
  std::unique_ptr<Transform<Fourier, Network>> there, back;
  fl::Array<Complex> between;  // the transform that is undone

  void open(State& s) {
    const Network network(s.p.exchange);
    roots = Roots<double>(s.p.n);
    there = std::make_unique<Transform<Fourier, Network>>(network, s.team, s.n1, s.n2, roots, false);
    if (s.p.task == Task::forward) return;
    back = std::make_unique<Transform<Fourier, Network>>(network, s.team, s.n2, s.n1, roots, true);
    between = fl::Array<Complex>(fl::part(s.n2, s.team.ranks, s.team.rank).size() * s.n1);
  }
  void step(State& s, Index) {
    if (s.p.task == Task::forward) return (*there)(s.in.data(), s.out.data(), 1);
    (*there)(s.in.data(), between.data(), 1);
    (*back)(between.data(), s.out.data(), 1 / static_cast<double>(s.p.n));
  }
};

}  // namespace fft
