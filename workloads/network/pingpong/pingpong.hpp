// pingpong: a message there and one back (R2). Time = alpha + bytes / beta: latency at 0 bytes, bandwidth at large ones.
//
// Party r talks to party r + p/2, all pairs at once. Every message is a function of its sender, the iteration and the position.
// In the timed loop its first and its last word follow the iteration, and one more, somewhere: the end that begins stamps them, and the
// other answers with what it has received, so that an answer given too early is a wrong answer. The check refreshes whole messages.
// Where data is fresh, every word of every message is written by its sender and read by its receiver, in the timed loop too.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "firstlight/alone.hpp"
#include "firstlight/error_summary.hpp"
#include "firstlight/input_mutator.hpp"
#include "firstlight/variant.hpp"
#include "firstlight/workload.hpp"

namespace pingpong {

enum class Data { cached, ordinary_pages, fresh_data };

inline constexpr const char* data_kinds = "cached|ordinary_pages|fresh_data";  // in the order of Data

struct Params {
  fl::Index bytes = 1024;
  Data data = Data::cached;
  void declare(fl::Fields& fields) {
    fields.integer("bytes", bytes, "bytes", 0, fl::Index{64} << 20, "length of one message");
    fields.choice("data", data, data_kinds,
                  "cached: the same buffers every time, on huge pages from 256 KiB; ordinary_pages: the same buffers, "
                  "allocated with malloc; fresh_data: as cached, but each message is completely written before "
                  "sending and read after arrival");
  }
};

struct Traits {
  bool between_threads = false;  // the parties are threads of one process instead of ranks
  bool both_ways = false;        // both ends send at once, and a step is one such exchange
  bool one_node = false;         // the parties share memory
};

// One party's end of its pair's line. A variant may let `out` or `in` point into a window of its own instead.
struct End {
  int me = 0, peer = 0;
  bool first = true;                 // begins the round trip; both ends do where messages go both ways at once
  fl::Index somewhere = 0;           // offset of the word between the first and the last that follows this iteration
  unsigned char* out = nullptr;      // the message to send
  unsigned char* in = nullptr;       // where the peer's arrives
  std::uint64_t salt = 0;            // of what this party sends
  std::uint64_t turn = 0;            // what makes the peer's word this party's
  std::uint64_t read = 0;            // of what arrived, where data is fresh
  fl::Index saved_before = -1;       // the iteration before which `saved` was taken, see fl::saved_before
  std::vector<unsigned char> saved;  // what had arrived; nothing where the peer may already send the next message
  fl::Array<unsigned char> own_out, own_in;
  std::unique_ptr<unsigned char[]> ordinary_out, ordinary_in;
};

struct State {
  static constexpr bool own_loops = true;  // for a team of threads, or an epoch of a window
  fl::Team team;
  bool between_threads = false;
  Data data = Data::cached;
  fl::Index bytes = 0;
  fl::Index last = 0;         // offset of the last word, which the message may hold in part
  fl::InputMutator changing;  // of the words of a message, the same on both ends
  fl::Index filled = -1;      // the iteration that all words belong to that were not stamped since
  fl::Index rounds = 0;       // of checks so far
  fl::Index touched = 0;      // the last iteration
  int messages = 2;           // one after the other in a step
  std::vector<End> ends;      // this process's parties: one, or as many as threads

  fl::Index words() const { return last / 8 + 1; }
  bool fresh() const { return data == Data::fresh_data; }
  bool follows(fl::Index k) const { return fresh() || k == 0 || k == words() - 1; }  // whether word k belongs to the last iteration
};

inline constexpr fl::About about{
    .title = "Ping-pong",
    .cost =
        "2 messages in a chain (1 in both directions simultaneously). A pair has 2 m bytes of payload and at least 4 m bytes of "
        "memory traffic. Fresh data are also produced and used, hence 8 m.",
    .verified =
        "Every byte of the last message on both sides, and of an earlier message of a batch; then three round trips with fresh "
        "messages over inverted receive buffers. No byte beyond a message may change.",
    .tolerance = "Exact",
};

inline constexpr fl::Metric metrics[] = {
    {"latency", "us", "messages", "time", 1e6, "lower"},
    {"latency_alone", "us", "latency_alone", "value", 1e6, "lower"},
    {"bandwidth", "GB/s", "message_bytes", "rate", 1e-9, "higher"},
};

inline int parties(const fl::Team& team, const Traits& traits) { return traits.between_threads ? team.threads : team.ranks; }

inline std::string refuse(const Params&, const fl::Team& team, const Traits& traits) {
  if (traits.between_threads && (team.ranks != 1 || team.threads % 2 != 0))
    return fl::text("pingpong between threads needs one process and an even number of threads; %d x %d given; use --threads 2", team.ranks,
                    team.threads);
  if (!traits.between_threads && team.ranks % 2 != 0)
    return fl::text("pingpong needs an even number of ranks; %d given; start it with mpiexec -n 2", team.ranks);
  if (traits.one_node && team.nodes != 1) return fl::text("this variant of pingpong needs all ranks on one node, not on %d", team.nodes);
  return "";
}

// --- what a message contains ----------------------------------------------------------------------------------------------

inline constexpr fl::Index word_bytes = 8;

// Odd multipliers, so that neighbouring iterations and positions differ in every byte that short messages have.
inline std::uint64_t word(std::uint64_t salt, fl::Index iteration, fl::Index position) {
  const auto i = static_cast<std::uint64_t>(iteration + 1), k = static_cast<std::uint64_t>(position);
  return (i * 0x9E3779B97F4A7C15ull + k * 0xBF58476D1CE4E5B9ull) ^ salt;
}

inline std::uint64_t salt_of(int party) { return static_cast<std::uint64_t>(party + 1) * 0x94D049BB133111EBull; }

inline std::uint64_t load(const unsigned char* from) {
  std::uint64_t w;
  std::memcpy(&w, from, sizeof w);
  return w;
}

inline void store(unsigned char* to, std::uint64_t w) { std::memcpy(to, &w, sizeof w); }

// --- in the timed loop -------------------------------------------------------------------------------------------------

// What a program does with data that is fresh: makes it, uses it, or both. By value, for what bytes are stored to may be anything.
inline void make(unsigned char* out, fl::Index words, std::uint64_t salt, fl::Index iteration) {
  for (fl::Index k = 0; k < words; ++k) store(out + k * word_bytes, word(salt, iteration, k));
}

inline std::uint64_t use(const unsigned char* in, fl::Index words) {
  std::uint64_t all = 0;
  for (fl::Index k = 0; k < words; ++k) all ^= load(in + k * word_bytes);
  return all;
}

inline void reply(unsigned char* __restrict out, const unsigned char* __restrict in, fl::Index words, std::uint64_t turn) {
  for (fl::Index k = 0; k < words; ++k) store(out + k * word_bytes, load(in + k * word_bytes) ^ turn);
}

inline constexpr fl::Index guard = 64;  // bytes behind a message that no code may write

inline fl::Index capacity(const State& s) { return (s.bytes + word_bytes - 1) / word_bytes * word_bytes + guard; }

[[gnu::cold, gnu::noinline]] inline void save(const State& s, End& e, fl::Index iteration) {
  e.saved_before = iteration;
  e.saved.assign(e.in, e.in + (e.first ? capacity(s) : 0));
}

// The end that begins, before it sends. Words beyond a short message have room and are not sent.
inline void stamp(const State& s, End& e, fl::Index iteration) {
  if (iteration == fl::saved_before) [[unlikely]]
    save(s, e, iteration);
  if (!s.fresh()) s.changing.mutate_inputs(iteration, [&](fl::Index k) { e.somewhere = k * word_bytes; });
  if (!e.first) return;
  if (s.fresh()) {
    e.read ^= use(e.in, s.words());
    make(e.out, s.words(), e.salt, iteration);
    return;
  }
  store(e.out, word(e.salt, iteration, 0));
  store(e.out + s.last, word(e.salt, iteration, s.last / word_bytes));
  store(e.out + e.somewhere, word(e.salt, iteration, e.somewhere / word_bytes));
}

// The other end, after it received and before it sends: exclusive or, so that each byte follows from its own byte alone.
inline void answer(const State& s, const End& e) {
  if (s.fresh()) {
    reply(e.out, e.in, s.words(), e.turn);
    return;
  }
  const std::uint64_t front = load(e.in) ^ e.turn;
  const std::uint64_t back = load(e.in + s.last) ^ e.turn;
  const std::uint64_t middle = load(e.in + e.somewhere) ^ e.turn;
  store(e.out, front);
  store(e.out + s.last, back);
  store(e.out + e.somewhere, middle);
}

inline void mutate_inputs(State& s, fl::Index iteration) {
  s.touched = iteration;
  if (!s.between_threads) stamp(s, s.ends[0], iteration);  // threads stamp their own
}

// Both ends, as if messages had gone there and back.
inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  if (s.fresh()) return next;
  return s.changing.mutate_between_batches(next, [&](fl::Index iteration) {
    s.changing.mutate_inputs(iteration, [&](fl::Index k) {
      for (const End& e : s.ends) store(e.out + k * word_bytes, word(e.salt, iteration, k));
    });
  });
}

// --- outside of it -----------------------------------------------------------------------------------------------------

// Whole messages of iteration s.filled.
inline void fill(const State& s, const End& e) {
  for (fl::Index k = 0; k < capacity(s) / word_bytes; ++k) store(e.out + k * word_bytes, word(e.salt, s.filled, k));
}

inline void poison(const State& s, const End& e) {
  for (fl::Index k = 0; k < capacity(s) / word_bytes; ++k) store(e.in + k * word_bytes, fl::poison_bits);
}

inline void poison(State& s) {
  for (const End& e : s.ends) poison(s, e);
}

// Memory of the process's own, first written by the calling thread.
inline void allocate(const State& s, End& e) {
  if (s.data == Data::ordinary_pages) {
    e.ordinary_out.reset(new unsigned char[static_cast<std::size_t>(capacity(s))]);
    e.ordinary_in.reset(new unsigned char[static_cast<std::size_t>(capacity(s))]);
    e.out = e.ordinary_out.get();
    e.in = e.ordinary_in.get();
  } else {
    e.own_out = fl::Array<unsigned char>(capacity(s));
    e.own_in = fl::Array<unsigned char>(capacity(s));
    e.out = e.own_out.data();
    e.in = e.own_in.data();
  }
  fill(s, e);
  poison(s, e);
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.team = team;
  s.between_threads = traits.between_threads;
  s.messages = traits.both_ways ? 1 : 2;
  s.data = p.data;
  s.bytes = p.bytes;
  s.last = p.bytes > 0 ? (p.bytes - 1) / word_bytes * word_bytes : 0;
  s.changing = fl::InputMutator(s.words(), fl::InputMutator::most, true);
  const int all = parties(team, traits), half = all / 2;
  const int here = traits.between_threads ? all : 1;
  s.ends.resize(static_cast<std::size_t>(here));
  for (int i = 0; i < here; ++i) {
    End& e = s.ends[static_cast<std::size_t>(i)];
    e.me = traits.between_threads ? i : team.rank;
    e.peer = (e.me + half) % all;
    e.first = e.me < half || traits.both_ways;
    e.salt = salt_of(e.me);
    e.turn = salt_of(e.me) ^ salt_of(e.peer);
    allocate(s, e);
  }
}

inline fl::Cost cost(const Params& p, const fl::Team& team, const Traits& traits) {
  const double payload = 2.0 * static_cast<double>(p.bytes) * (parties(team, traits) / 2);
  return {.bytes = (p.data == Data::fresh_data ? 4 : 2) * payload,
          .messages = traits.both_ways ? 1.0 : 2.0,
          .message_bytes = payload,
          .working_set = 2.0 * static_cast<double>(p.bytes)};
}

// --- the check ---------------------------------------------------------------------------------------------------------

// What byte j of the message for this end must be after `iteration`.
inline unsigned char expected(const State& s, const End& e, const fl::ChangeLog& ages, fl::Index j, fl::Index iteration) {
  const fl::Index k = j / word_bytes;
  const std::uint64_t w = word(salt_of(e.peer), s.follows(k) ? iteration : ages.of(k, s.filled), k);
  unsigned char bytes[word_bytes];
  std::memcpy(bytes, &w, sizeof bytes);
  return bytes[j % word_bytes];
}

// Checks every byte of what came, `in`; whole words at a time while they are right. Behind the message word k must be behind(k).
template <class Behind>
void inspect(const State& s, const End& e, const unsigned char* in, fl::Index iteration, Behind behind, fl::ErrorSummary& damage) {
  const std::uint64_t salt = salt_of(e.peer);
  const fl::ChangeLog ages(s.changing, iteration);
  for (fl::Index j = 0; j < capacity(s);) {
    const fl::Index k = j / word_bytes;
    const bool inner = j % word_bytes == 0 && k > 0 && j < s.last;
    if (inner && load(in + j) == word(salt, s.fresh() ? iteration : ages.of(k, s.filled), k)) {
      j += word_bytes;
      continue;
    }
    unsigned char rest[word_bytes];
    const std::uint64_t w = behind(k);
    std::memcpy(rest, &w, sizeof rest);
    const unsigned char wanted = j < s.bytes ? expected(s, e, ages, j, iteration) : rest[j % word_bytes];
    if (in[j] != wanted) {
      damage.add([&] {
        return fl::text("byte %lld %s of %lld bytes from %d to %d is 0x%02x, should be 0x%02x", j,
                        j < s.bytes ? "in a message" : "after a message", s.bytes, e.peer, e.me, in[j], wanted);
      });
    }
    ++j;
  }
}

// One untimed round trip of fresh messages. Every receive buffer contains the complement of what must arrive, so that no stale byte
// is right by chance. Collective, whatever was found before.
inline void fresh_round(State& s, fl::ErrorSummary& damage) {
  const fl::Index iteration = fl::beyond_timing + s.rounds++;
  fl::barrier();  // the peer may still be reading the message before
  s.filled = iteration;
  const auto behind = [&](const End& e) { return [&s, salt = salt_of(e.peer)](fl::Index k) { return ~word(salt, s.filled, k); }; };
  for (const End& e : s.ends) {
    fill(s, e);
    for (fl::Index k = 0; k < capacity(s) / word_bytes; ++k) store(e.in + k * word_bytes, behind(e)(k));
  }
  fl::barrier();  // one-sided messages need no consent of the receiver
  fl::run_steps(iteration, 1);
  for (const End& e : s.ends) inspect(s, e, e.in, iteration, behind(e), damage);
}

inline std::uint64_t poisoned(fl::Index) { return fl::poison_bits; }

// What had arrived before iteration e.saved_before.
inline void inspect_saved(const State& s, const End& e, fl::ErrorSummary& damage) {
  if (fl::saved_before < 0) return;
  if (e.saved_before != fl::saved_before)
    damage.add([&] { return fl::text("participant %d: no round trip began in iteration %lld", e.me, fl::saved_before); });
  else if (e.first)
    inspect(s, e, e.saved.data(), e.saved_before - 1, poisoned, damage);
}

// Threads would start their team anew for each.
inline void observe(State& s, fl::Observations& seen) {
  if (!s.between_threads) seen.value("latency_alone", fl::alone(seen, s.team, s.touched) / s.messages);
}

inline fl::Check check(State& s, fl::Index last) {
  fl::ErrorSummary damage;
  for (const End& e : s.ends) {
    inspect(s, e, e.in, last, poisoned, damage);
    inspect_saved(s, e, damage);
  }
  for (int round = 0; round < 3; ++round) fresh_round(s, damage);
  return damage.check(fl::text("messages of %lld bytes arrived whole", s.bytes));
}

}  // namespace pingpong
