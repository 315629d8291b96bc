// Schedules of very many rounds, most of them alike: each kind of round is looked at once, on the network, and counted as often as it is.
#include "firstlight/network/alike_rounds.hpp"

#include <algorithm>

#include "rounds.hpp"

namespace fl::network {

using collectives::Rank;
using collectives::Rounds;
using collectives::Schedule;

AlikeRounds::AlikeRounds(const Schedule& s, double bytes, const Topology& topology, const Machine& machine)
    : linked_(topology.links() > 0), loads_(static_cast<std::size_t>(topology.links()), 0) {
  const double chunk = s.chunks > 0 ? bytes / static_cast<double>(s.chunks) : 0;
  const auto ranks = static_cast<std::size_t>(s.ranks);
  std::vector<std::int64_t> users(loads_.size(), 0), sends(ranks, 0), receives(ranks, 0);
  Busiest busiest(topology, machine, ranks, false);
  std::vector<Rounds::Receipt> receipts;
  std::vector<Sent> messages;
  for (std::size_t i = 0; i + 1 < s.rounds.begins.size(); ++i) {
    const std::int64_t times = s.rounds.begins[i + 1] - s.rounds.begins[i];
    if (times == 0) continue;
    messages.clear();
    for (Rank me = 0; me < s.ranks; ++me) {
      receipts.clear();
      s.rounds.receipts(me, s.rounds.begins[i], receipts);
      for (const Rounds::Receipt& r : receipts) {
        messages.push_back({r.from, me, static_cast<double>(r.count) * chunk, r.combined});
        sends[static_cast<std::size_t>(r.from)] += times, receives[static_cast<std::size_t>(me)] += times;
      }
    }
    const Round round = busiest.of(messages, [&](const Sent& m, Link link) {
      users[static_cast<std::size_t>(link)] += times;
      loads_[static_cast<std::size_t>(link)] += m.bytes * static_cast<double>(times);
    });
    messages_ += times * std::ssize(messages);
    rounds_ += messages.empty() ? 0 : times;
    if (!messages.empty()) kinds_.push_back({times, round});
  }
  judge(topology, machine, users, sends, receives);
}

void AlikeRounds::judge(const Topology& topology, const Machine& machine, std::span<const std::int64_t> users,
                        std::span<const std::int64_t> sends, std::span<const std::int64_t> receives) {
  Contention& c = contention_;
  const auto most = std::ranges::max_element(users);
  if (most != users.end()) c.max_load = *most;
  c.links_used = std::ranges::count_if(users, [](std::int64_t n) { return n > 0; });
  c.link_disjoint = c.max_load <= 1;
  const auto crowded = [&](std::size_t r) { return std::max(sends[r], receives[r]) > machine.interfaces; };
  std::size_t rank = 0;
  while (rank < sends.size() && !crowded(rank)) ++rank;
  c.contention_free = c.link_disjoint && rank == sends.size();
  if (!c.link_disjoint)
    c.why = std::to_string(c.max_load) + " operations use the link " + topology.describe(most - users.begin());
  else if (!c.contention_free)
    c.why = "rank " + std::to_string(rank) + " has more sends or receives than " + std::to_string(machine.interfaces) + " interfaces";
}

double AlikeRounds::nanoseconds(const Machine& machine, bool alone) const {
  double sum = 0;
  for (const Kind& k : kinds_) sum += static_cast<double>(k.times) * k.round.cost(machine, linked_, alone);
  return sum;
}

bool knows_rounds(const Schedule& s) { return !s.rounds.begins.empty(); }

bool only_by_rounds(const Schedule& s) {
  return knows_rounds(s) && 2.0 * s.ranks * s.rounds.begins.back() > static_cast<double>(Plan::most_steps);
}

}  // namespace fl::network
