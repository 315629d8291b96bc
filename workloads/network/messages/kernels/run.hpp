// A run of a messenger: what the variants with one of our own do. They differ in the rules.
#pragma once

#include <optional>

#include "messages.hpp"
#include "messenger.hpp"
#include "windows.hpp"

namespace messages {

template <class Transport = Windows, class Post = Messenger<Transport>>
struct Run {
  Transport transport;
  std::optional<Post> post;

  void open(State& s) {
    s.resident = resident();
    transport.open(s.team.rank, s.team.ranks);
    s.renew = [this, &s] {
      post.reset();
      transport.renew(most(s.rules, s.team.ranks).bytes());
      transport.expose(s.words.data(), 8 * s.words.size());
      post.emplace(transport, s.rules);
    };
    s.account = [this, &s] { copy_account(s); };
  }
  void close(State& s) {
    s.renew = s.account = nullptr;
    post.reset();
    transport.close();
  }

  void step(State& s, fl::Index) {
    fl::Index k = 0;
    for (const Round& round : s.rounds) {
      lag(s);
      for (const Message& m : round.out) post->send(m.peer, &s.words[m.begin], m.bytes);
      for (const Message& m : round.in) s.lengths[static_cast<std::size_t>(k++)] = post->receive(m.peer, &s.inbox[m.place], m.bytes);
    }
    post->finish();
  }

  void copy_account(State& s) {
    const Account& a = post->account();
    s.used = a.used, s.reserved = a.reserved, s.attached = transport.attached();
    s.contacted = a.contacted, s.fast_now = a.fast_now, s.fast_most = a.fast_most, s.upgrades = a.upgrades, s.returns = a.returns;
    s.sent = a.sent, s.received = a.received, s.eager = a.eager, s.slow = a.slow, s.fast = a.fast;
  }
};

}  // namespace messages
