// The check: every message of a run, and the memory behind it.
#pragma once

#include "messages.hpp"

namespace messages {

// Word `at` of a message found by `get`, of which `bytes` are left; cut to what a message has of it.
inline std::uint64_t cut(std::uint64_t word, fl::Index bytes) { return bytes >= 8 ? word : word & ((std::uint64_t{1} << (8 * bytes)) - 1); }

inline void inspect(const State& s, const Message& m, fl::Index length, fl::ErrorSummary& damage) {
  if (length != m.bytes) {
    damage.add([&] {
      return fl::text("rank %d: message %lld of rank %d has %lld bytes, should have %lld", s.team.rank, m.begin, m.peer, length, m.bytes);
    });
    return;
  }
  const fl::exact::Weight weight = fl::exact::weight_of(m.peer);
  for (fl::Index at = 0; at < m.bytes; at += 8) {
    const fl::Index left = m.bytes - at;
    std::uint64_t found = 0;
    std::memcpy(&found, s.inbox.data() + m.place + at, static_cast<std::size_t>(std::min<fl::Index>(8, left)));
    const std::uint64_t wanted = cut(fl::exact::bits(fl::exact::value(weight, m.begin + at / 8, s.run)), left);
    if (found == wanted) continue;
    damage.add([&] {
      return fl::text("rank %d: message %lld of rank %d, byte %lld: 0x%llx found, 0x%llx should be there", s.team.rank, m.begin, m.peer, at,
                      static_cast<unsigned long long>(found), static_cast<unsigned long long>(wanted));
    });
  }
}

// Whether in every round each rank receives from the rank that it sends to: then a grant is known before the message that follows the next
// one.
inline bool mirrored(const State& s) {
  for (const Round& r : s.rounds) {
    std::map<int, fl::Index> balance;
    for (const Message& m : r.out) ++balance[m.peer];
    for (const Message& m : r.in) --balance[m.peer];
    for (const auto& [peer, n] : balance)
      if (n != 0) return false;
  }
  return true;
}

// Whether all senders of a process send in every round: none of them is idle between two messages of another in different rounds.
inline bool steady(const State& s) {
  const auto senders = [](const Round& r) {
    std::set<int> all;
    for (const Message& m : r.in) all.insert(m.peer);
    return all;
  };
  return std::all_of(s.rounds.begin(), s.rounds.end(), [&](const Round& r) { return senders(r) == senders(s.rounds.front()); });
}

inline void inspect_account(State& s, fl::ErrorSummary& damage) {
  std::map<int, fl::Index> from, with;
  fl::Index surely_eager = 0, never_eager = 0;
  for (const Round& r : s.rounds) {
    for (const Message& m : r.in) ++from[m.peer], with[m.peer] = 1;
    for (const Message& m : r.out) {
      with[m.peer] = 1;
      surely_eager += m.bytes <= std::min(s.rules.slow.eager, s.rules.fast.eager);
      never_eager += m.bytes > std::max(s.rules.slow.eager, s.rules.fast.eager);
    }
  }
  fl::Index hot = 0, early = 0;
  const fl::Index burst = s.p.burst, after = std::max<fl::Index>(1, s.rules.upgrade_after);
  for (const auto& [peer, n] : from) hot += n >= after, early += std::min(n, burst * ((after + burst - 1) / burst + 1));
  const auto met = static_cast<fl::Index>(with.size());
  const auto must = [&](const char* what, fl::Index found, fl::Index least, fl::Index most) {
    if (found >= least && found <= most) return;
    damage.add([&] { return fl::text("rank %d: %s: %lld, should be %lld to %lld", s.team.rank, what, found, least, most); });
  };
  const auto exactly = [&](const char* what, fl::Index found, fl::Index wanted) { must(what, found, wanted, wanted); };
  const fl::Index ranks = s.team.ranks, limit = s.rules.prepared ? ranks : s.rules.fast_peers;
  s.account();
  exactly("messages sent", s.sent, s.messages);
  exactly("messages received", s.received, s.messages);
  exactly("messages by their rings", s.slow + s.fast, s.messages);
  must("eager messages", s.eager, surely_eager, s.messages - never_eager);
  exactly("processes contacted", s.contacted, s.rules.prepared ? ranks : met);
  must("fast buffers at once", s.fast_most, 0, limit);
  const bool scarce = s.rules.reclaim && hot > limit;
  if (s.rules.prepared) {
    exactly("fast buffers", s.fast_now, ranks);
    exactly("messages through fast buffers", s.fast, s.messages);
  } else if (!scarce) {
    exactly("fast buffers", s.fast_now, std::min(hot, limit));
    exactly("upgrades", s.upgrades, std::min(hot, limit));
    exactly("returned fast buffers", s.returns, 0);
    if (hot <= limit && mirrored(s)) must("messages through fast buffers", s.fast, s.messages - early, s.messages);
  } else {
    must("fast buffers", s.fast_now, 0, limit);
    exactly("upgrades minus returns", s.upgrades - s.returns, s.fast_now);
    // Who becomes hot counts messages of two rounds at least, in which every holder has used its buffer.
    if (after > burst && steady(s)) exactly("fast buffers withdrawn from senders that use them", s.returns, 0);
  }
  const fl::Index now = scarce ? s.fast_now : hot;
  exactly("bytes of buffers in use", s.used.bytes(), used(s.rules, ranks, met, now).bytes());
  exactly("bytes of allocated buffers", s.reserved.bytes(), reserved(s.rules, ranks, met, scarce ? s.fast_most : hot).bytes());
  exactly("bytes attached", s.attached, s.reserved.bytes());
}

inline void inspect(State& s, fl::ErrorSummary& damage) {
  std::size_t k = 0;
  for (const Round& r : s.rounds)
    for (const Message& m : r.in) inspect(s, m, s.lengths[k++], damage);
  if (s.traits.own) inspect_account(s, damage);
}

// A run of the check's own, with other messages of the same scenario.
inline void run_once(State& s, const Params& p, bool lagging, fl::ErrorSummary& damage) {
  plan(s, p);
  s.lagging = lagging;
  reset(s);
  fl::run_steps(fl::beyond_timing + s.run, 1);
  s.lagging = false;
  inspect(s, damage);
}

inline fl::Check check(State& s, fl::Index) {
  const fl::Index some = s.team.ranks > 8 ? 200 : 500;  // messages of a process in such a run; many share few processors as a rule
  const Params usual = s.p;
  const auto partner_count = static_cast<fl::Index>(partners(usual.scenario, s.team.ranks, 0).size());
  fl::ErrorSummary damage;
  inspect(s, damage);
  const fl::Index messages = s.messages;
  Params p = usual;
  p.lengths = Lengths::mixed;
  p.bytes = std::min<fl::Index>(std::max(usual.bytes, usual.rules.fast.eager + 9), 1 << 17);
  p.burst = 1;
  p.rounds = std::clamp<fl::Index>(some / partner_count, 1, 60);
  run_once(s, p, true, damage);  // changing lengths, lagging processes
  p.rounds = std::min<fl::Index>(p.rounds, 3);
  p.burst = std::clamp<fl::Index>(some / partner_count, 2, usual.rules.fast.slots + usual.rules.slow.slots + 3);
  run_once(s, p, false, damage);  // more at once than there are slots
  run_once(s, usual, true, damage);
  return damage.check(fl::text("%lld messages arrived, complete and in order", messages));
}

}  // namespace messages
