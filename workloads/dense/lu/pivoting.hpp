// Row exchanges, and which row of a panel comes next.
#pragma once

#include <algorithm>
#include <numeric>

#include "lu.hpp"

namespace lu::inline FL_ROLE {

// Columns begin <= j < end of rows of A.
struct Columns {
  Index begin, end;
};

inline void exchange(State& s, Index k, const Columns& c) {
  if (const Index other = s.pivot[k]; other != k) std::swap_ranges(s.row(k) + c.begin, s.row(k) + c.end, s.row(other) + c.begin);
}

// Column k of rows below k, and what is left of the columns c behind it.
inline void eliminate(State& s, Index k, const Columns& c) {
  const double* above = s.row(k);
  const double factor = above[k];
  for (Index i = k + 1; i < s.n; ++i) {
    double* row = s.row(i);
    const double l = row[k] /= factor;
    for (Index j = k + 1; j < c.end; ++j) row[j] -= l * above[j];
  }
}

// The largest of a column.
struct Partial {
  static void panel(State& s, const Columns& c) {
    for (Index k = c.begin; k < c.end; ++k) {
      Index best = k;
      for (Index i = k + 1; i < s.n; ++i)
        if (std::fabs(s.row(i)[k]) > std::fabs(s.row(best)[k])) best = i;
      s.pivot[k] = best;
      exchange(s, k, c);
      eliminate(s, k, c);
    }
  }
};

// The winners of a tournament: groups of rows choose as many as the panel has columns, each by an elimination of its own; of two groups' winners
// the next round chooses, until one is left. All exchanges are then known, and the panel is eliminated without looking for any.
class Tournament {
 public:
  static void panel(State& s, const Columns& c) {
    const Index rows = s.n - c.begin, groups = std::clamp<Index>(rows / (c.end - c.begin), 1, s.p.groups);
    std::vector<std::vector<Index>> winners;
    for (Index g = 0; g < groups; ++g) {
      std::vector<Index> group;
      for (Index i = c.begin + rows * g / groups; i < c.begin + rows * (g + 1) / groups; ++i) group.push_back(i);
      winners.push_back(best(s, group, c));
    }
    while (winners.size() > 1) {
      std::vector<std::vector<Index>> next;
      for (std::size_t g = 0; g < winners.size(); g += 2) {
        if (g + 1 == winners.size()) {
          next.push_back(winners[g]);
          continue;
        }
        winners[g].insert(winners[g].end(), winners[g + 1].begin(), winners[g + 1].end());
        next.push_back(best(s, winners[g], c));
      }
      winners = std::move(next);
    }
    to_the_top(s, winners[0], c);
    for (Index k = c.begin; k < c.end; ++k) eliminate(s, k, c);
  }

 private:
  // Of these rows those that partial pivoting takes, in its order.
  static std::vector<Index> best(const State& s, std::vector<Index> rows, const Columns& c) {
    const Index width = c.end - c.begin;
    std::vector<double> copy;
    for (const Index i : rows) copy.insert(copy.end(), s.row(i) + c.begin, s.row(i) + c.end);
    const auto at = [&](Index i) { return copy.data() + i * width; };
    const auto height = static_cast<Index>(rows.size());
    for (Index k = 0; k < std::min(width, height); ++k) {
      Index largest = k;
      for (Index i = k + 1; i < height; ++i)
        if (std::fabs(at(i)[k]) > std::fabs(at(largest)[k])) largest = i;
      std::swap_ranges(at(k), at(k) + width, at(largest));
      std::swap(rows[static_cast<std::size_t>(k)], rows[static_cast<std::size_t>(largest)]);
      for (Index i = k + 1; i < height; ++i) {
        const double l = at(i)[k] / at(k)[k];
        for (Index j = k + 1; j < width; ++j) at(i)[j] -= l * at(k)[j];
      }
    }
    rows.resize(static_cast<std::size_t>(std::min(width, height)));
    return rows;
  }

  static void to_the_top(State& s, const std::vector<Index>& winners, const Columns& c) {
    std::vector<Index> place(static_cast<std::size_t>(s.n)), rank(place);  // where a row is now, and which row is at a place
    std::iota(place.begin(), place.end(), 0);
    std::iota(rank.begin(), rank.end(), 0);
    for (std::size_t w = 0; w < winners.size(); ++w) {
      const Index k = c.begin + static_cast<Index>(w), from = place[static_cast<std::size_t>(winners[w])];
      s.pivot[k] = from;
      exchange(s, k, c);
      std::swap(rank[static_cast<std::size_t>(k)], rank[static_cast<std::size_t>(from)]);
      place[static_cast<std::size_t>(rank[static_cast<std::size_t>(from)])] = from;
    }
  }
};

}  // namespace lu::inline FL_ROLE
