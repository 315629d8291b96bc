// peak: how many multiply-adds a second the registers sustain, in 32 and 64 bit. The arithmetic ceiling.
//
// x <- a x + b has the fixed point p = b / (1 - a), so after m steps x = p + a^m (x0 - p): finite, normal, known in closed form,
// and different after every step. Many such chains run at once; each lap starts them afresh, a little further on than the lap before,
// and adds where they arrived to `sum`.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstring>

#include "firstlight/host_device.hpp"
#include "firstlight/variant.hpp"
#include "firstlight/workload.hpp"

namespace peak {

struct Params {
  fl::Index precision = 64;
  void declare(fl::Fields& fields) { fields.integer("precision", precision, "bit", 32, 64, "width of the numbers: 32 or 64"); }
};

inline constexpr fl::Index laps = 128;     // long enough that starting threads does not count
inline constexpr fl::Index length = 1024;  // multiply-adds of one chain in one lap

// Twelve of the widest vectors: enough for four cycles of latency on two units, and for multiply and add one after the other.
inline constexpr fl::Index chain_bytes = 12 * 64;
template <class T>
inline constexpr fl::Index chains = chain_bytes / static_cast<fl::Index>(sizeof(T));

// A device needs many more threads than it has units, to hide the latency of one behind the others.
inline constexpr fl::Index device_parties = 32768;

// Each has chains of its own: threads, or groups of threads of a device.
inline fl::Index parties(const fl::Team& team) { return fl::variant.device != nullptr ? device_parties : team.threads; }

// Exact in 32 bit.
inline constexpr double a = 1 - 0x1p-10, b = 4 * 0x1p-10, fixed_point = 4;

template <class T>
struct Lanes {
  fl::Array<T> start, sum;  // the chains of each thread one after the other
  T a{}, b{};               // run-time values: no compiler can fold the chains
};

struct State {
  fl::Index precision = 64;
  Lanes<float> singles;
  Lanes<double> doubles;
  double shift = 0;  // added to every start; follows the iteration
  fl::Team team;
  // Variants on a device set these. fetch() copies the sums from the device before a check; poisoned() poisons them there after poison().
  void (*fetch)(State&) = nullptr, (*poisoned)(State&) = nullptr;
  void* object = nullptr;  // of theirs
};

inline constexpr fl::About about{
    .title = "Arithmetic",
    .cost =
        "128 x 1024 multiply-adds of 2 flops each on 12 x 64 bytes of independent chains, in each thread or in each of 32768 threads "
        "of a GPU. No memory traffic.",
    .verified = "The sum over laps of every chain, compared with the closed form of the recurrence",
    .tolerance = "1024 eps of the sum: one rounding error per multiply-add",
};

inline constexpr fl::Metric metrics[] = {{"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"}};

inline std::string refuse(const Params& p, const fl::Team&) {
  return p.precision == 32 || p.precision == 64 ? "" : "precision must be 32 or 64";
}

// In [1, 2), with few enough bits that adding the shift is exact in 32 bit.
inline double start_value(fl::Index i) { return 1.0 + 0x1p-12 * static_cast<double>(fl::hash(static_cast<std::uint64_t>(i)) >> 52); }

// What a lap's starts are ahead of those of the first. No lap may stand for another.
FL_DEVICE double ahead(fl::Index lap) { return 0x1p-12 * static_cast<double>(lap); }

// In [1/4, 5/4), but 0 in iteration 0: an answer kept from the first iteration differs from any other by more than the tolerance.
inline double shift_value(fl::Index iteration) {
  return iteration == 0 ? 0 : 0.25 + 0x1p-12 * static_cast<double>(fl::hash(static_cast<std::uint64_t>(iteration)) >> 52);
}

template <class T>
void fill(Lanes<T>& lanes, const fl::Team& team) {
  const fl::Index all = chains<T> * parties(team);
  lanes.start = fl::Array<T>(all);
  lanes.sum = fl::Array<T>(all);
  lanes.a = static_cast<T>(a);
  lanes.b = static_cast<T>(b);
  for (fl::Index i = 0; i < all; ++i) lanes.start[i] = static_cast<T>(start_value(i));
}

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.precision = p.precision;
  s.team = team;
  if (p.precision == 32)
    fill(s.singles, team);
  else
    fill(s.doubles, team);
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const auto all = static_cast<double>(8 * chain_bytes / p.precision * parties(team) * team.ranks);
  return {.flops = 2 * all * static_cast<double>(laps * length), .working_set = 2 * static_cast<double>(chain_bytes)};
}

inline void mutate_inputs(State& s, fl::Index iteration) { s.shift = shift_value(iteration); }

inline void poison(State& s) {
  fl::poison(s.singles.sum.data(), s.singles.sum.size());
  fl::poison(s.doubles.sum.data(), s.doubles.sum.size());
  if (s.poisoned != nullptr) s.poisoned(s);
}

template <class T>
fl::Check check_lanes(const Lanes<T>& lanes, fl::Index last) {
  const auto left = std::pow(static_cast<long double>(a), static_cast<long double>(length));
  const double tolerance = static_cast<double>(length) * (sizeof(T) == 4 ? static_cast<double>(FLT_EPSILON) : DBL_EPSILON);
  double worst = 0, expected_there = 0;
  fl::Index where = 0;
  for (fl::Index i = 0; i < lanes.sum.size(); ++i) {
    const long double distance = static_cast<long double>(start_value(i) + shift_value(last)) - static_cast<long double>(fixed_point);
    const auto moved = static_cast<long double>(ahead(laps * (laps - 1) / 2));  // of all laps together
    const auto expected =
        static_cast<double>(static_cast<long double>(laps) * (static_cast<long double>(fixed_point) + left * distance) + left * moved);
    const double error = std::fabs(static_cast<double>(lanes.sum[i]) - expected) / expected;
    if (i > 0 && error <= worst) continue;
    worst = error;
    where = i;
    expected_there = expected;
    if (!(error <= tolerance)) break;
  }
  return fl::Check::of(
      worst, tolerance,
      fl::text("chain %lld arrives at a sum of %.9g, should be %.9g", where, static_cast<double>(lanes.sum[where]), expected_there));
}

inline fl::Check check(State& s, fl::Index last) {
  if (s.fetch != nullptr) s.fetch(s);
  return s.precision == 32 ? check_lanes(s.singles, last) : check_lanes(s.doubles, last);
}

}  // namespace peak
