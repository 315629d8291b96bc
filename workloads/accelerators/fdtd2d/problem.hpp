// The problems, and what is drawn for each batch of their runs.
#pragma once

#include <array>
#include <vector>

#include "firstlight/workload.hpp"

namespace fdtd2d {

namespace grid = fl::grid;
using fl::Index;

enum class Problem { cavity, periodic, cpml, walls };  // in the order of their names
inline constexpr const char* problems = "cavity|periodic|cpml|walls";

// Starts from nothing, with a source.
inline bool is_driven(Problem problem) { return problem == Problem::cpml || problem == Problem::walls; }

// --- what is drawn for each batch -----------------------------------------------------------------------------------------

struct Disk {
  double i = 0, j = 0, radius = 0;
  bool contains(Index at_i, Index at_j) const {
    const double di = static_cast<double>(at_i) - i, dj = static_cast<double>(at_j) - j;
    return di * di + dj * dj < radius * radius;
  }
};

struct Drawn {
  Index batch = 0;
  Index p = 0, q = 0;  // the second mode
  Index source_i = 0, source_j = 0;
  std::array<Disk, 3> disks;  // of glass, of something that absorbs, of metal

  Drawn() = default;
  Drawn(Index n, Problem problem, Index batch) : batch(batch) {
    p = 1 + whole(0, 7), q = 1 + whole(1, 7);
    const Index sixteenth = n / 16;
    source_i = n / 2 - sixteenth + whole(2, 2 * sixteenth + 1);
    source_j = n / 2 - sixteenth + whole(3, 2 * sixteenth + 1);
    if (problem != Problem::walls) return;
    const auto edge = static_cast<double>(n);
    for (std::size_t k = 0; k < disks.size(); ++k) {
      const auto word = static_cast<Index>(4 + 3 * k);
      disks[k] = {edge * real(word), edge * real(word + 1), edge / 16 * (1 + real(word + 2))};
    }
    // Metal at the source or close around it lets nothing out, and fields of zeros are right whatever a program does.
    Disk& metal = disks[2];
    if (Disk{metal.i, metal.j, metal.radius + 2}.contains(source_i, source_j)) metal.i += metal.i < edge / 2 ? edge / 2 : -edge / 2;
  }

 private:
  std::uint64_t word(Index k) const { return fl::hash(fl::seed() + 0x9E3779B97F4A7C15ull * static_cast<std::uint64_t>(64 * batch + k)); }
  Index whole(Index k, Index below) const { return static_cast<Index>(word(k) % static_cast<std::uint64_t>(below)); }
  double real(Index k) const { return static_cast<double>(word(k) >> 40) * 0x1p-24; }
};

// --- what fields start from -----------------------------------------------------------------------------------------------

// A function of i times one of j, at the nodes, and their differences to the next node.
struct Product {
  std::vector<double> x, y, dx, dy;
};

// A standing wave of the difference equations: E = amplitude u(t) sum x(i) y(j), with u'' = -4 lambda u in the sense of differences.
struct Mode {
  double amplitude = 0, lambda = 0;
  std::vector<Product> products;
};

}  // namespace fdtd2d
