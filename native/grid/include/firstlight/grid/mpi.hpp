// The transport of MPI programs. All receives are posted before any send starts and all of both are waited for together: no length of
// message and no order of arrival can lock it.
#pragma once

#include <mpi.h>

#include <climits>
#include <vector>

#include "firstlight/grid/parcel.hpp"

namespace fl::grid::inline FL_ROLE {

namespace detail {

// A number of bytes as MPI describes it; free() frees a type of our own.
struct Bytes {
  int count = 0;
  MPI_Datatype type = MPI_BYTE;

  // More than `most` are whole runs of them, and what is left.
  Bytes(Index bytes, Index most) : count(bytes <= most ? static_cast<int>(bytes) : 1) {
    if (bytes <= most) return;
    MPI_Datatype run, runs, rest;
    MPI_Type_contiguous(static_cast<int>(most), MPI_BYTE, &run);
    MPI_Type_contiguous(static_cast<int>(bytes / most), run, &runs);
    MPI_Type_contiguous(static_cast<int>(bytes % most), MPI_BYTE, &rest);
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, static_cast<MPI_Aint>(bytes - bytes % most)};
    const MPI_Datatype types[2] = {runs, rest};
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    for (MPI_Datatype* part : {&run, &runs, &rest}) MPI_Type_free(part);
  }
  void free() {
    if (type != MPI_BYTE) MPI_Type_free(&type);
  }
};

// Nothing may be called after MPI_Finalize, which has freed it all.
inline bool mpi_is_over() {
  int over = 0;
  MPI_Finalized(&over);
  return over != 0;
}

}  // namespace detail

// Two exchanges that are in flight at the same time start in the same order on every rank, or use different communicators.
struct Mpi {
  enum class Requests { fresh, persistent };  // made anew for every exchange, or once (MPI_Send_init, MPI_Startall)

  Requests requests = Requests::fresh;
  MPI_Comm communicator = MPI_COMM_WORLD;  // its ranks are those of the process grid
  Index most = INT_MAX;                    // bytes that are counted by an int; longer messages use a datatype

  class Channel;
};

class Mpi::Channel {
 public:
  Channel(const Mpi& mpi, const std::vector<Parcel>& receives, const std::vector<Parcel>& sends)
      : mpi_(mpi),
        receives_(contents_of(receives)),
        sends_(contents_of(sends)),
        requests_(receives.size() + sends.size(), MPI_REQUEST_NULL) {
    if (mpi_.requests != Requests::persistent) return;
    MPI_Request* request = requests_.data();
    for (const Content& c : receives_) MPI_Recv_init(c.data, c.bytes.count, c.bytes.type, c.peer, c.tag, mpi_.communicator, request++);
    for (const Content& c : sends_) MPI_Send_init(c.data, c.bytes.count, c.bytes.type, c.peer, c.tag, mpi_.communicator, request++);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    if (detail::mpi_is_over()) return;
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    for (auto* contents : {&receives_, &sends_})
      for (Content& c : *contents) c.bytes.free();
  }

  void receive() {
    if (start_kept(0, receives_.size())) return;
    MPI_Request* request = requests_.data();
    for (const Content& c : receives_) MPI_Irecv(c.data, c.bytes.count, c.bytes.type, c.peer, c.tag, mpi_.communicator, request++);
  }
  void send() {
    if (start_kept(receives_.size(), sends_.size())) return;
    MPI_Request* request = requests_.data() + receives_.size();
    for (const Content& c : sends_) MPI_Isend(c.data, c.bytes.count, c.bytes.type, c.peer, c.tag, mpi_.communicator, request++);
  }
  void wait() {
    if (!requests_.empty()) MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }
  void progress() {
    int done = 0;
    if (!requests_.empty()) MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
  }

 private:
  struct Content {
    int peer, tag;
    void* data;
    detail::Bytes bytes;
  };

  bool start_kept(std::size_t first, std::size_t count) {
    if (mpi_.requests != Requests::persistent) return false;
    if (count > 0) MPI_Startall(static_cast<int>(count), requests_.data() + first);
    return true;
  }

  std::vector<Content> contents_of(const std::vector<Parcel>& parcels) const {
    std::vector<Content> contents;
    for (const Parcel& p : parcels) contents.push_back({p.peer, p.tag, p.data, detail::Bytes(p.bytes, mpi_.most)});
    return contents;
  }

  Mpi mpi_;
  std::vector<Content> receives_, sends_;
  std::vector<MPI_Request> requests_;  // of the receives, then of the sends
};

}  // namespace fl::grid::inline FL_ROLE
