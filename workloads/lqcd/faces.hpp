// Half spinors on their way between processes: for each cut dimension and direction a neighbour and two buffers (virtual_nodes.hpp says
// what is in them). A process that is its own neighbour in a dimension wraps around there and sends nothing.
#pragma once

#include <mpi.h>

#include <cstring>
#include <vector>

#include "virtual_nodes.hpp"

namespace lqcd::inline FL_ROLE {

inline MPI_Datatype mpi_type(float) { return MPI_FLOAT; }
inline MPI_Datatype mpi_type(double) { return MPI_DOUBLE; }

// What goes one step along mu, and what comes from the opposite process by the same step. Buffers hold the targets of parity 0 first.
template <class T>
struct Message {
  int mu, step, to, from;
  Index reals;  // for one parity
  fl::Array<T> out, in;

  int tag() const { return 2 * mu + (step > 0 ? 1 : 0); }
  // For targets even, odd or both.
  Index first(int targets) const { return targets == odd ? reals : 0; }
  int count(int targets) const { return static_cast<int>(targets == both ? 2 * reals : reals); }

  void receive(int targets, MPI_Request& request) {
    MPI_Irecv(in.data() + first(targets), count(targets), mpi_type(T()), from, tag(), MPI_COMM_WORLD, &request);
  }
  void send(int targets, MPI_Request& request) {
    MPI_Isend(out.data() + first(targets), count(targets), mpi_type(T()), to, tag(), MPI_COMM_WORLD, &request);
  }
  void swap(int targets) {
    MPI_Sendrecv(out.data() + first(targets), count(targets), mpi_type(T()), to, tag(), in.data() + first(targets), count(targets),
                 mpi_type(T()), from, tag(), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
};

template <class T>
class Faces {
 public:
  std::vector<Message<T>> messages;
  Halo<T> halo;

  void open(const Layout& layout) {
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
    requests_.assign(2 * messages.size(), MPI_REQUEST_NULL);
  }

  void close() {
    for (auto& kept : kept_)
      for (MPI_Request& request : kept) MPI_Request_free(&request);
    kept_[even - 1] = kept_[odd - 1] = kept_[both - 1] = {};
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

  void receive(int targets) {
    for (std::size_t i = 0; i < messages.size(); ++i) messages[i].receive(targets, requests_[i]);
  }
  void send(int targets) {
    for (std::size_t i = 0; i < messages.size(); ++i) messages[i].send(targets, requests_[messages.size() + i]);
  }

  // Persistent requests: made once, receives first.
  void keep(int targets) {
    auto& kept = kept_[targets - 1];
    kept.resize(2 * messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      Message<T>& m = messages[i];
      MPI_Recv_init(m.in.data() + m.first(targets), m.count(targets), mpi_type(T()), m.from, m.tag(), MPI_COMM_WORLD, &kept[i]);
      MPI_Send_init(m.out.data() + m.first(targets), m.count(targets), mpi_type(T()), m.to, m.tag(), MPI_COMM_WORLD,
                    &kept[messages.size() + i]);
    }
  }
  void start_receives(int targets) { start(targets, 0); }
  void start_sends(int targets) { start(targets, messages.size()); }

  // Messages move when MPI is called: so now and then while there is other work to do.
  void poke(int targets = 0) {
    int done = 0;
    auto& some = in_flight(targets);
    if (!some.empty()) MPI_Testall(static_cast<int>(some.size()), some.data(), &done, MPI_STATUSES_IGNORE);
  }
  // `targets`: of the persistent requests; 0: the others.
  void wait(int targets = 0) {
    auto& some = in_flight(targets);
    if (!some.empty()) MPI_Waitall(static_cast<int>(some.size()), some.data(), MPI_STATUSES_IGNORE);
  }

 private:
  void start(int targets, std::size_t first) {
    if (!messages.empty()) MPI_Startall(static_cast<int>(messages.size()), kept_[targets - 1].data() + first);
  }
  std::vector<MPI_Request>& in_flight(int targets) { return targets == 0 ? requests_ : kept_[targets - 1]; }

  const Layout* layout_ = nullptr;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Request> kept_[3];  // by targets - 1
};

}  // namespace lqcd::inline FL_ROLE
