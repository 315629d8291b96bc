// Numbers that look random, the same everywhere for the same seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fl::mapping {

// Source: Steele, Lea, Flood 2014, Fast Splittable Pseudorandom Number Generators.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  // Below a number that is above 0; those that are not a power of two are met unevenly by less than 2^-32.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(static_cast<unsigned __int128>(next()) * n >> 64); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  template <class T>
  void shuffle(std::vector<T>& some) {
    for (std::size_t i = some.size(); i > 1; --i) std::swap(some[i - 1], some[below(i)]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace fl::mapping
