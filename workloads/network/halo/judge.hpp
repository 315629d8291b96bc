// The check: every word of the fields, and the bytes behind them.
#pragma once

#include <unistd.h>

#include "firstlight/error_summary.hpp"
#include "halo.hpp"

namespace halo {

// The iteration that interior word (row, column) of any sub-domain was last renewed in, all parties having touched alike.
inline fl::Index age(const State& s, const Domain& d, fl::Index row, fl::Index column, fl::Index iteration) {
  const fl::Index last = s.n - 1;
  if ((row == 0 || row == last) && (column == 0 || column == last)) return d.touches > 0 ? iteration : s.renewed;
  const fl::Index period = s.n * s.width, now = d.depth * s.n + d.along;
  fl::Index least = d.touches;
  const auto side = [&](fl::Index depth, fl::Index along) {
    if (depth >= s.width) return;
    const fl::Index before = (now - (depth * s.n + along) + period) % period * d.leap.inverse % period;
    if (before < least) least = before;
  };
  side(row, column);
  side(last - row, column);
  side(column, row);
  side(last - column, row);
  if (least < d.touches) return iteration - least;
  return std::min(std::min(row, last - row), std::min(column, last - column)) < s.width ? s.renewed : s.filled;
}

// Every word of the field, and the guards.
inline void inspect(const State& s, const Domain& d, fl::Index iteration, fl::ErrorSummary& damage) {
  const fl::Index height = s.grid.rows * s.n, breadth = s.grid.columns * s.n;
  const fl::Index top = d.me / s.grid.columns * s.n, left = d.me % s.grid.columns * s.n;
  for (fl::Index row = 0; row < s.pitch; ++row) {
    const fl::Index global_row = (top + row - s.width + height) % height;
    for (fl::Index column = 0; column < s.pitch; ++column) {
      const fl::Index global_column = (left + column - s.width + breadth) % breadth;
      const fl::Index when = age(s, d, global_row % s.n, global_column % s.n, iteration);
      const std::uint64_t wanted = word(s, place(global_row, global_column) + moment(when)), found = load(s, d.field, row, column);
      if (found == wanted) continue;
      damage.add([&] {
        return fl::text("process %d, %s word (%lld, %lld) is 0x%llx, should be 0x%llx; n=%lld width=%lld on %d x %d", d.me,
                        in_halo(s, row, column) ? "halo" : "interior", row - s.width, column - s.width,
                        static_cast<unsigned long long>(found), static_cast<unsigned long long>(wanted), s.n, s.width, s.grid.rows,
                        s.grid.columns);
      });
    }
  }
  for (fl::Index k = 0; k < guard; ++k) {
    if (d.field[k - guard] == 0xA5 && d.field[field_bytes(s) + k] == 0xA5) continue;
    damage.add([&] { return fl::text("process %d: the program wrote outside the field", d.me); });
  }
}

// What the exchange before iteration d.saved.before left.
inline void inspect_saved(const State& s, Domain& d, fl::ErrorSummary& damage) {
  if (fl::saved_before < 0) return;
  if (d.saved.before != fl::saved_before)
    return damage.add([&] { return fl::text("process %d: no exchange began in iteration %lld", d.me, fl::saved_before); });
  Domain then;
  then.me = d.me, then.leap = d.leap;
  then.along = d.saved.along, then.depth = d.saved.depth, then.touches = d.saved.touches;
  then.field = d.saved.field.data() + guard;
  inspect(s, then, d.saved.before - 1, damage);
  d.saved = {};
}

// One untimed exchange of fresh words over a poisoned halo. No barrier: while one process looks at its halo, or fills its field, a
// neighbour may be ahead by as much as the exchange itself permits; every second one lags behind, before or after.
inline void fresh_round(State& s, fl::ErrorSummary& damage) {
  constexpr useconds_t lag = 300;
  const fl::Index iteration = fl::beyond_timing + s.rounds++;
  const int where = s.team.rank / s.grid.columns + s.team.rank % s.grid.columns;
  s.filled = s.renewed = iteration;
  if ((where + s.rounds) % 3 == 0) usleep(lag);
  for (Domain& d : s.domains) {
    fill(s, d);
    poison(s, d);
  }
  fl::run_steps(iteration, 1);
  if ((where + s.rounds) % 2 == 0) usleep(lag);
  for (Domain& d : s.domains) {
    inspect(s, d, iteration, damage);
    d.touches = 0;  // what this round's mutate_inputs() wrote is what was there
  }
}

inline fl::Check check(State& s, fl::Index last) {
  fl::ErrorSummary damage;
  for (Domain& d : s.domains) {
    inspect(s, d, last, damage);
    inspect_saved(s, d, damage);
  }
  for (int round = 0; round < 4; ++round) fresh_round(s, damage);
  return damage.check(fl::text("%lld words of halo arrived, and nothing else was written", 4 * s.width * s.pitch - 4 * s.width * s.width));
}

}  // namespace halo
