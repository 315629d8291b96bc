// Exchanges over MPI, by the library, by plain messages, or by schedules of native/collectives.
#pragma once

#include <mpi.h>

#include "exchange.hpp"
#include "firstlight/collectives/executor.hpp"

namespace spectral::inline FL_ROLE {

namespace ours = fl::collectives;

inline int points(Index count) { return static_cast<int>(count); }  // of MPI_C_DOUBLE_COMPLEX, of which bytes would be too many for an int

struct Communicator {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, ranks = 1;

  Communicator(int colour, int order) {
    MPI_Comm_split(MPI_COMM_WORLD, colour, order, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() { MPI_Comm_free(&comm); }
};

// The library's all-to-all.
class AllToAll : public Exchange {
 public:
  AllToAll(const Communicator& group, Buffers& buffers)
      : group_(group), buffers_(buffers), out_(group, buffers.to), in_(group, buffers.from) {}
  void start(int) override {}
  void finish() override {
    MPI_Alltoallv(buffers_.out.data(), out_.counts.data(), out_.places.data(), MPI_C_DOUBLE_COMPLEX, buffers_.in.data(), in_.counts.data(),
                  in_.places.data(), MPI_C_DOUBLE_COMPLEX, group_.comm);
  }

 private:
  struct Side {
    std::vector<int> counts, places;

    Side(const Communicator& group, const Parts& parts) {
      for (int q = 0; q < group.ranks; ++q) {
        counts.push_back(q == group.rank ? 0 : points(parts.size(0, q)));  // what stays is there
        places.push_back(points(parts.begin(0, q)));
      }
    }
  };

  const Communicator& group_;
  Buffers& buffers_;
  Side out_, in_;
};

// In each round with one process to send to and one to receive from, at growing distance.
class Pairwise : public Exchange {
 public:
  Pairwise(const Communicator& group, Buffers& buffers) : group_(group), buffers_(buffers) {}
  void start(int) override {}
  void finish() override {
    const auto& [to_parts, from_parts, out, in] = buffers_;
    for (int away = 1; away < group_.ranks; ++away) {
      const int to = (group_.rank + away) % group_.ranks, from = (group_.rank + group_.ranks - away) % group_.ranks;
      MPI_Sendrecv(buffers_.out.data() + to_parts.begin(0, to), points(to_parts.size(0, to)), MPI_C_DOUBLE_COMPLEX, to, 0,
                   buffers_.in.data() + from_parts.begin(0, from), points(from_parts.size(0, from)), MPI_C_DOUBLE_COMPLEX, from, 0,
                   group_.comm, MPI_STATUS_IGNORE);
    }
  }

 private:
  const Communicator& group_;
  Buffers& buffers_;
};

// Each slice leaves as soon as it is packed, and travels while the next one is made.
class Overlapped : public Exchange {
 public:
  static constexpr int slices = 4;

  Overlapped(const Communicator& group, Buffers& buffers) : group_(group), buffers_(buffers) {}
  void start(int slice) override {
    if (slice == 0) receive();
    for (int away = 1; away < group_.ranks; ++away) {
      const int to = (group_.rank + away) % group_.ranks;
      MPI_Isend(buffers_.out.data() + buffers_.to.begin(slice, to), points(buffers_.to.size(slice, to)), MPI_C_DOUBLE_COMPLEX, to, slice,
                group_.comm, next());
    }
    int done = 0;
    MPI_Testall(points(static_cast<Index>(under_way_.size())), under_way_.data(), &done,
                MPI_STATUSES_IGNORE);  // a library moves when it is asked
  }
  void finish() override {
    MPI_Waitall(points(static_cast<Index>(under_way_.size())), under_way_.data(), MPI_STATUSES_IGNORE);
    under_way_.clear();
  }

 private:
  MPI_Request* next() { return &under_way_.emplace_back(MPI_REQUEST_NULL); }
  void receive() {
    for (int slice = 0; slice < slices; ++slice)
      for (int away = 1; away < group_.ranks; ++away) {
        const int from = (group_.rank + group_.ranks - away) % group_.ranks;
        MPI_Irecv(buffers_.in.data() + buffers_.from.begin(slice, from), points(buffers_.from.size(slice, from)), MPI_C_DOUBLE_COMPLEX,
                  from, slice, group_.comm, next());
      }
  }

  const Communicator& group_;
  Buffers& buffers_;
  std::vector<MPI_Request> under_way_;
};

// An all-to-all of parts of one size.
class Scheduled : public Exchange {
 public:
  Scheduled(const Communicator& group, Buffers& buffers, const std::string& name)
      : buffers_(buffers), channel_(group.comm), execution_(schedule(group, buffers, name), channel_, elements(buffers), false) {}
  void start(int) override {}
  void finish() override { execution_.run(buffers_.in.data(), buffers_.out.data()); }

 private:
  static ours::Elements elements(const Buffers& buffers) { return {MPI_C_DOUBLE_COMPLEX, MPI_OP_NULL, buffers.from.total()}; }
  static ours::Schedule schedule(const Communicator& group, const Buffers& buffers, const std::string& name) {
    const double bytes = sizeof(Complex) * static_cast<double>(buffers.from.size(0, 0));
    return ours::schedule_for(*ours::find_algorithm(name), ours::Collective::alltoall, group.ranks, 0, 0, bytes);
  }

  Buffers& buffers_;
  ours::Channel channel_;
  ours::Execution execution_;
};

class Messages {
 public:
  struct Group {
    std::shared_ptr<const Communicator> members;
    Way way;
    int rank = members->rank, ranks = members->ranks;
    int slices = way == Way::overlap && ranks > 1 ? Overlapped::slices : 1;
    bool even = scheduled(way) && ranks > 1;

    std::unique_ptr<Exchange> exchange(Buffers& buffers) const {
      if (ranks == 1) return nullptr;
      if (way == Way::alltoall) return std::make_unique<AllToAll>(*members, buffers);
      if (way == Way::pairwise) return std::make_unique<Pairwise>(*members, buffers);
      if (way == Way::overlap) return std::make_unique<Overlapped>(*members, buffers);
      return std::make_unique<Scheduled>(*members, buffers, fl::option(ways, static_cast<std::size_t>(way)));
    }
  };

  explicit Messages(Way way) : way_(way) {}
  // Those who give the same colour, in the order that they give.
  Group group(int colour, int order) const { return {.members = std::make_shared<const Communicator>(colour, order), .way = way_}; }

 private:
  Way way_;
};

}  // namespace spectral::inline FL_ROLE
