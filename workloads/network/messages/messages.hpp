// messages: the memory of message buffers per process, and the effect of saving it on latency (R4). A step is a whole run: a fresh messenger,
// `rounds` rounds in which each process sends to the partners of the scenario and receives from those whose partner it is, and the end.
//
// Message k of a process is a window of one array of words, exact.hpp's of this process and this run, that begins k words further on:
// no two words of the array are alike, so no two messages agree in any word at the same place, and what is lost, late, doubled, cut or
// from another sender shows in every word. The check sees every message of the last run, in the order in which it was received.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "firstlight/error_summary.hpp"
#include "firstlight/exact.hpp"
#include "firstlight/variant.hpp"
#include "firstlight/workload.hpp"
#include "rules.hpp"
#include "scenario.hpp"

namespace messages {

enum class Lengths { same, mixed };

struct Params {
  Scenario scenario = Scenario::neighbours;
  fl::Index bytes = 8, rounds = 64, burst = 1;
  Lengths lengths = Lengths::same;
  Rules rules;
  void declare(fl::Fields& fields) {
    constexpr fl::Index many = 1 << 16;
    fields.choice("scenario", scenario, "neighbours|pairs|drift|all",
                  "communication partners: six frequent neighbours among many, every pair once per round, six changing neighbours, all");
    fields.integer("bytes", bytes, "bytes", 0, 1 << 26, "length of a message");
    fields.integer("rounds", rounds, "rounds", 1, many, "rounds of messages per run");
    fields.integer("burst", burst, "messages", 1, many, "consecutive messages to a partner per round");
    fields.choice("lengths", lengths, "same|mixed", "all messages of length `bytes`, or of changing lengths up to `bytes`");
    fields.integer("slow_slots", rules.slow.slots, "slots", 1, many, "slots per slow buffer");
    fields.integer("slow_bytes", rules.slow.bytes, "bytes", 16, many, "size of a slow slot");
    fields.integer("slow_eager", rules.slow.eager, "bytes", 0, many, "longest message sent in a slow slot");
    fields.integer("fast_slots", rules.fast.slots, "slots", 1, many, "slots per fast buffer");
    fields.integer("fast_bytes", rules.fast.bytes, "bytes", 16, 1 << 20, "size of a fast slot");
    fields.integer("fast_eager", rules.fast.eager, "bytes", 0, 1 << 20, "longest message sent in a fast slot");
    fields.integer("upgrade_after", rules.upgrade_after, "messages", 0, many, "messages after which a sender receives a fast buffer");
    fields.integer("fast_peers", rules.fast_peers, "processes", 0, 1 << 20, "most senders with a fast buffer, per receiver");
  }
};

// What the messenger of a variant is.
struct Traits {
  bool own = true;        // a messenger of firstlight's, whose buffers are known; else the library's
  bool prepared = false;  // Rules::prepared
  bool reclaim = false;   // Rules::reclaim
};

struct Message {
  int peer = 0;
  fl::Index begin = 0;  // words: where it begins in the sender's array
  fl::Index bytes = 0;
  fl::Index place = 0;  // bytes: where it is in the inbox; of those received
};

struct Round {
  std::vector<Message> out, in;
};

struct State {
  Params p;
  fl::Team team;
  Traits traits;
  Rules rules;
  fl::Index run = 0;        // so many resets
  fl::Array<double> words;  // this process's array
  std::vector<Round> rounds;
  fl::Index messages = 0;  // sent by a process in a run
  fl::Array<unsigned char> inbox;
  std::vector<fl::Index> lengths;  // of the messages received, in their order
  fl::Index touched = 0;

  std::function<void()> renew;    // of a variant: a fresh messenger; collective
  std::function<void()> account;  // fills what follows, after a run
  Memory used, reserved;          // by the messenger's own account
  fl::Index attached = 0;         // bytes that its transport attached, door included
  fl::Index contacted = 0, fast_now = 0, fast_most = 0, upgrades = 0, returns = 0, eager = 0, sent = 0, received = 0, slow = 0, fast = 0;
  fl::Index resident = 0;  // bytes, before the first message of this case
  fl::Index lags = 0;
  bool lagging = false;  // processes fall behind now and then
};

inline constexpr fl::About about{
    .title = "Messages at scale",
    .cost = "One operation per message that a process sends; its bytes are read and written at least once",
    .verified =
        "Every word, the length, the order and the number of messages, of the last run and of three further runs with changing "
        "lengths and late processes. The attached memory, compared with the messenger's account and with the rules.",
    .tolerance = "Exact",
};

inline constexpr fl::Metric metrics[] = {
    {"message", "us", "operations", "time", 1e6, "lower"},
    {"bandwidth", "MB/s", "flow", "rate", 1e-6, "higher"},
    {"buffers", "MiB", "buffers", "value", 0x1p-20, "lower"},
    {"attached", "MiB", "attached", "value", 0x1p-20, "lower"},
    {"resident", "MiB", "resident", "value", 0x1p-20, "lower"},
    {"resident_per_peer", "KiB", "resident_per_peer", "value", 0x1p-10, "lower"},
    {"upgrades", "", "upgrades", "value", 1, "higher"},
    {"eager", "%", "eager", "value", 100, "higher"},
    {"fast_share", "%", "fast_share", "value", 100, "higher"},
};

inline Rules rules_of(const Params& p, const Traits& traits) {
  Rules r = p.rules;
  r.prepared = traits.prepared, r.reclaim = traits.reclaim;
  return r;
}

// --- which messages there are ------------------------------------------------------------------------------------------------

// Returns the length of message k that a process sends. Lengths are around the borders between ways of travelling, and 0.
inline fl::Index length(const Params& p, fl::Index k) {
  if (p.lengths == Lengths::same) return p.bytes;
  const fl::Index some[] = {8, p.rules.slow.eager, p.rules.slow.eager + 1, 0, p.rules.fast.eager, p.bytes, p.rules.fast.eager + 1, 3};
  return std::min(p.bytes, some[fl::hash(static_cast<std::uint64_t>(k)) % 8]);
}

// Everything that is sent in a run: every process does the same to partners at the same distances.
inline fl::Index messages_of(const Params& p, int ranks) {
  fl::Index count = 0;
  for (fl::Index round = 0; round < p.rounds; ++round) count += p.burst * static_cast<fl::Index>(partners(p.scenario, ranks, round).size());
  return count;
}

inline std::vector<Round> schedule(const Params& p, const fl::Team& team) {
  std::vector<Round> rounds;
  fl::Index k = 0, place = 0;
  for (fl::Index round = 0; round < p.rounds; ++round) {
    Round& r = rounds.emplace_back();
    for (const int d : partners(p.scenario, team.ranks, round))
      for (fl::Index b = 0; b < p.burst; ++b, ++k) {
        const fl::Index bytes = length(p, k);
        r.out.push_back({(team.rank + d) % team.ranks, k, bytes, 0});
        r.in.push_back({(team.rank + team.ranks - d) % team.ranks, k, bytes, place});
        place += (bytes + 7) / 8 * 8;
      }
  }
  return rounds;
}

inline fl::Index inbox_bytes(const Params& p, int ranks) {
  fl::Index all = 0;
  const fl::Index count = messages_of(p, ranks);
  for (fl::Index k = 0; k < count; ++k) all += (length(p, k) + 7) / 8 * 8;
  return all;
}

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  const std::string why = refusal(p.rules);
  if (!why.empty()) return why;
  constexpr fl::Index most = fl::Index{1} << 30, words = fl::Index{1} << 24;
  if (static_cast<double>(p.rounds) * static_cast<double>(p.burst) * team.ranks > words)
    return fl::text("messages needs fewer than %lld messages per process and run; use fewer rounds or a smaller burst", words);
  if (inbox_bytes(p, team.ranks) > most)
    return fl::text("messages needs memory for all messages of a run, at most 1 GiB; use fewer rounds, a smaller burst or fewer bytes");
  if (traits.own && team.ranks < 2)
    return "this variant of messages needs at least two processes: Open MPI 4.1 has no dynamic window for a single process";
  if (traits.own && team.ranks > 1 << 20) return "messages supports at most 2^20 processes";
  return "";
}

// --- inputs --------------------------------------------------------------------------------------------------------------------

inline void poison(State& s) {
  std::fill(s.inbox.begin(), s.inbox.end(), static_cast<unsigned char>(0xA5));
  std::fill(s.lengths.begin(), s.lengths.end(), -1);
}

inline void fill(State& s) {
  const fl::exact::Weight weight = fl::exact::weight_of(s.team.rank);
  for (fl::Index i = 0; i < s.words.size(); ++i) s.words[i] = fl::exact::value(weight, i, s.run);
}

inline void plan(State& s, const Params& p) {
  s.p = p;
  s.rounds = schedule(p, s.team);
  s.messages = messages_of(p, s.team.ranks);
  s.words = fl::Array<double>(s.messages + (p.bytes + 7) / 8 + 1);
  s.inbox = fl::Array<unsigned char>(std::max<fl::Index>(8, inbox_bytes(p, s.team.ranks)));
  s.lengths.assign(static_cast<std::size_t>(s.messages), -1);
  poison(s);
}

// Bytes of this process in memory now.
inline fl::Index resident() {
  long long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  const int found = std::fscanf(file, "%*d %lld", &pages);
  std::fclose(file);
  return found == 1 ? pages * sysconf(_SC_PAGESIZE) : 0;
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.team = team, s.traits = traits;
  s.rules = rules_of(p, traits);
  plan(s, p);
}

inline void reset(State& s) {
  ++s.run;
  fill(s);
  poison(s);
  if (s.renew) s.renew();
}

// Between rounds, in runs of the check's own.
inline void lag(State& s) {
  if (s.lagging && fl::hash(static_cast<std::uint64_t>(++s.lags * 64 + s.team.rank)) % 8 == 0) usleep(100);
}

// A touched word is of the step's own; reset() renews all of them.
inline void mutate_inputs(State& s, fl::Index iteration) { s.touched = iteration; }

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const auto messages = static_cast<double>(messages_of(p, team.ranks));
  double bytes = 0;
  for (fl::Index k = 0; k < static_cast<fl::Index>(messages); ++k) bytes += static_cast<double>(length(p, k));
  return {.bytes = 2 * bytes * team.ranks,
          .message_bytes = bytes * team.ranks,
          .operations = messages,
          .flow = 2 * bytes,
          .working_set = 2 * bytes};
}

inline void observe(State& s, fl::Observations& seen) {
  const fl::Index now = resident(), grown = now > s.resident ? now - s.resident : 0;
  std::map<int, fl::Index> from;
  for (const Round& r : s.rounds)
    for (const Message& m : r.in) ++from[m.peer];
  seen.value("resident", static_cast<double>(grown));
  seen.value("resident_per_peer", static_cast<double>(grown) / static_cast<double>(from.size()));
  if (!s.traits.own) return;
  s.account();
  seen.value("buffers", static_cast<double>(s.used.bytes()));
  seen.value("attached", static_cast<double>(s.attached));
  seen.value("upgrades", static_cast<double>(s.upgrades));
  seen.value("returns", static_cast<double>(s.returns));
  seen.value("contacted", static_cast<double>(s.contacted));
  seen.value("fast_peers", static_cast<double>(s.fast_now));
  const auto sent = static_cast<double>(std::max<fl::Index>(1, s.sent));
  seen.value("eager", static_cast<double>(s.eager) / sent);
  seen.value("fast_share", static_cast<double>(s.fast) / sent);
}

}  // namespace messages

#ifdef FL_JUDGE
#include "judge.hpp"
#endif
