// halo: neighbours exchange the rims of their sub-domains (R3's HALO). Phase 1 moves w rows of N words north and south, phase 2
// moves w columns of N + 2w words west and east, so that corners arrive over two processes.
//
// An exchange begins and ends with the call of a process: between its calls its halo stays as it is, and its own words are its own
// to change, however far its neighbours are ahead. Words are a function of their global place and of an iteration. Of the words
// that a neighbour needs, mutate_inputs() renews the four corners in every iteration, and one more a side, which wanders by leaps drawn for each
// launch, so that each word of a message has an age that follows from its place. All of them change between batches, so that no exchange may
// keep the others. The check renews everything, interior included.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "firstlight/lines.hpp"
#include "firstlight/split.hpp"
#include "firstlight/variant.hpp"
#include "firstlight/workload.hpp"
#include "regions.hpp"

namespace halo {

enum class Data { packed, datatype, inplace };

struct Params {
  fl::Index n = 32, width = 1, word = 8, rows = 0;
  Data data = Data::packed;
  void declare(fl::Fields& fields) {
    fields.integer("n", n, "words", 1, 1 << 14, "side of a process's sub-domain");
    fields.integer("width", width, "words", 1, 64, "width of the halo");
    fields.integer("word", word, "bytes", 4, 8, "length of a word, 4 or 8");
    fields.choice("data", data, "packed|datatype|inplace",
                  "how messages are assembled: packed, described with a datatype, or sent in place if contiguous");
    fields.integer("rows", rows, "processes", 0, 1 << 20, "rows of the process grid; 0 makes it as square as possible");
  }
};

struct Traits {
  bool between_threads = false;   // the parties are threads of one process instead of ranks
  bool at_once = false;           // all eight neighbours are served at once instead of in two phases
  bool one_node = false;          // the parties share memory
  bool needs_neighbours = false;  // without them there is nothing to see
};

// From one place on a side to the next: a step around all its n width places, n to a depth, that comes to each of them once.
struct Leap {
  fl::Index along = 1, depth = 0;
  fl::Index inverse = 1;  // so many leaps are one place
};

inline Leap leap_of(fl::Index n, fl::Index places, std::uint64_t drawn) {
  fl::Index leap = 1 + static_cast<fl::Index>(drawn % static_cast<std::uint64_t>(places));
  while (std::gcd(leap, places) != 1) ++leap;
  leap %= places;  // 0 where there is one place
  fl::Index inverse = 1;
  while (places > 1 && leap * inverse % places != 1) ++inverse;
  return {leap % n, leap / n, inverse};
}

// What mutate_inputs() found before iteration `before`: the exchange before it, see fl::saved_before.
struct Saved {
  fl::Index before = -1;
  fl::Index along = 0, depth = 0, touches = 0;
  std::vector<unsigned char> field;  // with its guards
};

// One party's sub-domain. A variant may move it into memory of its own, see adopt().
struct Domain {
  int me = 0;
  std::array<int, directions> neighbour{};
  unsigned char* field = nullptr;  // word (0, 0): the north-west corner of the halo
  std::uint64_t salt = 0;          // of the interior's first word
  fl::Index along = 0, depth = 0;  // the place on each side that the last mutate_inputs() renewed
  Leap leap;
  fl::Index touches = 0;  // since the last fill
  fl::Array<unsigned char> memory;
  Saved saved;
};

struct State : Shape {
  static constexpr bool own_loops = true;  // for a team of threads, or an epoch of a window
  fl::Team team;
  Traits traits;
  Data data = Data::packed;
  Grid grid;
  fl::Index filled = -1;        // the iteration of all words that were not touched since
  fl::Index renewed = -1;       // the same of words that a neighbour needs
  fl::Index rounds = 0;         // of checks so far
  std::vector<Domain> domains;  // this process's parties: one, or as many as threads
};

inline constexpr fl::About about{
    .title = "Halo exchange",
    .cost =
        "One exchange: 2 messages in a chain (1 if all are simultaneous; none along a dimension with one process). Each process sends"
        " w N words to the north and south and w (N + 2w) to the west and east, each read and written at least once.",
    .verified =
        "Every word of the halo including corners, of the interior and of a guard around it: after the last exchange and after one "
        "within a batch. Then four exchanges with fresh words over a poisoned halo, while every second process is late.",
    .tolerance = "Exact",
};

inline constexpr fl::Metric metrics[] = {
    {"exchange", "us", "operations", "time", 1e6, "lower"},
    {"bandwidth", "GB/s", "flow", "rate", 1e-9, "higher"},
};

inline int parties(const fl::Team& team, const Traits& traits) { return traits.between_threads ? team.threads : team.ranks; }

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  if (p.width > p.n) return fl::text("halo needs width <= n, because a neighbour has only n words; n=%lld width=%lld given", p.n, p.width);
  if (p.word != 4 && p.word != 8) return fl::text("halo needs words of 4 or 8 bytes; word=%lld given", p.word);
  if (p.rows > 0 && parties(team, traits) % p.rows != 0)
    return fl::text("halo needs rows that divide the number of processes; rows=%lld and %d processes given", p.rows, parties(team, traits));
  if (traits.between_threads && team.ranks != 1)
    return fl::text("this variant of halo runs between threads of one process; %d processes were started", team.ranks);
  if (traits.needs_neighbours && parties(team, traits) == 1) return "this variant of halo needs more than one process";
  if (traits.one_node && team.nodes != 1) return fl::text("this variant of halo needs all ranks on one node, not on %d", team.nodes);
  return "";
}

// --- what a word contains -----------------------------------------------------------------------------------------------------

inline constexpr std::uint64_t per_row = 0x9E3779B97F4A7C15ull, per_column = 0xBF58476D1CE4E5B9ull, per_iteration = 0xD6E8FEB86659FD93ull;

inline std::uint64_t place(fl::Index row, fl::Index column) {
  return static_cast<std::uint64_t>(row) * per_row + static_cast<std::uint64_t>(column) * per_column;
}
inline std::uint64_t moment(fl::Index iteration) { return static_cast<std::uint64_t>(iteration + 1) * per_iteration; }

// The sum alone would make words wrong and right together: words shifted by a place and an iteration of equal sum.
inline std::uint64_t mixed(std::uint64_t sum) {
  sum = (sum ^ (sum >> 32)) * 0x94D049BB133111EBull;
  return sum ^ (sum >> 29);
}

template <class Word>
inline Word made(std::uint64_t sum) {
  return static_cast<Word>(mixed(sum) >> (64 - 8 * sizeof(Word)));
}

inline std::uint64_t word(const Shape& s, std::uint64_t sum) { return s.word == 8 ? made<std::uint64_t>(sum) : made<std::uint32_t>(sum); }

// --- in the timed loop -------------------------------------------------------------------------------------------------------

template <class Word>
inline void renew(const Shape& s, Domain& d, fl::Index iteration) {
  const std::uint64_t sum = d.salt + moment(iteration);
  const auto interior = reinterpret_cast<Word*>(d.field) + s.width * s.pitch + s.width;
  const auto put = [&](fl::Index row, fl::Index column) { interior[row * s.pitch + column] = made<Word>(sum + place(row, column)); };
  const fl::Index last = s.n - 1;
  put(0, 0);
  put(0, last);
  put(last, 0);
  put(last, last);
  put(d.depth, d.along);
  put(last - d.depth, d.along);
  put(d.along, d.depth);
  put(d.along, last - d.depth);
}

inline constexpr fl::Index guard = fl::line_pair;  // bytes before and behind a field that no code may write

inline fl::Index field_bytes(const Shape& s) { return s.pitch * s.pitch * s.word; }

[[gnu::cold, gnu::noinline]] inline void save(const Shape& s, Domain& d, fl::Index iteration) {
  d.saved = {iteration, d.along, d.depth, d.touches, {d.field - guard, d.field + field_bytes(s) + guard}};
}

// Called once before each exchange, by whom the sub-domain belongs to.
inline void mutate_inputs(const Shape& s, Domain& d, fl::Index iteration) {
  if (iteration == fl::saved_before) [[unlikely]]
    save(s, d, iteration);
  d.along += d.leap.along;
  d.depth += d.leap.depth;
  if (d.along >= s.n) d.along -= s.n, ++d.depth;
  if (d.depth >= s.width) d.depth -= s.width;
  ++d.touches;
  if (s.word == 8)
    renew<std::uint64_t>(s, d, iteration);
  else
    renew<std::uint32_t>(s, d, iteration);
}

inline void mutate_inputs(State& s, fl::Index iteration) {
  if (!s.traits.between_threads) mutate_inputs(s, s.domains[0], iteration);  // threads touch their own
}

// --- outside of it -----------------------------------------------------------------------------------------------------------

// What adopt() needs.
inline fl::Index memory_bytes(const Shape& s) { return 2 * guard + fl::whole_pairs(field_bytes(s)); }

inline std::uint64_t load(const Shape& s, const unsigned char* field, fl::Index row, fl::Index column) {
  const unsigned char* from = field + (row * s.pitch + column) * s.word;
  return s.word == 8 ? *reinterpret_cast<const std::uint64_t*>(from) : *reinterpret_cast<const std::uint32_t*>(from);
}
inline void store(const Shape& s, unsigned char* field, fl::Index row, fl::Index column, std::uint64_t w) {
  unsigned char* to = field + (row * s.pitch + column) * s.word;
  if (s.word == 8)
    *reinterpret_cast<std::uint64_t*>(to) = w;
  else
    *reinterpret_cast<std::uint32_t*>(to) = static_cast<std::uint32_t>(w);
}

inline bool in_halo(const Shape& s, fl::Index row, fl::Index column) {
  return row < s.width || column < s.width || row >= s.width + s.n || column >= s.width + s.n;
}

template <class Function>
inline void each_halo_word(const Shape& s, Function function) {
  for (int d = 0; d < directions; ++d) {
    const Region r = ghost(s, d);
    for (fl::Index row = r.row; row < r.row + r.rows; ++row)
      for (fl::Index column = r.column; column < r.column + r.columns; ++column) function(row, column);
  }
}

// Between batches, all words that a neighbour needs are changed.
inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  s.renewed = next;
  for (Domain& d : s.domains) {
    const std::uint64_t sum = d.salt + moment(next);
    for (int side = 0; side < sides; ++side) {
      const Region r = boundary(s, side);
      for (fl::Index row = r.row; row < r.row + r.rows; ++row)
        for (fl::Index column = r.column; column < r.column + r.columns; ++column)
          store(s, d.field, row, column, word(s, sum + place(row - s.width, column - s.width)));
    }
    d.touches = 0;
  }
  return next + 1;
}

inline void poison(const State& s, const Domain& d) {
  each_halo_word(s, [&](fl::Index row, fl::Index column) { store(s, d.field, row, column, fl::poison_bits | 0x7FC0DEADu); });
}

inline void poison(State& s) {
  for (const Domain& d : s.domains) poison(s, d);
}

// The interior of iteration s.filled, and the guards.
inline void fill(const State& s, Domain& d) {
  const std::uint64_t sum = d.salt + moment(s.filled);
  for (fl::Index row = 0; row < s.n; ++row)
    for (fl::Index column = 0; column < s.n; ++column)
      store(s, d.field, s.width + row, s.width + column, word(s, sum + place(row, column)));
  std::memset(d.field - guard, 0xA5, guard);
  std::memset(d.field + field_bytes(s), 0xA5, guard);
  d.touches = 0;
}

// Moves a sub-domain into other memory of memory_bytes(s), from a variant's set-up.
inline void adopt(const State& s, Domain& d, unsigned char* memory) {
  d.field = memory + guard;
  fill(s, d);
  poison(s, d);
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.team = team;
  s.traits = traits;
  s.n = p.n;
  s.width = p.width;
  s.pitch = p.n + 2 * p.width;
  s.word = static_cast<int>(p.word);
  s.data = p.data;
  s.grid = grid_of(parties(team, traits), p.rows);
  s.domains.resize(traits.between_threads ? static_cast<std::size_t>(team.threads) : 1);
  const std::uint64_t drawn = fl::hash(fl::seed());  // the same for all parties
  const fl::Index places = s.n * s.width, begin = static_cast<fl::Index>(drawn >> 32) % places;
  const Leap leap = leap_of(s.n, places, drawn & 0xFFFFFFFF);
  for (std::size_t k = 0; k < s.domains.size(); ++k) {
    Domain& d = s.domains[k];
    d.me = traits.between_threads ? static_cast<int>(k) : team.rank;
    for (int way = 0; way < directions; ++way) d.neighbour[static_cast<std::size_t>(way)] = s.grid.neighbour(d.me, way);
    d.leap = leap;
    d.along = begin % s.n, d.depth = begin / s.n;
    d.salt = place(d.me / s.grid.columns * s.n, d.me % s.grid.columns * s.n);
    d.memory = fl::Array<unsigned char>(memory_bytes(s));
  }
  fl::first_touch(&s);
  for (Domain& d : s.domains) adopt(s, d, d.memory.data());
}

inline fl::Cost cost(const Params& p, const fl::Team& team, const Traits& traits) {
  const int all = parties(team, traits);
  const Grid grid = grid_of(all, p.rows);
  const Shape shape{p.n, p.width, p.n + 2 * p.width, static_cast<int>(p.word)};
  const bool along_columns = grid.rows > 1, along_rows = grid.columns > 1;
  double sent = 0, halo = 0;  // bytes of one party
  for (int d = 0; d < directions; ++d) {
    const auto part = static_cast<double>(bytes(shape, ghost(shape, d)));
    halo += part;
    // In two phases corners travel twice; they come from a neighbour in the second phase, whom this party then is to its own.
    if (traits.at_once ? grid.neighbour(0, d) != 0 : column_step[d] == 0 ? along_columns : along_rows) sent += part;
  }
  return {.bytes = 2 * halo * all,
          .messages = traits.at_once ? (along_columns || along_rows ? 1.0 : 0.0) : (along_columns ? 1.0 : 0.0) + (along_rows ? 1.0 : 0.0),
          .message_bytes = sent * all,
          .operations = 1,
          .flow = 2 * sent,
          .working_set = 2 * halo};
}

}  // namespace halo

#ifdef FL_JUDGE
#include "judge.hpp"
#endif
