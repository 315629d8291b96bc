#include "firstlight/patterns/totals.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace fl::patterns {

namespace {

std::vector<Pair> together(std::vector<Pair> all) {
  std::ranges::stable_sort(all, {}, &Pair::to);
  std::vector<Pair> sums;
  for (const Pair& p : all) {
    if (sums.empty() || sums.back().to != p.to) {
      sums.push_back(p);
      continue;
    }
    sums.back().messages += p.messages;
    sums.back().bytes += p.bytes;
  }
  return sums;
}

std::vector<Pair> listed(const Phase& phase, Rank from, std::int64_t times) {
  Messages out;
  if (!phase.collective()) phase.sends(from, out);
  std::vector<Pair> all;
  for (const Message& m : out) all.push_back({from, m.peer, times * m.count, times * m.count * m.bytes});
  return all;
}

// What one rank has in a phase of messages.
struct Own {
  Messages out, in;
  void read(const Phase& phase, Rank me) {
    out.clear();
    phase.sends(me, out);
    in.clear();
    phase.receives(me, in);
  }
};

void add(Totals& t, Rank me, Own& own) {
  for (const Message& m : own.out) {
    t.shortest = t.messages == 0 ? m.bytes : std::min(t.shortest, m.bytes);
    t.longest = std::max(t.longest, m.bytes);
    t.messages += m.count;
    t.bytes += m.count * m.bytes;
    if (m.peer == me) t.own += m.count * m.bytes;
  }
  std::ranges::sort(own.out);
  std::ranges::sort(own.in);
  t.symmetric = t.symmetric && own.out == own.in;
}

// A message as either side sees it: the how manieth between these two it is there.
struct Seen {
  Rank from = 0, to = 0;
  std::int32_t number = 0;
  std::int64_t bytes = 0;
  friend auto operator<=>(const Seen&, const Seen&) = default;
};

void number(std::vector<Seen>& all) {
  std::ranges::stable_sort(all, {}, [](const Seen& s) { return std::pair(s.from, s.to); });
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].from == all[i - 1].from && all[i].to == all[i - 1].to) all[i].number = all[i - 1].number + 1;
}

std::string between(Rank from, Rank to) { return "from rank " + std::to_string(from) + " to rank " + std::to_string(to); }

std::string unmatched(const Instance& instance, const Phase& phase) {
  std::vector<Seen> sent, received;
  Messages list;
  for (Rank me = 0; me < instance.ranks; ++me) {
    for (const bool out : {true, false}) {
      list.clear();
      (out ? phase.sends : phase.receives)(me, list);
      for (const Message& m : list) {
        if (m.peer < 0 || m.peer >= instance.ranks)
          return "rank " + std::to_string(me) + " communicates with " + std::to_string(m.peer) + ", which is not a rank";
        if (m.bytes < 0 || m.count < 1) return "rank " + std::to_string(me) + " has a message of negative size";
        for (std::int32_t k = 0; k < m.count; ++k) (out ? sent : received).push_back({out ? me : m.peer, out ? m.peer : me, 0, m.bytes});
      }
    }
  }
  number(sent);
  number(received);
  for (std::size_t i = 0; i < std::max(sent.size(), received.size()); ++i) {
    if (i < sent.size() && i < received.size() && sent[i] == received[i]) continue;
    const bool lost = i >= received.size() || (i < sent.size() && sent[i] < received[i]);
    const Seen& odd = lost ? sent[i] : received[i];
    return std::to_string(odd.bytes) + " bytes " + between(odd.from, odd.to) +
           (lost ? " are sent and not received" : " are received and not sent");
  }
  return "";
}

std::string ungrouped(const Instance& instance, const Together& together) {
  for (Rank me = 0; me < instance.ranks; ++me) {
    const Group g = together.group(me);
    const std::string rank = "rank " + std::to_string(me);
    if (g.count < 1 || g.stride < 1 || g.first < 0 || g.rank(g.count - 1) >= instance.ranks) return rank + " has a group of no ranks";
    if (me < g.first || (me - g.first) % g.stride != 0 || g.member(me) >= g.count) return rank + " is not in its own group";
    if (!(together.group(g.first) == g)) return rank + " is in another group than rank " + std::to_string(g.first);
    if (together.root < 0 || together.root >= g.count) return rank + " has a root that is not a member of its group";
    if (together.bytes(g) < 0) return rank + " contributes a negative size";
  }
  return "";
}

}  // namespace

Totals totals(const Instance& instance, const Phase& phase) {
  Totals t;
  Own own;
  for (Rank me = 0; me < instance.ranks && !phase.collective(); ++me) {
    own.read(phase, me);
    add(t, me, own);
  }
  return t;
}

std::vector<Pair> pairs(const Phase& phase, Rank from) { return together(listed(phase, from, 1)); }

std::vector<Pair> pairs(const Instance& instance, Rank from) {
  std::vector<Pair> all;
  for (const Phase& phase : instance.phases) {
    const std::vector<Pair> some = listed(phase, from, phase.repetitions);
    all.insert(all.end(), some.begin(), some.end());
  }
  return together(std::move(all));
}

Overview overview(const Instance& instance, std::int64_t often) {
  Overview all;
  all.phases.resize(instance.phases.size());
  Own own;
  std::map<Rank, std::int64_t> got;  // messages of a run, by sender
  std::set<Rank> to;
  for (Rank me = 0; me < instance.ranks; ++me) {
    got.clear();
    to.clear();
    for (std::size_t k = 0; k < instance.phases.size(); ++k) {
      const Phase& phase = instance.phases[k];
      if (phase.collective()) continue;
      own.read(phase, me);
      add(all.phases[k], me, own);
      for (const Message& m : own.out) to.insert(m.peer);
      for (const Message& m : own.in) got[m.peer] += m.count * phase.repetitions * instance.iterations;
    }
    for (const Rank peer : to) got[peer] += 0;
    got.erase(me);
    all.partners.push_back(static_cast<Rank>(to.size() - to.count(me)));
    all.contacted = std::max(all.contacted, static_cast<Rank>(got.size()));
    all.often = std::max(all.often, static_cast<Rank>(std::ranges::count_if(got, [&](const auto& g) { return g.second >= often; })));
  }
  return all;
}

std::string unmatched(const Instance& instance) {
  for (const Phase& phase : instance.phases) {
    const std::string why = phase.collective() ? ungrouped(instance, phase.together) : unmatched(instance, phase);
    if (!why.empty()) return phase.name + ": " + why;
  }
  return "";
}

}  // namespace fl::patterns
