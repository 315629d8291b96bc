// Exchanges over MPI, by the library, by plain messages, or by schedules of native/collectives.
#pragma once

#include <mpi.h>

#include "firstlight/alltoall.hpp"
#include "firstlight/collectives/executor.hpp"
#include "firstlight/fourier.hpp"

namespace fl::inline FL_ROLE::alltoall {

namespace ours = fl::collectives;

inline int elements(Index count) { return static_cast<int>(count); }  // of which bytes would be too many for an int
template <class T>
MPI_Datatype type_of();
template <>
inline MPI_Datatype type_of<double>() {
  return MPI_DOUBLE;
}
template <>
inline MPI_Datatype type_of<Complex>() {
  return MPI_C_DOUBLE_COMPLEX;
}

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
template <class T>
class AllToAll : public Exchange {
 public:
  AllToAll(const Communicator& group, Buffers<T>& buffers)
      : group_(group), buffers_(buffers), out_(group, buffers.to), in_(group, buffers.from) {}
  void start(int) override {}
  void finish() override {
    MPI_Alltoallv(buffers_.out.data(), out_.counts.data(), out_.places.data(), type_of<T>(), buffers_.in.data(), in_.counts.data(),
                  in_.places.data(), type_of<T>(), group_.comm);
  }

 private:
  struct Side {
    std::vector<int> counts, places;

    Side(const Communicator& group, const Parts& parts) {
      for (int q = 0; q < group.ranks; ++q) {
        counts.push_back(q == group.rank ? 0 : elements(parts.size(0, q)));  // what stays is there
        places.push_back(elements(parts.begin(0, q)));
      }
    }
  };

  const Communicator& group_;
  Buffers<T>& buffers_;
  Side out_, in_;
};

// In each round with one process to send to and one to receive from, at growing distance.
template <class T>
class Pairwise : public Exchange {
 public:
  Pairwise(const Communicator& group, Buffers<T>& buffers) : group_(group), buffers_(buffers) {}
  void start(int) override {}
  void finish() override {
    const auto& [to_parts, from_parts, out, in] = buffers_;
    for (int away = 1; away < group_.ranks; ++away) {
      const int to = (group_.rank + away) % group_.ranks, from = (group_.rank + group_.ranks - away) % group_.ranks;
      const int sent = elements(to_parts.size(0, to)), taken = elements(from_parts.size(0, from));
      MPI_Sendrecv(buffers_.out.data() + to_parts.begin(0, to), sent, type_of<T>(), sent > 0 ? to : MPI_PROC_NULL, 0,
                   buffers_.in.data() + from_parts.begin(0, from), taken, type_of<T>(), taken > 0 ? from : MPI_PROC_NULL, 0, group_.comm,
                   MPI_STATUS_IGNORE);
    }
  }

 private:
  const Communicator& group_;
  Buffers<T>& buffers_;
};

inline constexpr int overlapped_slices = 4;
// Each slice leaves as soon as it is packed, and travels while the next one is made.
template <class T>
class Overlapped : public Exchange {
 public:
  Overlapped(const Communicator& group, Buffers<T>& buffers) : group_(group), buffers_(buffers) {}
  void start(int slice) override {
    if (slice == 0) receive();
    for (int away = 1; away < group_.ranks; ++away) {
      const int to = (group_.rank + away) % group_.ranks;
      if (buffers_.to.size(slice, to) == 0) continue;
      MPI_Isend(buffers_.out.data() + buffers_.to.begin(slice, to), elements(buffers_.to.size(slice, to)), type_of<T>(), to, slice,
                group_.comm, next());
    }
    int done = 0;
    MPI_Testall(elements(static_cast<Index>(under_way_.size())), under_way_.data(), &done,
                MPI_STATUSES_IGNORE);  // a library makes progress when it is called
  }
  void finish() override {
    MPI_Waitall(elements(static_cast<Index>(under_way_.size())), under_way_.data(), MPI_STATUSES_IGNORE);
    under_way_.clear();
  }

 private:
  MPI_Request* next() { return &under_way_.emplace_back(MPI_REQUEST_NULL); }
  void receive() {
    for (int slice = 0; slice < overlapped_slices; ++slice)
      for (int away = 1; away < group_.ranks; ++away) {
        const int from = (group_.rank + group_.ranks - away) % group_.ranks;
        if (buffers_.from.size(slice, from) == 0) continue;
        MPI_Irecv(buffers_.in.data() + buffers_.from.begin(slice, from), elements(buffers_.from.size(slice, from)), type_of<T>(), from,
                  slice, group_.comm, next());
      }
  }

  const Communicator& group_;
  Buffers<T>& buffers_;
  std::vector<MPI_Request> under_way_;
};

// An all-to-all of parts of one size.
template <class T>
class Scheduled : public Exchange {
 public:
  Scheduled(const Communicator& group, Buffers<T>& buffers, const std::string& name)
      : buffers_(buffers), channel_(group.comm), execution_(schedule(group, buffers, name), channel_, all(buffers), false) {}
  void start(int) override {}
  void finish() override { execution_.run(buffers_.in.data(), buffers_.out.data()); }

 private:
  static ours::Elements all(const Buffers<T>& buffers) { return {type_of<T>(), MPI_OP_NULL, buffers.from.total()}; }
  static ours::Schedule schedule(const Communicator& group, const Buffers<T>& buffers, const std::string& name) {
    const double bytes = sizeof(T) * static_cast<double>(buffers.from.size(0, 0));
    return ours::schedule_for(*ours::find_algorithm(name), ours::Collective::alltoall, group.ranks, 0, 0, bytes);
  }

  Buffers<T>& buffers_;
  ours::Channel channel_;
  ours::Execution execution_;
};

class Messages {
 public:
  struct Group {
    std::shared_ptr<const Communicator> members;
    Way way;
    int rank = members->rank, ranks = members->ranks;
    int slices = way == Way::overlap && ranks > 1 ? overlapped_slices : 1;
    bool even = scheduled(way) && ranks > 1;

    template <class T>
    std::unique_ptr<Exchange> exchange(Buffers<T>& buffers) const {
      if (ranks == 1) return nullptr;
      if (way == Way::alltoall) return std::make_unique<AllToAll<T>>(*members, buffers);
      if (way == Way::pairwise) return std::make_unique<Pairwise<T>>(*members, buffers);
      if (way == Way::overlap) return std::make_unique<Overlapped<T>>(*members, buffers);
      return std::make_unique<Scheduled<T>>(*members, buffers, fl::option(ways, static_cast<std::size_t>(way)));
    }
  };

  explicit Messages(Way way) : way_(way) {}
  // Those who give the same colour, in the order that they give.
  Group group(int colour, int order) const { return {.members = std::make_shared<const Communicator>(colour, order), .way = way_}; }

 private:
  Way way_;
};

}  // namespace fl::inline FL_ROLE::alltoall
