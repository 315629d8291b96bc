// The workloads faulty, lone and watched share an array of ones, whose first element follows the iteration, its sum and the check of it.
#pragma once

#include "firstlight/workload.hpp"

namespace ones {

struct Ones {
  fl::Array<double> ones;
  double result = 0;
  fl::Team team;
};

inline void init(Ones& s, fl::Index n, const fl::Team& team) {
  s.team = team;
  s.ones = fl::Array<double>(n);
  for (double& one : s.ones) one = 1;
}

inline double changed(fl::Index iteration) { return static_cast<double>(iteration & 7); }

inline void mutate_inputs(Ones& s, fl::Index iteration) { s.ones[0] = 1 + changed(iteration); }

inline void poison(Ones& s) { fl::poison(&s.result, 1); }

inline void sum(Ones& s) {
  double result = 0;
  for (const double one : s.ones) result += one;
  s.result = result;
}

inline fl::Check check(Ones& s, fl::Index last) {
  const double right = static_cast<double>(s.ones.size()) + changed(last);
  const double error = s.result > right ? s.result - right : right - s.result;
  return fl::Check::of(error, 0, fl::text("the sum is %.17g, should be %.17g", s.result, right));
}

}  // namespace ones
