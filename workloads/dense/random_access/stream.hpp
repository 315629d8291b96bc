// HPC Challenge's stream of pseudo-random numbers: number n is x^n modulo x^64 + x^2 + x + 1 over GF(2), bit k the coefficient of x^k. So the
// next one is this one shifted by a bit, plus 7 where a bit falls out; a jump is a product. None is 0.
#pragma once

#include <cstdint>

#include "firstlight/host_device.hpp"
#include "firstlight/workload.hpp"

namespace random_access {

using Word = std::uint64_t;

inline constexpr Word period = 1317624576693539401ull;

FL_DEVICE constexpr Word after(Word a) { return a << 1 ^ (a >> 63 != 0 ? 7 : 0); }

FL_DEVICE constexpr Word times(Word a, Word b) {
  Word product = 0;
  for (; b != 0; b >>= 1, a = after(a)) product ^= (b & 1) != 0 ? a : 0;
  return product;
}

constexpr Word number(Word n) {
  Word product = 1;
  for (Word power = after(1); n != 0; n >>= 1, power = times(power, power))
    if ((n & 1) != 0) product = times(product, power);
  return product;
}

static_assert(number(period) == 1 && number(64) == 7);

}  // namespace random_access
