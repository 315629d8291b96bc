// Elements of A and B: whole numbers, chosen so that any sum of their products is exact in any order, and that fewer bits than were asked
// for would not do.
//
// Most elements are of magnitude 1 to 4. One in each row of A and one in each column of B is long: an odd number of 14 bits in 32-bit
// matrices, of 40 bits in 64-bit ones, so that a product in a narrower format (bfloat16, TF32; 32 bit for 64) is wrong in every element.
// Long ones of A stand in odd columns, those of B in even rows: they never meet.
//
// A sum of n products is at most 16 n + 2 * 4 * 2^14 = 2^18 in magnitude for n = 8192 in 32 bit, and times a mantissa of s below 64 less
// than 2^24; in 64 bit, n = 65536, less than 2^50.
#pragma once

#include <cstdint>
#include <vector>

#include "firstlight/workload.hpp"

namespace matmul {

inline constexpr fl::Index most_exact_32 = 8192;
inline constexpr std::int64_t least_mantissa = 32;  // of s; the largest is 63
// Larger than any element of C in units of the power of two of s.
constexpr double beyond_any(fl::Index precision) { return precision == 32 ? 0x1p24 : 0x1p50; }

// What an element of A that changes holds: another one than in the 64 steps before. Seven values, so that they and those of s come back
// together after 7 * 4096 steps only.
inline std::int64_t changed(fl::Index iteration) {
  constexpr std::int64_t values[] = {1, -2, 3, -4, 2, -3, 4};
  return values[(iteration >> 6) % 7];
}

class Values {
 public:
  Values(fl::Index n, fl::Index precision) : n_(n), long_bits_(precision == 32 ? 14 : 40), long_row_(static_cast<std::size_t>(n)) {
    for (fl::Index j = 0; j < n; ++j) long_row_[static_cast<std::size_t>(j)] = 2 * drawn(1, j, (n + 1) / 2);
  }

  void row_of_a(fl::Index i, std::int64_t* row) const {
    for (fl::Index k = 0; k < n_; ++k) row[k] = short_one(2 * word(i, k));
    if (n_ > 1) row[2 * drawn(0, i, n_ / 2) + 1] = long_one(2 * word(i, 0));
  }
  void row_of_b(fl::Index k, std::int64_t* row) const {
    for (fl::Index j = 0; j < n_; ++j)
      row[j] = long_row_[static_cast<std::size_t>(j)] == k ? long_one(2 * word(k, j) + 1) : short_one(2 * word(k, j) + 1);
  }

 private:
  std::uint64_t word(fl::Index i, fl::Index j) const { return static_cast<std::uint64_t>(i * n_ + j); }

  static std::int64_t signed_by(std::uint64_t h, std::int64_t magnitude) { return (h & 1) != 0 ? -magnitude : magnitude; }
  static std::int64_t short_one(std::uint64_t index) {
    const std::uint64_t h = fl::hash(index);
    return signed_by(h, 1 + static_cast<std::int64_t>(h >> 1 & 3));
  }
  std::int64_t long_one(std::uint64_t index) const {
    const std::uint64_t h = fl::hash(~index), top = std::uint64_t{1} << (long_bits_ - 1);
    return signed_by(h, static_cast<std::int64_t>(top | (h >> 1 & (top - 1)) | 1));
  }
  // 0 to below - 1, for row or column i.
  static fl::Index drawn(std::uint64_t which, fl::Index i, fl::Index below) {
    return static_cast<fl::Index>(fl::hash(~(2 * static_cast<std::uint64_t>(i) + which)) % static_cast<std::uint64_t>(below));
  }

  fl::Index n_;
  int long_bits_;
  std::vector<fl::Index> long_row_;  // of each column of B
};

}  // namespace matmul
