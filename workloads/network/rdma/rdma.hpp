// rdma: parties write into each other's memory, or read from it, over one to four interfaces (R4's extended RDMA interface).
//
// In a step each party has `messages` messages for its one peer, or for each of six neighbours, all at once. Message m, counted over the
// directions, goes by interface m modulo their number. A word is a function of its sender, its place and an iteration
// (firstlight/exact.hpp). In the timed loop the first and the last word of each message follow the iteration, and one more word of all,
// somewhere. What arrives is alternately in two sets of slots, for a partner may be a step ahead. The check renews everything, and parties
// lag behind each other.
#pragma once

#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "firstlight/error_summary.hpp"
#include "firstlight/exact.hpp"
#include "firstlight/input_mutator.hpp"
#include "firstlight/lines.hpp"
#include "firstlight/variant.hpp"
#include "firstlight/workload.hpp"

namespace rdma {

enum class Operation { put, get };
enum class Neighbours { one, six };

inline constexpr int most_interfaces = 4;

struct Params {
  fl::Index bytes = 8192, interfaces = 1, messages = 4;
  Neighbours neighbours = Neighbours::six;
  Operation operation = Operation::put;
  void declare(fl::Fields& fields) {
    fields.integer("bytes", bytes, "bytes", 8, fl::Index{16} << 20, "length of one message, whole words of 8 bytes");
    fields.integer("interfaces", interfaces, "interfaces", 1, most_interfaces, "interfaces over which messages alternate");
    fields.integer("messages", messages, "messages", 1, 64, "messages per neighbour and step");
    fields.choice("neighbours", neighbours, "one|six", "one: a process and its peer; six: the directions of a three-dimensional torus");
    fields.choice("operation", operation, "put|get", "put: the sender writes the words; get: the receiver reads the words");
  }
};

struct Traits {
  bool between_threads = false;  // the parties are threads of one process instead of ranks
  bool given_memory = false;     // windows on memory that the program has
};

struct Shape {
  fl::Index bytes = 0, words = 0, stride = 0;  // of a message; from slot to slot
  int parties = 1, directions = 1, messages = 1, interfaces = 1;
  Operation operation = Operation::put;

  int all() const { return directions * messages; }  // messages that a party sends in a step, and that it receives
  int direction_of(int m) const { return m / messages; }
  int interface_of(int m) const { return m % interfaces; }
  // Six: 1, 2 and 3 ranks away to either side, and never oneself where there is another party. One: half of the way around.
  int target(int me, int direction) const {
    if (directions == 1) return (me + parties / 2) % parties;
    const int away = parties == 1 ? 0 : 1 + direction / 2 % (parties - 1);
    return (me + (direction % 2 == 0 ? away : parties - away)) % parties;
  }
  // Whose messages of this direction come here.
  int source(int me, int direction) const { return target(me, directions == 1 ? 0 : direction ^ 1); }

  // Places in a party's memory. Each party's begins elsewhere: its addresses must be requested from it.
  static constexpr fl::Index guard = fl::line_pair;
  static fl::Index begin(int party) { return guard * (1 + party % 5); }
  fl::Index in(int set, int m) const { return (static_cast<fl::Index>(set) * all() + m) * stride; }
  fl::Index out(int m) const { return in(2, m); }
  fl::Index memory_bytes() const { return begin(4) + in(3, 0); }
};

// What a party found at the moment in which it learnt that a message had come.
struct Heard {
  int interface = 0, peer = 0, message = 0;
  double first = 0, last = 0;
};

// What mutate_inputs() found before iteration `before`: the step before it, see fl::saved_before.
struct Saved {
  fl::Index before = -1;
  std::vector<Heard> heard;
  std::vector<unsigned char> slots;  // of the messages that came
};

struct Party {
  int me = 0;
  int set = 0;                                           // where this step's messages arrive
  std::array<unsigned char*, most_interfaces> memory{};  // what an interface reads and writes; all the same, or one each
  std::vector<Heard> heard;                              // in this step, in their order
  fl::Array<unsigned char> own;
  Saved saved;
};

struct State : Shape {
  static constexpr bool own_loops = true;  // for a team of threads, or an epoch of a window
  fl::Team team;
  bool between_threads = false;
  bool lagging = false;            // some parties are slow on purpose
  fl::InputMutator changing;       // of all words that a party sends
  fl::Index filled = -1;           // the iteration that all words belong to that were not renewed since
  fl::Index rounds = 0;            // of checks so far
  std::vector<Party> all_parties;  // this process's: one, or as many as threads
};

inline constexpr fl::About about{
    .title = "Extended RDMA over several interfaces",
    .cost =
        "All messages of a process, simultaneous: the bytes that it sends and as many that it receives, each read and written at "
        "least once",
    .verified =
        "Every word of every message and the guards around it, and its notice: exactly one, in the order of its interface, after the "
        "data. This is checked after the last step and after one within a batch, then after steps with fresh words over poisoned "
        "slots while some processes are late.",
    .tolerance = "Exact",
};

inline constexpr fl::Metric metrics[] = {
    {"bandwidth", "GB/s", "flow", "rate", 1e-9, "higher"},
    {"message_rate", "1/s", "elements", "rate", 1, "higher"},
    {"step", "us", "operations", "time", 1e6, "lower"},
};

inline int parties(const fl::Team& team, const Traits& traits) { return traits.between_threads ? team.threads : team.ranks; }

inline Shape shape_of(const Params& p, int parties) {
  return {.bytes = p.bytes,
          .words = p.bytes / 8,
          .stride = fl::whole_pairs(p.bytes) + Shape::guard,
          .parties = parties,
          .directions = p.neighbours == Neighbours::six ? 6 : 1,
          .messages = static_cast<int>(p.messages),
          .interfaces = static_cast<int>(p.interfaces),
          .operation = p.operation};
}

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  const int all = parties(team, traits);
  if (p.bytes % 8 != 0) return fl::text("rdma sends whole words: bytes must be a multiple of 8; bytes=%lld given", p.bytes);
  if (traits.between_threads && team.ranks != 1)
    return fl::text("this variant of rdma runs between threads of one process; %d processes were started", team.ranks);
  if (traits.given_memory && all == 1)
    return "this variant of rdma needs two processes: Open MPI 4.1 cannot create a window on existing memory for a single process";
  if (p.neighbours == Neighbours::one && all > 1 && all % 2 != 0)
    return fl::text("rdma with neighbours=one needs pairs; %d processes or threads given: use an even number, or neighbours=six", all);
  return "";
}

// --- what a message contains ----------------------------------------------------------------------------------------------

inline double word(const Shape& s, int sender, int m, fl::Index i, fl::Index iteration) {
  return fl::exact::value(fl::exact::weight_of(sender), m * s.words + i, iteration);
}

inline double* words(const Shape& s, const Party& p, int m, fl::Index place) {
  return reinterpret_cast<double*>(p.memory[static_cast<std::size_t>(s.interface_of(m))] + Shape::begin(p.me) + place);
}
inline double* out(const Shape& s, const Party& p, int m) { return words(s, p, m, s.out(m)); }
inline double* in(const Shape& s, const Party& p, int set, int m) { return words(s, p, m, s.in(set, m)); }

inline void fill(const Shape& s, const Party& p, fl::Index iteration) {
  for (int m = 0; m < s.all(); ++m)
    for (fl::Index i = 0; i < s.words; ++i) out(s, p, m)[i] = word(s, p.me, m, i, iteration);
}

// --- in the timed loop -------------------------------------------------------------------------------------------------

[[gnu::cold, gnu::noinline]] inline void save(const State& s, Party& p, fl::Index iteration) {
  p.saved = {iteration, p.heard, {}};
  for (int m = 0; m < s.all(); ++m) {
    const auto* slot = reinterpret_cast<const unsigned char*>(in(s, p, p.set, m));
    p.saved.slots.insert(p.saved.slots.end(), slot, slot + s.stride);
  }
}

// Called once before each step, by whom the party belongs to.
inline void mutate_inputs(const State& s, Party& p, fl::Index iteration) {
  if (iteration == fl::saved_before) [[unlikely]]
    save(s, p, iteration);
  p.set ^= 1;
  p.heard.clear();
  if (iteration >= fl::beyond_timing) [[unlikely]]
    return fill(s, p, iteration);
  for (int m = 0; m < s.all(); ++m) {
    out(s, p, m)[0] = word(s, p.me, m, 0, iteration);
    out(s, p, m)[s.words - 1] = word(s, p.me, m, s.words - 1, iteration);
  }
  s.changing.mutate_inputs(iteration, [&](fl::Index k) {
    const int m = static_cast<int>(k / s.words);
    out(s, p, m)[k % s.words] = word(s, p.me, m, k % s.words, iteration);
  });
}

inline void mutate_inputs(State& s, fl::Index iteration) {
  if (!s.between_threads) mutate_inputs(s, s.all_parties[0], iteration);  // threads touch their own
}

// A variant calls it when it learns, by this interface, that message m of this peer has come.
inline void arrived(const State& s, Party& p, int interface, int peer, int m) {
  if (s.lagging && p.me % 2 == s.rounds % 2 && p.heard.size() == static_cast<std::size_t>(s.all() / 2)) [[unlikely]]
    usleep(100);
  const double* here = in(s, p, p.set, m >= 0 && m < s.all() ? m : 0);
  p.heard.push_back({interface, peer, m, here[0], here[s.words - 1]});
}

// --- outside of it -----------------------------------------------------------------------------------------------------

inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  return s.changing.mutate_between_batches(next, [&](fl::Index iteration) {
    s.changing.mutate_inputs(iteration, [&](fl::Index k) {
      const int m = static_cast<int>(k / s.words);
      for (const Party& p : s.all_parties) out(s, p, m)[k % s.words] = word(s, p.me, m, k % s.words, iteration);
    });
  });
}

inline void poison(const State& s, Party& p) {
  for (int set = 0; set < 2; ++set)
    for (int m = 0; m < s.all(); ++m) fl::poison(in(s, p, set, m), s.words);
  p.heard.clear();
}

inline void poison(State& s) {
  for (Party& p : s.all_parties) poison(s, p);
}

// Puts a party into memory of a variant's, memory_bytes() for each interface.
inline void adopt(const State& s, Party& p, const std::array<unsigned char*, most_interfaces>& memory) {
  p.memory = memory;
  for (int i = 0; i < s.interfaces; ++i) std::memset(memory[static_cast<std::size_t>(i)], 0xA5, static_cast<std::size_t>(s.memory_bytes()));
  fill(s, p, s.filled);
  poison(s, p);
}

inline void adopt(const State& s, Party& p, unsigned char* memory) {
  std::array<unsigned char*, most_interfaces> same;
  same.fill(memory);
  adopt(s, p, same);
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  static_cast<Shape&>(s) = shape_of(p, parties(team, traits));
  s.team = team;
  s.between_threads = traits.between_threads;
  s.changing = fl::InputMutator(s.all() * s.words, fl::InputMutator::most, true);
  s.all_parties.resize(traits.between_threads ? static_cast<std::size_t>(team.threads) : 1);
  for (std::size_t k = 0; k < s.all_parties.size(); ++k) {
    Party& party = s.all_parties[k];
    party.me = traits.between_threads ? static_cast<int>(k) : team.rank;
    party.heard.reserve(static_cast<std::size_t>(s.all()) + 1);
    party.own = fl::Array<unsigned char>(s.memory_bytes());
  }
  fl::first_touch(&s);
  for (Party& party : s.all_parties) adopt(s, party, party.own.data());
}

inline fl::Cost cost(const Params& p, const fl::Team& team, const Traits& traits) {
  const Shape s = shape_of(p, parties(team, traits));
  const double payload = static_cast<double>(s.all()) * static_cast<double>(s.bytes);
  return {.bytes = 2 * payload * s.parties,
          .messages = 1,
          .message_bytes = payload * s.parties,
          .operations = 1,
          .flow = payload,
          .elements = static_cast<double>(s.all()),
          .working_set = 2 * payload};
}

// --- the check ---------------------------------------------------------------------------------------------------------

// The iteration of word i of message m as it was sent in `iteration`.
inline fl::Index age(const State& s, const fl::ChangeLog& ages, int m, fl::Index i, fl::Index iteration) {
  if (iteration >= fl::beyond_timing || i == 0 || i == s.words - 1) return iteration;
  return ages.of(m * s.words + i, s.filled);
}

// Words that a sender sent in an iteration, and the guard behind them.
inline void inspect_words(const State& s, const Party& p, int sender, int m, const double* found, fl::Index iteration, const char* what,
                          fl::ErrorSummary& damage) {
  const fl::ChangeLog ages(s.changing, iteration);
  for (fl::Index i = 0; i < s.words; ++i) {
    const double wanted = word(s, sender, m, i, age(s, ages, m, i, iteration));
    if (fl::exact::bits(found[i]) == fl::exact::bits(wanted)) continue;
    damage.add([&] {
      return fl::text("participant %d, %s %d of participant %d: word %lld of %lld is %.17g, should be %.17g", p.me, what, m, sender, i,
                      s.words, found[i], wanted);
    });
  }
  const auto* behind = reinterpret_cast<const unsigned char*>(found) + s.bytes;
  for (fl::Index k = 0; k < s.stride - s.bytes; ++k)
    if (behind[k] != 0xA5) damage.add([&] { return fl::text("participant %d: the program wrote after %s %d", p.me, what, m); });
}

// Checks that each message was reported once, by its interface, from its sender, in order on each interface of a sender, and after its
// arrival.
inline void inspect_arrivals(const State& s, const Party& p, const std::vector<Heard>& heard, fl::Index iteration,
                             fl::ErrorSummary& damage) {
  std::vector<int> times(static_cast<std::size_t>(s.all()), 0);
  std::vector<int> latest(static_cast<std::size_t>(s.parties * s.interfaces), -1);
  for (const Heard& h : heard) {
    const int m = h.message;
    if (m < 0 || m >= s.all() || h.interface != s.interface_of(m) || h.peer != s.source(p.me, s.direction_of(m))) {
      damage.add([&] {
        return fl::text("participant %d: message %d of participant %d was announced by interface %d", p.me, m, h.peer, h.interface);
      });
      continue;
    }
    ++times[static_cast<std::size_t>(m)];
    int& before = latest[static_cast<std::size_t>(h.peer * s.interfaces + h.interface)];
    if (m <= before) damage.add([&] { return fl::text("participant %d: message %d was announced after message %d", p.me, m, before); });
    before = m;
    const double first = word(s, h.peer, m, 0, iteration), last = word(s, h.peer, m, s.words - 1, iteration);
    if (fl::exact::bits(h.first) != fl::exact::bits(first) || fl::exact::bits(h.last) != fl::exact::bits(last))
      damage.add([&] { return fl::text("participant %d: message %d of participant %d was announced before it arrived", p.me, m, h.peer); });
  }
  for (int m = 0; m < s.all(); ++m)
    if (const int n = times[static_cast<std::size_t>(m)]; n != 1)
      damage.add([&] { return fl::text("participant %d: message %d was announced %d times", p.me, m, n); });
}

// `both`: the set before contains the messages of the iteration before.
inline void inspect(const State& s, const Party& p, fl::Index iteration, bool both, fl::ErrorSummary& damage) {
  inspect_arrivals(s, p, p.heard, iteration, damage);
  for (int m = 0; m < s.all(); ++m) {
    const int sender = s.source(p.me, s.direction_of(m));
    inspect_words(s, p, sender, m, in(s, p, p.set, m), iteration, "message", damage);
    if (both) inspect_words(s, p, sender, m, in(s, p, 1 - p.set, m), iteration - 1, "earlier message", damage);
    inspect_words(s, p, p.me, m, out(s, p, m), iteration, "own message", damage);
  }
  for (int i = 0; i < s.interfaces; ++i)
    for (fl::Index k = 0; k < Shape::begin(p.me); ++k)
      if (p.memory[static_cast<std::size_t>(i)][k] != 0xA5)
        damage.add([&] { return fl::text("participant %d: the program wrote before the messages", p.me); });
}

// What the step before iteration p.saved.before left.
inline void inspect_saved(const State& s, Party& p, fl::ErrorSummary& damage) {
  if (fl::saved_before < 0) return;
  if (p.saved.before != fl::saved_before)
    return damage.add([&] { return fl::text("participant %d: no step began in iteration %lld", p.me, fl::saved_before); });
  const fl::Index iteration = p.saved.before - 1;
  inspect_arrivals(s, p, p.saved.heard, iteration, damage);
  for (int m = 0; m < s.all(); ++m) {
    const auto* slot = reinterpret_cast<const double*>(p.saved.slots.data() + m * s.stride);
    inspect_words(s, p, s.source(p.me, s.direction_of(m)), m, slot, iteration, "message", damage);
  }
  p.saved = {};
}

// Untimed steps in a row, of fresh words; without a barrier between them, so that who is ahead might overwrite what is not read yet.
inline void fresh_round(State& s, fl::ErrorSummary& damage) {
  constexpr fl::Index steps = 4;
  const fl::Index first = fl::beyond_timing + s.rounds++ * steps;
  fl::barrier();  // a partner may still be looking at its slots
  poison(s);
  fl::barrier();  // puts need no consent of the receiver
  s.lagging = true;
  fl::run_steps(first, steps);
  s.lagging = false;
  s.filled = first + steps - 1;
  for (const Party& p : s.all_parties) inspect(s, p, first + steps - 1, true, damage);
}

inline fl::Check check(State& s, fl::Index last) {
  fl::ErrorSummary damage;
  for (Party& p : s.all_parties) {
    inspect(s, p, last, false, damage);
    inspect_saved(s, p, damage);
  }
  for (int round = 0; round < 2; ++round) fresh_round(s, damage);
  return damage.check(fl::text("%d messages of %lld bytes arrived whole, in order and announced once", s.all(), s.bytes));
}

}  // namespace rdma
