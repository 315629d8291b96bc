// Half spinors on their way between processes: for each cut dimension and direction a neighbour and two buffers (virtual_nodes.hpp defines
// what is in them). A process that is its own neighbour in a dimension wraps around there and sends nothing.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "firstlight/grid/mpi.hpp"
#include "virtual_nodes.hpp"

namespace lqcd {

using fl::grid::Mpi;
using fl::grid::Parcel;

// What goes one step along mu, and what comes from the opposite process by the same step. Buffers hold the targets of parity 0 first.
template <class T>
struct Message {
  int mu, step, to, from;
  Index reals;  // for one parity
  fl::Array<T> out, in;

  // For targets even, odd or both.
  Parcel outgoing(int targets) { return part(out, to, targets); }
  Parcel incoming(int targets) { return part(in, from, targets); }

  void swap(int targets) {
    const Parcel o = outgoing(targets), i = incoming(targets);
    MPI_Sendrecv(o.data, static_cast<int>(o.bytes), MPI_BYTE, o.peer, o.tag, i.data, static_cast<int>(i.bytes), MPI_BYTE, i.peer, i.tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

 private:
  Parcel part(fl::Array<T>& buffer, int peer, int targets) const {
    return {peer, 2 * mu + (step > 0 ? 1 : 0), buffer.data() + (targets == odd ? reals : 0),
            (targets == both ? 2 : 1) * reals * static_cast<Index>(sizeof(T))};
  }
};

template <class T>
class Faces {
 public:
  std::vector<Message<T>> messages;
  Halo<T> halo;

  void open(const Layout& layout, Mpi::Requests requests = Mpi::Requests::fresh) {
    close();
    layout_ = &layout;
    const ProcessGrid grid = grid_of(layout.lattice);
    const Extents here = position_of(layout.lattice);
    for (std::size_t mu = 0; mu < 4; ++mu)
      for (int step = -1; step <= 1; step += 2) {
        if (!layout.lattice.cut(mu)) continue;
        const Index reals = face_reals(layout, mu);
        messages.push_back({static_cast<int>(mu), step, grid.neighbour(here, mu, step), grid.neighbour(here, mu, -step), reals,
                            fl::Array<T>(2 * reals), fl::Array<T>(2 * reals)});
        Message<T>& m = messages.back();
        std::memset(m.out.data(), 0, static_cast<std::size_t>(2 * reals) * sizeof(T));
        std::memset(m.in.data(), 0, static_cast<std::size_t>(2 * reals) * sizeof(T));
        (step < 0 ? halo.forward : halo.backward)[mu] = m.in.data();
      }
    for (int targets = even; targets <= both; ++targets) {
      std::vector<Parcel> receives, sends;
      for (Message<T>& m : messages) {
        receives.push_back(m.incoming(targets));
        sends.push_back(m.outgoing(targets));
      }
      channel(targets) = std::make_unique<Mpi::Channel>(Mpi{.requests = requests}, receives, sends);
    }
  }

  void close() {
    for (auto& channel : channels_) channel.reset();
    messages.clear();
    halo = {};
  }

  // One message for one target parity: threads share them out.
  int tasks(int targets) const { return static_cast<int>(messages.size()) * (targets == both ? 2 : 1); }
  void pack(const Hop<T>& job, int targets, int task) {
    const int parity = targets == both ? task % 2 : targets == odd ? 1 : 0;
    Message<T>& m = messages[static_cast<std::size_t>(targets == both ? task / 2 : task)];
    lqcd::pack<T>(*layout_, job.links, job.psi, m.mu, m.step, parity, m.out.data() + parity * m.reals);
  }
  void pack(const Hop<T>& job, int targets) {
    for (int task = 0; task < tasks(targets); ++task) pack(job, targets, task);
  }

  // --- ways of exchanging ------------------------------------------------------------------------------------------------

  void swap(int targets) {
    for (Message<T>& m : messages) m.swap(targets);
  }

  void receive(int targets) { channel(targets)->receive(); }
  void send(int targets) { channel(targets)->send(); }
  // Messages move when MPI is called: so now and then while there is other work to do.
  void poke(int targets) { channel(targets)->progress(); }
  void wait(int targets) { channel(targets)->wait(); }

 private:
  std::unique_ptr<Mpi::Channel>& channel(int targets) { return channels_[targets - 1]; }

  const Layout* layout_ = nullptr;
  std::unique_ptr<Mpi::Channel> channels_[3];
};

}  // namespace lqcd
