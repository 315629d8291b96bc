// A strategy that is a transport of native/grid (firstlight/grid/mpi_put.hpp, mpi_shared.hpp): programs measure here the transport that they use there.
#pragma once

#include <optional>

#include "sides.hpp"

namespace halo {

template <class Transport>
class Parcels {
 public:
  void open(State& s) {
    all_.open(s);
    for (std::size_t k = 0; k < phases_.size(); ++k) {
      const Side &low = all_.side[2 * k], &high = all_.side[2 * k + 1];
      if (low.here) continue;
      phases_[k].emplace(Transport{}, std::vector{coming(s, low), coming(s, high)}, std::vector{going(s, low), going(s, high)});
    }
  }
  void close(State&) {
    for (auto& phase : phases_) phase.reset();
    all_.close();
  }

  void step(State& s, fl::Index) {
    two_phases(s, all_, [&](const Side& low, const Side& high) {
      unsigned char* field = s.domains[0].field;
      auto& channel = *phases_[static_cast<std::size_t>(low.way) / 2];
      channel.receive();
      pack(s, field, low.out, fl::grid::outgoing(channel, 0, low.outbox));
      pack(s, field, high.out, fl::grid::outgoing(channel, 1, high.outbox));
      channel.send();
      channel.wait();
      unpack(s, fl::grid::arrived(channel, 0, low.inbox), field, low.in);
      unpack(s, fl::grid::arrived(channel, 1, high.inbox), field, high.in);
    });
  }

 private:
  static fl::grid::Parcel coming(const State& s, const Side& side) { return {side.peer, side.in_tag, side.inbox, bytes(s, side.in)}; }
  static fl::grid::Parcel going(const State& s, const Side& side) { return {side.peer, side.out_tag, side.outbox, bytes(s, side.out)}; }

  Sides all_;
  std::array<std::optional<typename Transport::Channel>, 2> phases_;
};

}  // namespace halo
