// How rows of a tile stand together: what a format of tiles stores of them, and its bytes.
#pragma once

#include <algorithm>
#include <vector>

#include "firstlight/workload.hpp"

namespace spmv {

inline constexpr fl::Index chunk = 8;       // rows of a slice, in SELL and in tiles: a cache line of results
inline constexpr fl::Index side = 1 << 15;  // rows and columns of a tile: 256 KiB of y and as much of x, both in a second cache

// Rows of a block, when so many threads divide the rows among them.
constexpr fl::Index height(fl::Index rows, fl::Index threads, fl::Index most) {
  return std::clamp<fl::Index>((rows + threads - 1) / threads, 1, most);
}

// Slices one after the other in each of whose rows as many entries are taken side by side.
struct Run {
  int tile;  // of columns
  int slices;
  int common;  // entries of a row
  int rests;   // rows that go on by themselves: those of the last slice that have more, or, without a slice, too few rows for one
};

// Rows of a block that have entries in a tile, the fewest first, those with as many in their order.
inline std::vector<int> by_entries(const std::vector<int>& entries) {
  std::vector<int> order;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i] > 0) order.push_back(static_cast<int>(i));
  std::stable_sort(order.begin(), order.end(),
                   [&](int p, int q) { return entries[static_cast<std::size_t>(p)] < entries[static_cast<std::size_t>(q)]; });
  return order;
}

inline void add_runs(const std::vector<int>& entries, const std::vector<int>& order, int tile, std::vector<Run>& runs) {
  bool goes_on = false;
  for (auto first = order.begin(); first != order.end();) {
    const bool whole = order.end() - first >= chunk;
    const auto end = whole ? first + chunk : order.end();
    const int common = whole ? entries[static_cast<std::size_t>(*first)] : 0;
    if (!goes_on || runs.back().common != common) runs.push_back({tile, 0, common, 0});
    runs.back().slices += whole ? 1 : 0;
    runs.back().rests =
        static_cast<int>(std::count_if(first, end, [&](int row) { return entries[static_cast<std::size_t>(row)] > common; }));
    goes_on = runs.back().rests == 0;
    first = end;
  }
}

// Numbers of rows are stored in 2 bytes, and of a rest how many entries it has.
inline fl::Index row_words(const Run& run) { return chunk * run.slices + 2 * run.rests; }

}  // namespace spmv
