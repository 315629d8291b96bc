// The messenger over the simulated transport: random messages between processes that are fibers, in one thread.
#include "messages_transport.hpp"

#include <cstdio>
#include <set>

namespace {

using namespace simulated;

// Message n of the whole run. Who receives it does so at event `at`, not before n.
struct Message {
  int from, to;
  Index bytes, at;
  std::vector<unsigned char> text, room;
};

std::vector<Message> program(const Settings& s) {
  std::mt19937_64 random(static_cast<std::uint64_t>(s.seed) * 2 + 1);
  std::vector<Message> all;
  std::map<std::pair<int, int>, Index> last;
  const Index lengths[] = {0, 1, s.slow_eager, s.slow_eager + 1, s.fast_eager, s.fast_eager + 1, 200};
  int from = 0, to = 0;
  for (Index n = 0; n < s.messages; ++n) {
    if (n == 0 || random() % static_cast<std::uint64_t>(s.talkative) == 0) {  // some pairs talk for a while
      from = static_cast<int>(random() % static_cast<std::uint64_t>(s.ranks));
      to = static_cast<int>(random() % static_cast<std::uint64_t>(s.ranks));
    }
    Message m{from, to, lengths[random() % std::size(lengths)], n + static_cast<Index>(random() % 12), {}, {}};
    Index& before = last[{from, to}];
    m.at = before = std::max(before, m.at);
    for (Index k = 0; k < m.bytes; ++k) m.text.push_back(static_cast<unsigned char>(random()));
    m.room.resize(static_cast<std::size_t>(m.bytes), 0xA5);
    all.push_back(std::move(m));
  }
  return all;
}

void must(bool holds, const char* what) {
  if (!holds) throw Wrong(what);
}

void process(World& w, std::vector<Message>& all, int me) {
  const Settings& s = w.settings;
  messages::Rules rules{{s.slow_slots, s.slow_bytes, s.slow_eager},
                        {s.fast_slots, s.fast_bytes, s.fast_eager},
                        s.upgrade_after,
                        s.fast_peers,
                        s.prepared != 0,
                        s.reclaim != 0};
  Simulated transport{w, me, {}};
  messages::Messenger<Simulated> post(transport, rules);
  for (Message& m : all)
    if (m.from == me) w.expose(me, m.text.data(), m.bytes);
  std::map<int, Index> from;
  std::set<int> met;
  Index sent = 0, received = 0;
  for (Index now = 0; now < s.messages + 12; ++now) {
    if (now < s.messages && all[static_cast<std::size_t>(now)].from == me) {
      const Message& m = all[static_cast<std::size_t>(now)];
      post.send(m.to, m.text.data(), m.bytes);
      met.insert(m.to), ++sent;
    }
    for (Message& m : all) {
      if (m.to != me || m.at != now) continue;
      must(post.receive(m.from, m.room.data(), m.bytes) == m.bytes, "a message of another length");
      if (s.fault != copies_late) must(m.room == m.text, "another message, or a damaged one");
      w.active();
      met.insert(m.from), ++from[m.from], ++received;
    }
    w.maybe_change();
  }
  post.finish();
  transport.carry_out();
  for (const Message& m : all) must(m.to != me || m.room == m.text, "a text that changed later");
  w.barrier();
  must(w.quiet(), "something was under way after the end");
  w.barrier();
  unsigned char none = 0;
  for (const auto& [peer, count] : from) must(post.try_receive(peer, &none, 1) == post.none, "a message too many");
  const messages::Account& a = post.account();
  Index hot = 0;
  for (const auto& [peer, count] : from) hot += count >= std::max<Index>(1, s.upgrade_after);
  const auto contacted = static_cast<Index>(met.size());
  must(a.sent == sent && a.received == received && a.eager + a.letters == sent && a.slow + a.fast == sent, "an account of messages");
  must(a.contacted == (s.prepared ? s.ranks : contacted), "an account of contacts");
  must(s.prepared || a.fast_most <= s.fast_peers, "more fast rings than there may be");
  const bool scarce = s.reclaim && hot > s.fast_peers;
  if (!s.prepared && !scarce) must(a.fast_now == std::min(hot, s.fast_peers) && a.returns == 0, "not the fast rings that there should be");
  if (scarce) must(a.upgrades - a.returns == a.fast_now, "a fast ring that nobody has");
  must(a.used == used(rules, s.ranks, contacted, scarce ? a.fast_now : hot), "other bytes in use than the model has");
  must(a.reserved == reserved(rules, s.ranks, contacted, scarce ? a.fast_most : hot), "other bytes held than the model has");
  must(a.reserved.bytes() == w.attached(me), "other bytes attached than accounted for");
}

}  // namespace

// 0 if all checks passed; else 1 and the failure.
extern "C" int simulate(const Settings* settings, char* what, int room) {
  try {
    World world(*settings);
    std::vector<Message> all = program(*settings);
    world.run([&](int me) { process(world, all, me); });
    return 0;
  } catch (const std::exception& e) {
    std::snprintf(what, static_cast<std::size_t>(room), "%s", e.what());
    return 1;
  }
}

extern "C" Index bytes(const Settings* s, Index contacted, Index hot, int in_use) {
  const messages::Rules rules{{s->slow_slots, s->slow_bytes, s->slow_eager},
                              {s->fast_slots, s->fast_bytes, s->fast_eager},
                              s->upgrade_after,
                              s->fast_peers,
                              s->prepared != 0,
                              s->reclaim != 0};
  return (in_use ? used(rules, s->ranks, contacted, hot) : reserved(rules, s->ranks, contacted, hot)).bytes();
}

// Runs as a program, for sanitizers: reads the settings of a run per line, in their order; prints the error of each on a line.
int main() {
  Settings s{};
  const auto read = [&s] {
    auto* values = reinterpret_cast<Index*>(&s);
    for (std::size_t k = 0; k < sizeof s / sizeof(Index); ++k)
      if (std::scanf("%lld", &values[k]) != 1) return false;
    return true;
  };
  while (read()) {
    char what[200] = "";
    simulate(&s, what, sizeof what);
    std::puts(what);
  }
}
