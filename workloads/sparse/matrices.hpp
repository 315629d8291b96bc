// Matrices row by row, each a pure function of its row: whole numbers only decide where entries are, so that no compiler flag moves one.
//   hpcg       the 27 neighbours in a cube of m^3 points, 26 on the diagonal and -1 off it (HPCG, Dongarra and Heroux 2013)
//   banded     all entries within 13 of the diagonal
//   fem        linear triangles on a grid of m x m^2 points, two unknowns at each: 14 entries in a row away from the edges
//   random     27 entries a row, one in each of 27 equal parts of the columns
//   power_law  P(more than t entries) = 4 / t up to 4096, about 30 a row; columns crowd towards the first: c = n u^2, u uniform
//   laplace2d  5 points in a square of m^2, 4 and -1; laplace3d: 7 in a cube of m^3, 6 and -1
// and the entries of a Matrix Market file. The first three, the last two and files that declare it are symmetric; fem has 2 m^3 rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "firstlight/split.hpp"
#include "firstlight/workload.hpp"
#include "market.hpp"

namespace sparse {

enum class Pattern { hpcg, banded, fem, random, power_law, laplace2d, laplace3d, file };  // in the order of their names
inline constexpr std::string_view formulas = "hpcg|banded|fem|random|power_law|laplace2d|laplace3d";
inline constexpr fl::Index unknowns = 2;         // at a point of fem
inline constexpr fl::Index reach = 13;           // of a band
inline constexpr fl::Index few = 2 * reach + 1;  // entries in a full row of all patterns but the power law's
inline constexpr fl::Index shortest = 4, longest = 4096;
inline constexpr fl::Index largest = 400;  // m: all matrices have fewer than 2^31 entries, which 32 bits number

class Matrix {
 public:
  Matrix() = default;
  Matrix(Pattern pattern, fl::Index m) : pattern_(pattern), m_(m) {
    rows_ = m * m * (pattern == Pattern::fem ? unknowns * m : pattern == Pattern::laplace2d ? 1 : m);
  }
  explicit Matrix(Entries entries)
      : pattern_(Pattern::file), rows_(static_cast<fl::Index>(entries.start.size()) - 1), entries_(std::move(entries)) {}

  fl::Index rows() const { return rows_; }  // and columns
  Pattern pattern() const { return pattern_; }
  bool symmetric() const {
    return pattern_ == Pattern::file ? entries_.symmetric : pattern_ != Pattern::random && pattern_ != Pattern::power_law;
  }

  // Entries in row i.
  fl::Index length(fl::Index i) const {
    switch (pattern_) {
      case Pattern::hpcg:
        return around(i / (m_ * m_)).size() * around(i / m_ % m_).size() * around(i % m_).size();
      case Pattern::banded:
        return std::min(i + reach, rows_ - 1) - std::max<fl::Index>(i - reach, 0) + 1;
      case Pattern::fem: {
        fl::Index count = 0;
        touching(i / unknowns, [&](fl::Index) { count += unknowns; });
        return count;
      }
      case Pattern::random:
        return std::min(few, rows_);
      case Pattern::power_law:
        return std::min({shortest * (fl::Index{1} << 32) / (static_cast<fl::Index>(drawn(i, -1) >> 32) + 1), longest, rows_});
      case Pattern::laplace2d:
      case Pattern::laplace3d: {
        fl::Index count = 0;
        star(i, [&](fl::Index, double) { ++count; });
        return count;
      }
      default:
        return entries_.start[static_cast<std::size_t>(i) + 1] - entries_.start[static_cast<std::size_t>(i)];
    }
  }

  // visit(column, value) for each entry of row i, columns ascending.
  template <class Visit>
  void row(fl::Index i, Visit visit) const {
    switch (pattern_) {
      case Pattern::hpcg:
        return neighbours(i, visit);
      case Pattern::banded:
        for (fl::Index c = std::max<fl::Index>(i - reach, 0); c <= std::min(i + reach, rows_ - 1); ++c) visit(c, value(i, c));
        return;
      case Pattern::fem:
        return touching(i / unknowns, [&](fl::Index point) {
          for (fl::Index c = point * unknowns; c < (point + 1) * unknowns; ++c) visit(c, value(i, c));
        });
      case Pattern::random:
        for (fl::Index k = 0, count = length(i); k < count; ++k) {
          const fl::Part part = fl::part(rows_, count, k);
          const fl::Index c = part.begin + static_cast<fl::Index>(drawn(i, k) % static_cast<std::uint64_t>(part.size()));
          visit(c, value(i, c));
        }
        return;
      case Pattern::power_law:
        return crowd(i, visit);
      case Pattern::laplace2d:
      case Pattern::laplace3d:
        return star(i, visit);
      default:
        for (auto k = static_cast<std::size_t>(entries_.start[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(entries_.start[static_cast<std::size_t>(i) + 1]); ++k)
          visit(fl::Index{entries_.column[k]}, entries_.value[k]);
    }
  }

 private:
  static std::uint64_t drawn(fl::Index i, fl::Index k) { return fl::hash(static_cast<std::uint64_t>((i << 13) + k + 1)); }
  // The same for (i, c) and (c, i).
  static double value(fl::Index i, fl::Index c) { return fl::uniform(static_cast<std::uint64_t>((std::min(i, c) << 32) + std::max(i, c))); }
  fl::Part around(fl::Index at) const { return {std::max<fl::Index>(at - 1, 0), std::min(at + 2, m_)}; }

  template <class Visit>
  void neighbours(fl::Index i, Visit visit) const {
    const fl::Part x = around(i / (m_ * m_)), y = around(i / m_ % m_), z = around(i % m_);
    for (fl::Index a = x.begin; a < x.end; ++a)
      for (fl::Index b = y.begin; b < y.end; ++b)
        for (fl::Index c = z.begin; c < z.end; ++c) {
          const fl::Index column = (a * m_ + b) * m_ + c;
          visit(column, column == i ? 26. : -1.);
        }
  }

  // Itself and the points next to it along each dimension, those with lower numbers first.
  template <class Visit>
  void star(fl::Index i, Visit visit) const {
    const fl::Index strides[] = {m_ * m_, m_, 1};
    const int first = pattern_ == Pattern::laplace2d ? 1 : 0;
    for (int d = first; d < 3; ++d)
      if (i / strides[d] % m_ > 0) visit(i - strides[d], -1.);
    visit(i, 2. * (3 - first));
    for (int d = 2; d >= first; --d)
      if (i / strides[d] % m_ < m_ - 1) visit(i + strides[d], -1.);
  }

  // Points that share a triangle with this one, itself among them: squares are cut from corner to corner.
  template <class Visit>
  void touching(fl::Index point, Visit visit) const {
    constexpr int places[][2] = {{-1, -1}, {-1, 0}, {0, -1}, {0, 0}, {0, 1}, {1, 0}, {1, 1}};
    const fl::Index width = m_ * m_;
    for (const auto& [down, right] : places) {
      const fl::Index a = point / width + down, b = point % width + right;
      if (a >= 0 && a < m_ && b >= 0 && b < width) visit(a * width + b);
    }
  }

  // n u^2 with u in the k-th of equal parts; a column that is taken leaves the next one, and there are enough of them: n u^2 <= n u.
  template <class Visit>
  void crowd(fl::Index i, Visit visit) const {
    constexpr fl::Index fine = 1 << 16;  // steps in a part
    const fl::Index count = length(i), all = count * fine;
    for (fl::Index k = 0, next = 0; k < count; ++k, ++next) {
      const fl::Index u = k * fine + static_cast<fl::Index>(drawn(i, k) >> 48);
      next = std::max(next, u * u / all * rows_ / all);
      visit(next, value(i, next));
    }
  }

  Pattern pattern_ = Pattern::hpcg;
  fl::Index m_ = 0, rows_ = 0;
  Entries entries_;
};

// A formula's by its name, or that of a file. Returns what is wrong, empty where nothing is: of a file with its line.
inline std::string read(const fl::Document& from, fl::Index m, Matrix& matrix) {
  if (from.text.empty()) {
    matrix = Matrix(static_cast<Pattern>(fl::option_number(formulas, from.name)), m);
    return "";
  }
  Entries entries;
  const std::string wrong = MarketReader(from.text).read(entries);
  if (!wrong.empty()) return from.name.substr(0, from.name.rfind('-')) + ":" + wrong;  // without its hash
  matrix = Matrix(std::move(entries));
  return "";
}

}  // namespace sparse
