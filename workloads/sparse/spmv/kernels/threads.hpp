// A format in several threads: each computes units of about as many slots.
#pragma once

#include <omp.h>

#include <optional>

#include "formats.hpp"

namespace spmv {

// First unit of each of `parts` parts with like numbers of slots, and the end of the last. A slot more is counted for each unit, which takes
// time of its own.
template <class Format>
std::vector<fl::Index> balanced(const Format& a, fl::Index parts) {
  std::vector<fl::Index> bounds{0};
  const fl::Index all = a.slots(a.units()) + a.units();
  for (fl::Index part = 1, unit = 0; part <= parts; ++part) {
    while (unit < a.units() && a.slots(unit) + unit < fl::part_begin(all, parts, part)) ++unit;
    bounds.push_back(unit);
  }
  bounds.back() = a.units();
  return bounds;
}

template <class Format>
struct Threads {
  std::optional<Format> a;
  std::vector<fl::Index> bounds;

  void open(State& s) {
    a.emplace(Csr(s));
    bounds = balanced(*a, s.team.threads);
  }
  void step(State& s, fl::Index) {
#pragma omp parallel num_threads(s.team.threads)
    {
      const auto part = static_cast<std::size_t>(omp_get_thread_num());
      a->multiply(s.x.data(), s.y.data(), s.scale, {bounds[part], bounds[part + 1]});
    }
  }
};

// Each thread keeps what its rows add to those of later ones, until all are through.
template <>
struct Threads<Symmetric> {
  std::optional<Symmetric> a;
  std::vector<fl::Index> bounds;
  std::vector<std::vector<double>> beyond;

  void open(State& s) {
    a.emplace(Csr(s));
    bounds = balanced(*a, s.team.threads);
    for (std::size_t part = 0; part + 1 < bounds.size(); ++part)
      beyond.emplace_back(static_cast<std::size_t>(a->reach({bounds[part], bounds[part + 1]}) - bounds[part + 1]));
  }
  void step(State& s, fl::Index) {
#pragma omp parallel num_threads(s.team.threads)
    {
      const auto part = static_cast<std::size_t>(omp_get_thread_num());
      const fl::Part own{bounds[part], bounds[part + 1]};
      std::fill(beyond[part].begin(), beyond[part].end(), 0.);
      a->add(s.x.data(), s.y.data(), s.scale, own, beyond[part].data());
#pragma omp barrier
      for (std::size_t before = 0; before < part; ++before) {
        const fl::Index first = bounds[before + 1], end = first + static_cast<fl::Index>(beyond[before].size());
        for (fl::Index i = std::max(first, own.begin); i < std::min(end, own.end); ++i)
          s.y[i] += beyond[before][static_cast<std::size_t>(i - first)];
      }
    }
  }
};

}  // namespace spmv
