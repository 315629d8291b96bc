// What is known of a transform. Its input is a function of the index, so every process knows all of it.
#pragma once

#include "fft.hpp"

namespace fft::inline FL_ROLE {

using Long = std::complex<long double>;

inline constexpr Index few = 2048;  // points, of which each is summed up

// exp(2 pi i turns)
inline Long unit(long double turns) {
  const long double angle = 2 * M_PIl * (turns - std::floor(turns));
  return {std::cos(angle), std::sin(angle)};
}

inline double allowed(const State& s) { return 16 * DBL_EPSILON * std::max(1.0, std::log2(static_cast<double>(s.p.n))); }

inline void consider(fl::WorstError& worst, const char* what, Index k, const Long& found, const Long& wanted, double allowed) {
  const double error = static_cast<double>(std::abs(found - wanted));
  if (worst.exceeded_by(error, allowed))
    worst.consider(error, allowed, [&] {
      return fl::text("%s %lld is %.17g + %.17g i, should be %.17g + %.17g i", what, k, static_cast<double>(found.real()),
                      static_cast<double>(found.imag()), static_cast<double>(wanted.real()), static_cast<double>(wanted.imag()));
    });
}

// Points of the result, each by its sum.
template <class X>
void compare_points(const State& s, const std::vector<Index>& mine, X x, fl::WorstError& worst) {
  const Roots<long double> roots(s.p.n);
  std::vector<Long> sums(mine.size());
  for (Index j = 0; j < s.p.n; ++j) {
    const Long value = x(j);
    for (std::size_t i = 0; i < mine.size(); ++i) sums[i] += value * roots[j * mine[i] % s.p.n];
  }
  for (std::size_t i = 0; i < mine.size(); ++i)
    consider(worst, "point", mine[i], Long(s.out[mine[i] - first_out(s)]), sums[i], allowed(s) * std::sqrt(static_cast<double>(s.p.n)));
}

// sum_k X_k exp(2 pi i k (t + f) / n) with 1/4 <= f < 3/4 has a part of every point, each of the same magnitude. With X put in, the sum over k
// is geometric: it is sum_j x_j (exp(2 pi i f) - 1) / (exp(2 pi i (t + f - j) / n) - 1).
template <class X>
void compare_between(const State& s, std::uint64_t draw, X x, fl::WorstError& worst) {
  const std::uint64_t h = fl::hash(fl::seed() + draw);
  const Index n = s.p.n, t = static_cast<Index>(h % static_cast<std::uint64_t>(n));
  const long double f = 0.25L + static_cast<long double>(h >> 40) / (1 << 25), size = static_cast<long double>(n);
  Long found, wanted;
  for (Index i = 0, k = first_out(s); i < s.out.size(); ++i, ++k)
    found += Long(s.out[i]) * unit((static_cast<long double>(k * t % n) + static_cast<long double>(k) * f) / size);
  for (Index i = 0, j = first_in(s); i < s.in.size(); ++i, ++j) {
    const long double half = (static_cast<long double>(t - j) + f) / (2 * size);  // exp(2 i a) - 1 = 2 i sin(a) exp(i a)
    wanted += Long(x(j)) / (Long(0, 2 * std::sin(2 * M_PIl * half)) * unit(half));
  }
  wanted *= unit(f) - Long(1);
  const auto total = [](const Long& mine) {
    return Long(fl::total(static_cast<double>(mine.real())), fl::total(static_cast<double>(mine.imag())));
  };
  consider(worst, "the sum with waves of frequency", t, total(found), total(wanted), allowed(s) * static_cast<double>(n));
}

template <class X>
void compare_squares(const State& s, X x, fl::WorstError& worst) {
  long double found = 0, wanted = 0;
  for (Index i = 0; i < s.out.size(); ++i) found += std::norm(Long(s.out[i]));
  for (Index i = 0; i < s.in.size(); ++i) wanted += std::norm(Long(x(first_in(s) + i)));
  const double squares = fl::total(static_cast<double>(found)) / static_cast<double>(s.p.n);
  const double should = fl::total(static_cast<double>(wanted));
  worst.consider(std::fabs(squares - should), allowed(s) * should,
                 [&] { return fl::text("the squares add up to %.17g n, should be %.17g n", squares, should); });
}

inline fl::Check check(State& s, Index last) {
  fl::WorstError worst;
  const fl::Ages ages(s.changing, last);
  const auto x = [&](Index j) { return Long(point(j, ages.of(j, -1))); };
  if (s.p.task == Task::back_again) {
    for (Index i = 0; i < s.out.size(); ++i) consider(worst, "input", first_out(s) + i, Long(s.out[i]), x(first_out(s) + i), allowed(s));
    return worst.check(fl::text("all %lld points came back", s.out.size()));
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
  return worst.check(fl::text("%lld points of %lld by their sums, all of them between points", static_cast<Index>(mine.size()), size));
}

}  // namespace fft::inline FL_ROLE
