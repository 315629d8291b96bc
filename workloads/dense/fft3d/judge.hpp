// What is known of a transform in three dimensions.
#pragma once

#include "../roots.hpp"
#include "fft3d.hpp"

namespace fft3d {

using spectral::allowed, spectral::consider, spectral::Long, spectral::Roots;

inline constexpr Index few = 1 << 15;  // points, of which each is summed up

// Converts extents from the order z, y, x or back.
inline Extents turned(const Extents& k) { return {k[2], k[1], k[0]}; }

inline void consider_point(const State& s, Index i, const Extents& k, const Long& wanted, double most, fl::WorstError& worst) {
  consider(worst, "point", number(s.n, k), Long(s.out[i]), wanted, most);
}

inline double of_a_point(const State& s) { return allowed(s.p.points()) * std::sqrt(static_cast<double>(s.p.points())); }

// The transform of all points, by sums along one dimension after the other.
template <class X>
std::vector<Long> summed_up(const Extents& n, X x) {
  std::vector<Long> values(static_cast<std::size_t>(n[0] * n[1] * n[2])), line;
  for (std::size_t j = 0; j < values.size(); ++j) values[j] = x(place(n, static_cast<Index>(j)));
  Index stride = n[0] * n[1] * n[2];
  for (const Index length : n) {
    const Roots<long double> roots(length);
    stride /= length;
    line.assign(static_cast<std::size_t>(length), {});
    for (Index begin = 0; begin < std::ssize(values); ++begin) {
      if (begin / stride % length != 0) continue;
      const auto at = [&](Index j) -> Long& { return values[static_cast<std::size_t>(begin + j * stride)]; };
      for (Index k = 0; k < length; ++k) {
        Long& sum = line[static_cast<std::size_t>(k)] = 0;
        for (Index j = 0; j < length; ++j) sum += fl::times(at(j), roots[j * k % length]);
      }
      for (Index k = 0; k < length; ++k) at(k) = line[static_cast<std::size_t>(k)];
    }
  }
  return values;
}

template <class X>
Index compare_all(const State& s, X x, fl::WorstError& worst) {
  const std::vector<Long> wanted = summed_up(s.n, x);
  each_point(s.transformed, [&](Index i, const Extents& k) {
    consider_point(s, i, turned(k), wanted[static_cast<std::size_t>(number(s.n, turned(k)))], of_a_point(s), worst);
  });
  return s.out.size();
}

// The first, the last and one between, each by its sum.
template <class X>
Index compare_some(const State& s, X x, fl::WorstError& worst) {
  const Index size = s.out.size();
  const Index mine[] = {0, static_cast<Index>(fl::hash(fl::seed()) % static_cast<std::uint64_t>(size)), size - 1};
  const Roots<long double> roots[] = {Roots<long double>(s.n[0]), Roots<long double>(s.n[1]), Roots<long double>(s.n[2])};
  Extents k[3];
  each_point(s.transformed, [&](Index i, const Extents& at) {
    for (std::size_t m = 0; m < 3; ++m)
      if (mine[m] == i) k[m] = turned(at);
  });
  const auto root = [&](std::size_t d, std::size_t m, Index j) { return roots[d][j * k[m][d] % s.n[d]]; };
  Long sums[3];
  for (Index a = 0; a < s.n[0]; ++a)
    for (Index b = 0; b < s.n[1]; ++b) {
      Long line[3];
      for (Index c = 0; c < s.n[2]; ++c) {
        const Long value = x(Extents{a, b, c});
        for (std::size_t m = 0; m < 3; ++m) line[m] += fl::times(value, root(2, m, c));
      }
      for (std::size_t m = 0; m < 3; ++m) sums[m] += fl::times(line[m], fl::times(root(0, m, a), root(1, m, b)));
    }
  for (std::size_t m = 0; m < 3; ++m) consider_point(s, mine[m], k[m], sums[m], of_a_point(s), worst);
  return 3;
}

// sum_k X_k of waves with a frequency between points along each dimension has a part of every point, each of the same magnitude.
template <class X>
void compare_between(const State& s, std::uint64_t draw, X x, fl::WorstError& worst) {
  const auto product = [](const std::vector<Long>* of, const Extents& j) {
    const auto at = [&](std::size_t d) { return of[d][static_cast<std::size_t>(j[d])]; };
    return fl::times(fl::times(at(0), at(1)), at(2));
  };
  std::vector<Long> waves[3], shares[3];
  for (std::size_t d = 0; d < 3; ++d) {
    const spectral::Between between(3 * draw + d, s.n[d]);
    for (Index k = 0; k < s.n[d]; ++k) waves[d].push_back(between.wave(k)), shares[d].push_back(between.share(k));
  }
  Long found, wanted;
  each_point(s.transformed, [&](Index i, const Extents& k) { found += fl::times(Long(s.out[i]), product(waves, turned(k))); });
  each_point(s.given, [&](Index, const Extents& j) { wanted += fl::times(x(j), product(shares, j)); });
  consider(worst, "the sum with waves between points,", static_cast<Index>(draw), spectral::total(found), spectral::total(wanted),
           allowed(s.p.points()) * static_cast<double>(s.p.points()));
}

template <class X>
void compare_squares(const State& s, X x, fl::WorstError& worst) {
  long double found = 0, wanted = 0;
  for (Index i = 0; i < s.out.size(); ++i) found += std::norm(Long(s.out[i]));
  each_point(s.given, [&](Index, const Extents& j) { wanted += std::norm(x(j)); });
  spectral::compare_squares(found, wanted, s.p.points(), worst);
}

// Compares plane waves: one point of the result is N and the others are 0, with errors of that point's magnitude near it. Each input that
// changed adds a wave of its own, whose phase grows evenly.
inline Index compare_waves(const State& s, const fl::ChangeLog& ages, fl::WorstError& worst) {
  struct Change {
    Extents at;
    Complex by, here{};  // here: on the line of the result that is looked at
  };
  std::vector<Change> changes;
  for (const auto& [j, iteration] : ages.all())
    changes.push_back({place(s.n, j), static_cast<Complex>(Long(spectral::point(j, iteration)) - wave_at(s, place(s.n, j)))});
  const Roots<double> roots[] = {Roots<double>(s.n[0]), Roots<double>(s.n[1]), Roots<double>(s.n[2])};
  const auto root = [&](std::size_t d, const Change& change, Index k) { return roots[d][change.at[d] * k % s.n[d]]; };
  const double n = static_cast<double>(s.p.points());
  each_point(s.transformed, [&](Index i, const Extents& at) {
    const Extents k = turned(at);
    Complex sum = k == s.wave ? n : 0;
    for (Change& change : changes) {
      if (k[0] == 0) change.here = fl::times(change.by, fl::times(root(1, change, k[1]), root(2, change, k[2])));
      sum += fl::times(change.here, root(0, change, k[0]));
    }
    consider_point(s, i, k, Long(sum), allowed(s.p.points()) * n, worst);
  });
  return s.out.size();
}

inline fl::Check check(State& s, Index last) {
  fl::WorstError worst;
  const fl::ChangeLog ages(s.changing, last);
  const auto x = [&](const Extents& j) {
    const Index iteration = ages.of(number(s.n, j), -1);
    return Long(iteration < 0 ? point(s, j) : spectral::point(number(s.n, j), iteration));
  };
  if (s.p.task == Task::back_again) {
    each_point(s.given,
               [&](Index i, const Extents& j) { consider(worst, "input", number(s.n, j), Long(s.out[i]), x(j), allowed(s.p.points())); });
    return worst.check(fl::text("all %lld points agree with the input", s.out.size()));
  }
  const bool wave = s.p.input == Input::wave;
  const Index known = wave ? compare_waves(s, ages, worst) : s.p.points() <= few ? compare_all(s, x, worst) : compare_some(s, x, worst);
  if (!wave) compare_between(s, 1, x, worst), compare_between(s, 2, x, worst);
  compare_squares(s, x, worst);
  return worst.check(fl::text("%lld of %lld points agree individually, and all of them through sums", known, s.out.size()));
}

}  // namespace fft3d
