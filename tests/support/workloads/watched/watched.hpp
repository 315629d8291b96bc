// watched: a sum of n ones that reports more values of its steps than their time. For tests of firstlight itself.
#pragma once

#include <cmath>

#include "../ones.hpp"
#include "firstlight/split.hpp"

namespace watched {

enum class Drawn { whole, twice, hole, outside, unequal, nan };

struct Params {
  fl::Index n = 1000;
  fl::Index points = 3;
  fl::Index rows = 0, columns = 7;
  Drawn drawn = Drawn::whole;
  void declare(fl::Fields& fields) {
    fields.integer("n", n, "elements", 1, fl::Index{1} << 30, "how many ones");
    fields.integer("points", points, "points", 0, 100000, "how long the series is");
    fields.integer("rows", rows, "cells", 0, 100000, "rows of the field that is drawn; 0: none is");
    fields.integer("columns", columns, "cells", 1, 100000, "its columns");
    fields.choice("drawn", drawn, "whole|twice|hole|outside|unequal|nan", "what is wrong with it");
  }
};

struct State : ones::Ones {
  Params p;
  fl::Array<double> series;
  double steps = 0;      // since the last call of observe()
  const char* odd = "";  // what this variant does wrong
};

inline constexpr fl::About about{
    .title = "Observed values",
    .cost = "n flops, one operation",
    .verified = "the sum against n plus what the iteration changed",
    .tolerance = "exact",
};

inline constexpr fl::Metric metrics[] = {
    {"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"},
    {"sum", "us", "operations", "time", 1e6, "lower"},
    {"rank", "%", "rank", "value", 100, "lower"},
    {"nothing", "%", "nothing", "value", 100, "lower"},
};

inline void init(State& s, const Params& p, const fl::Team& team) {
  ones::init(s, p.n, team);
  s.p = p;
  s.series = fl::Array<double>(p.points);
  for (fl::Index k = 0; k < p.points; ++k) s.series[k] = 10.0 * team.rank + 0.5 * static_cast<double>(k);
}

inline fl::Cost cost(const Params& p, const fl::Team&) {
  const double n = static_cast<double>(p.n);
  return {.flops = n, .operations = 1, .flow = 16, .working_set = 8 * n};
}

inline void sum(State& s) {
  ones::sum(s);
  s.steps += 1;
}

using ones::check;
using ones::mutate_inputs;
using ones::poison;

inline void observe(State& s, fl::Observations& seen) {
  const std::string odd = s.odd;
  seen.value("rank", s.team.rank + 1);
  seen.value("nothing", 0);
  seen.value("steps", s.steps - static_cast<double>(seen.steps));  // 0 where each call covers the batch before it
  s.steps = 0;
  if (odd == "not finite") seen.value("odd", 0.0 / s.steps);
  if (odd == "unequal") seen.value(s.team.rank == 0 ? "one" : "other", 1);
  if (odd == "name") seen.value("A Name", 1);
  if (odd != "unequal series" || s.team.rank == 0) seen.series("points", "us", s.series.data(), s.series.size());
}

// Ranks have blocks of rows; a cell is its row less its column.
inline void draw(State& s, fl::Picture& picture) {
  if (s.p.rows == 0) return;
  const bool last = s.team.rank == s.team.ranks - 1;
  picture.of("ramp", "V/m", s.p.rows + (s.p.drawn == Drawn::unequal && last ? 1 : 0), s.p.columns);
  const fl::Part mine = fl::part(s.p.rows, s.team.ranks, s.team.rank);
  fl::Array<double> values(s.p.columns);
  for (fl::Index i = mine.begin; i < mine.end; ++i) {
    for (fl::Index j = 0; j < s.p.columns; ++j) values[j] = static_cast<double>(i - j);
    if (s.p.drawn == Drawn::nan && i == 0) values[0] = std::nan("");
    if (s.p.drawn == Drawn::hole && i == s.p.rows - 1) continue;
    picture.row(i + (s.p.drawn == Drawn::outside ? 1 : 0), 0, values.data(), s.p.columns);
    if (s.p.drawn == Drawn::twice && i == 0) picture.row(i, s.p.columns - 1, values.data(), 1);
  }
}

}  // namespace watched
