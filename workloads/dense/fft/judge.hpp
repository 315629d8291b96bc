// What is known of a transform.
#pragma once

#include "../roots.hpp"
#include "fft.hpp"

namespace fft {

using spectral::Roots, spectral::Long, spectral::allowed, spectral::consider;

inline constexpr Index few = 2048;  // points, of which each is summed up

// Points of the result, each by its sum.
template <class X>
void compare_points(const State& s, const std::vector<Index>& mine, X x, fl::WorstError& worst) {
  const Roots<long double> roots(s.p.n);
  std::vector<Long> sums(mine.size());
  for (Index j = 0; j < s.p.n; ++j) {
    const Long value = x(j);
    for (std::size_t i = 0; i < mine.size(); ++i) sums[i] += value * roots[j * mine[i] % s.p.n];
  }
  const double most = allowed(s.p.n) * std::sqrt(static_cast<double>(s.p.n));
  for (std::size_t i = 0; i < mine.size(); ++i) consider(worst, "point", mine[i], Long(s.out[mine[i] - first_out(s)]), sums[i], most);
}

// sum_k X_k exp(2 pi i k (t + f) / n) has a part of every point, each of the same magnitude.
template <class X>
void compare_between(const State& s, std::uint64_t draw, X x, fl::WorstError& worst) {
  const spectral::Between between(draw, s.p.n);
  Long found, wanted;
  for (Index i = 0; i < s.out.size(); ++i) found += Long(s.out[i]) * between.wave(first_out(s) + i);
  for (Index i = 0; i < s.in.size(); ++i) wanted += Long(x(first_in(s) + i)) * between.share(first_in(s) + i);
  consider(worst, "the sum with waves of frequency", between.frequency(), spectral::total(found), spectral::total(wanted),
           allowed(s.p.n) * static_cast<double>(s.p.n));
}

template <class X>
void compare_squares(const State& s, X x, fl::WorstError& worst) {
  long double found = 0, wanted = 0;
  for (Index i = 0; i < s.out.size(); ++i) found += std::norm(Long(s.out[i]));
  for (Index i = 0; i < s.in.size(); ++i) wanted += std::norm(Long(x(first_in(s) + i)));
  spectral::compare_squares(found, wanted, s.p.n, worst);
}

inline fl::Check check(State& s, Index last) {
  fl::WorstError worst;
  const fl::ChangeLog ages(s.changing, last);
  const auto x = [&](Index j) { return Long(spectral::point(j, ages.of(j, -1))); };
  if (s.p.task == Task::back_again) {
    for (Index i = 0; i < s.out.size(); ++i)
      consider(worst, "input", first_out(s) + i, Long(s.out[i]), x(first_out(s) + i), allowed(s.p.n));
    return worst.check(fl::text("all %lld points agree with the input", s.out.size()));
  }
  std::vector<Index> mine;
  const Index begin = first_out(s), size = s.out.size();
  if (s.p.n <= few)
    for (Index i = 0; i < size; ++i) mine.push_back(begin + i);
  else
    mine = {begin, begin + static_cast<Index>(fl::hash(fl::seed()) % static_cast<std::uint64_t>(size)), begin + size - 1};
  compare_points(s, mine, x, worst);
  compare_between(s, 1, x, worst);
  compare_between(s, 2, x, worst);
  compare_squares(s, x, worst);
  return worst.check(fl::text("%lld of %lld points agree with their sums, and the transform between points agrees",
                              static_cast<Index>(mine.size()), size));
}

}  // namespace fft
