// A step over any fabric.
//   put: all messages are put with a notice each; a party is done when its own are complete and its partners' notices are there.
//   get: an empty notice signals that words are ready; its receiver gets them, and a notice signals that they have been read.
// A partner is one step ahead at most, for it needs this step's notices of this party; what it reports of its next step is kept until then.
#pragma once

#include <sched.h>

#include "interface.hpp"

namespace rdma {

template <class Fabric>
class Exchange {
 public:
  Fabric fabric;

  // After the fabric has registered this party's memory, on all parties.
  void meet(const State& s, const Party& p) {
    for (int d = 0; d < s.directions; ++d) {
      targets_.push_back(fabric.address_of(s.target(p.me, d)) + Shape::begin(s.target(p.me, d)));
      sources_.push_back(fabric.address_of(s.source(p.me, d)) + Shape::begin(s.source(p.me, d)));
    }
  }

  void step(const State& s, Party& p) {
    if (s.operation == Operation::put)
      push(s, p);
    else
      pull(s, p);
  }

 private:
  struct Early {
    int interface;
    Event event;
  };

  void push(const State& s, Party& p) {
    const auto set = static_cast<Tag>(p.set);
    for (int m = 0; m < s.all(); ++m) {
      const int d = s.direction_of(m);
      fabric.put({.peer = s.target(p.me, d),
                  .remote = targets_[static_cast<std::size_t>(d)] + s.in(p.set, m),
                  .local = out(s, p, m),
                  .bytes = s.bytes,
                  .tag = static_cast<Tag>(m) << 1 | set,
                  .interface = s.interface_of(m),
                  .notice = true});
    }
    int complete = 0, notified = 0;
    const auto take = [&](int interface, const Event& e) {
      if (e.kind == Event::complete) {
        ++complete;
      } else if ((e.tag & 1) == set) {
        ++notified;
        arrived(s, p, interface, e.peer, static_cast<int>(e.tag >> 1));
      } else {
        early_.push_back({interface, e});
      }
    };
    std::vector<Early> before;
    before.swap(early_);
    for (const Early& e : before) take(e.interface, e.event);
    each_event(s, [&] { return complete == s.all() && notified == s.all(); }, take);
  }

  void pull(const State& s, Party& p) {
    constexpr Tag is_ready = 1u << 31;
    int complete = 0, read = 0;
    const auto take = [&](int interface, const Event& e) {
      if (e.kind == Event::complete) {
        ++complete;
        if ((e.tag & is_ready) == 0) arrived(s, p, interface, e.peer, static_cast<int>(e.tag));
      } else if ((e.tag & is_ready) != 0) {
        ++ready_;
      } else {
        ++read;
      }
    };
    for (int d = 0; d < s.directions; ++d)
      fabric.put({.peer = s.target(p.me, d), .tag = is_ready | static_cast<Tag>(d), .interface = d % s.interfaces, .notice = true});
    each_event(s, [&] { return complete == s.directions && ready_ >= s.directions; }, take);
    ready_ -= s.directions;
    for (int m = 0; m < s.all(); ++m) {
      const int d = s.direction_of(m);
      fabric.get({.peer = s.source(p.me, d),
                  .remote = sources_[static_cast<std::size_t>(d)] + s.out(m),
                  .local = in(s, p, p.set, m),
                  .bytes = s.bytes,
                  .tag = static_cast<Tag>(m),
                  .interface = s.interface_of(m),
                  .notice = true});
    }
    each_event(s, [&] { return complete == s.directions + s.all() && read == s.all(); }, take);
  }

  // A party that waits for long may share its processor with the one that it waits for.
  template <class Over, class Take>
  void each_event(const State& s, Over over, Take take) {
    constexpr int batch = 256, patience = 64;
    for (int idle = 0, batches = 0; !over();) {
      bool some = false;
      for (int i = 0; i < s.interfaces; ++i)
        for (Event e = fabric.poll(i); e.kind != Event::none; e = fabric.poll(i)) {
          some = true;
          take(i, e);
        }
      if (some || ++idle < batch) continue;
      idle = 0;
      fabric.progress();
      if (++batches > patience) sched_yield();
    }
  }

  std::vector<Address> targets_, sources_;  // where the memory of each direction's partner begins
  std::vector<Early> early_;
  int ready_ = 0;  // partners that have reported it
};

}  // namespace rdma
