// What a format stores of the rows of a process, in bytes, from the lengths of the rows; and what it cannot store.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../matrices.hpp"
#include "tiles.hpp"

namespace spmv {

using sparse::Matrix;

enum class Kernel { csr, csr4, streamed2, streamed4, streamed8, sell, ell, streamed_block, symmetric, sell_sorted, tiled };
inline constexpr const char* kernels = "csr|csr4|streamed2|streamed4|streamed8|sell|ell|streamed_block|symmetric|sell_sorted|tiled";

inline constexpr fl::Index group = 4;         // rows of a group, each a stream of its own
inline constexpr fl::Index window = 512;      // rows that SELL sorts by their length
inline constexpr fl::Index block = 2;         // rows and columns of a block
inline constexpr fl::Index most_padding = 8;  // slots of ELL for an entry

// Whether it stores zeros in columns that a row does not have, and multiplies them.
constexpr bool fills(Kernel kernel) { return kernel == Kernel::streamed_block; }

// Slots of `rows` with these lengths where `height` of them are padded to their longest.
inline fl::Index padded(const std::vector<fl::Index>& lengths, fl::Index height) {
  fl::Index slots = 0;
  for (std::size_t i = 0; i < lengths.size(); i += static_cast<std::size_t>(height)) {
    const auto end = std::min(lengths.size(), i + static_cast<std::size_t>(height));
    slots +=
        height * *std::max_element(lengths.begin() + static_cast<std::ptrdiff_t>(i), lengths.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return slots;
}

constexpr fl::Index pieces(fl::Index n, fl::Index size) { return (n + size - 1) / size; }

// Returns the number of stored blocks: each block row of a group has as many as the longest of the group.
inline fl::Index blocks(const Matrix& matrix, fl::Part own) {
  std::vector<fl::Index> found;
  for (fl::Index i = own.begin; i < own.end; i += block) {
    std::set<fl::Index> columns;
    for (fl::Index r = i; r < std::min(i + block, own.end); ++r) matrix.row(r, [&](fl::Index c, double) { columns.insert(c / block); });
    found.push_back(static_cast<fl::Index>(columns.size()));
  }
  return padded(found, group);
}

// Returns the bytes in tiles: values of 8 bytes, columns and numbers of rows of 2.
inline fl::Index in_tiles(const Matrix& matrix, fl::Part own, fl::Index threads, fl::Index side) {
  const fl::Index high = height(own.size(), threads, side);
  fl::Index bytes = 0;
  for (fl::Index first = own.begin; first < own.end; first += high) {
    const fl::Index rows = std::min(high, own.end - first);
    std::map<fl::Index, std::vector<int>> tiles;  // entries of each row
    for (fl::Index i = 0; i < rows; ++i)
      matrix.row(first + i, [&](fl::Index c, double) {
        std::vector<int>& entries = tiles[c / side];
        entries.resize(static_cast<std::size_t>(rows));
        ++entries[static_cast<std::size_t>(i)];
        bytes += 8 + 2;
      });
    std::vector<Run> runs;
    for (const auto& [tile, entries] : tiles) add_runs(entries, by_entries(entries), static_cast<int>(tile), runs);
    for (const Run& run : runs) bytes += static_cast<fl::Index>(sizeof run) + 2 * row_words(run);
  }
  return bytes;
}

// Values of 8 bytes, columns and starts of 4.
inline double stored(Kernel kernel, const Matrix& matrix, fl::Part own, fl::Index threads) {
  std::vector<fl::Index> lengths;
  fl::Index entries = 0;
  for (fl::Index i = own.begin; i < own.end; ++i) {
    lengths.push_back(matrix.length(i));
    entries += lengths.back();
  }
  const fl::Index n = own.size();
  fl::Index bytes = 0;
  switch (kernel) {
    case Kernel::csr:
    case Kernel::csr4:
      bytes = 12 * entries + 4 * (n + 1);
      break;
    case Kernel::streamed2:
    case Kernel::streamed4:
    case Kernel::streamed8: {
      const fl::Index height = kernel == Kernel::streamed2 ? 2 : kernel == Kernel::streamed4 ? 4 : 8;
      bytes = 12 * padded(lengths, height) + 4 * (pieces(n, height) + 1);
      break;
    }
    case Kernel::sell:
    case Kernel::sell_sorted:
      for (fl::Index i = 0, sigma = kernel == Kernel::sell ? window : std::max<fl::Index>(n, 1); i < n; i += sigma)
        std::sort(lengths.begin() + i, lengths.begin() + std::min(n, i + sigma), std::greater<>());
      bytes = 12 * padded(lengths, chunk) + 4 * (pieces(n, chunk) + 1) + 4 * n;
      break;
    case Kernel::ell:
      bytes = n == 0 ? 0 : 12 * (pieces(n, chunk) | 1) * chunk * *std::max_element(lengths.begin(), lengths.end());
      break;
    case Kernel::streamed_block:
      bytes = (8 * block * block + 4) * blocks(matrix, own) + 4 * (pieces(pieces(n, block), group) + 1);
      break;
    case Kernel::symmetric:  // the full diagonal, the entries above it, and a list of the rows without a diagonal entry
      for (fl::Index i = own.begin; i < own.end; ++i) {
        bool diagonal = false;
        matrix.row(i, [&](fl::Index c, double) {
          bytes += c > i ? 12 : 0;
          diagonal |= c == i;
        });
        bytes += diagonal ? 0 : 4;
      }
      bytes += 8 * n + 4 * (n + 1);
      break;
    case Kernel::tiled:
      bytes = in_tiles(matrix, own, threads, side);
      break;
  }
  return static_cast<double>(bytes);
}

// Empty, or why a format does not take a matrix.
inline std::string refused(Kernel kernel, const Matrix& matrix) {
  fl::Index entries = 0, longest = 0;
  for (fl::Index i = 0; i < matrix.rows(); ++i) {
    entries += matrix.length(i);
    longest = std::max(longest, matrix.length(i));
  }
  if (kernel == Kernel::symmetric && !matrix.symmetric()) return "symmetric storage needs a symmetric matrix";
  if (kernel == Kernel::ell && longest * matrix.rows() > most_padding * entries)
    return fl::text("ell needs rows of similar length: it would pad %lld entries to %lld", entries, longest * matrix.rows());
  return "";
}

}  // namespace spmv
