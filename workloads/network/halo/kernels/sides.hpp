// What all MPI strategies share: for each side a peer, the message that goes there and the one that comes from there.
#pragma once

#include <mpi.h>

#include "halo.hpp"

namespace halo {

// A message as MPI describes it. `data` is the field itself or a box of contiguous words.
struct Message {
  void* data = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

struct Side {
  int way = 0;
  int peer = 0;
  bool here = false;            // the neighbour is this process itself: a local copy, no message
  bool boxed = false;           // words are copied into and out of boxes
  int out_tag = 0, in_tag = 0;  // the direction of travel, which distinguishes two messages between the same two processes
  Region out, in;
  Message send, receive;
  unsigned char *outbox = nullptr, *inbox = nullptr;

  // The number of the message in the inbox, where such are written: just before it, so that a short message comes in one line with it.
  std::uint64_t* flag() const { return reinterpret_cast<std::uint64_t*>(inbox - flag_bytes); }
  static constexpr fl::Index flag_bytes = 16;
};

// All sides of this process's sub-domain, in two phases of two opposite sides, or eight at once.
class Sides {
 public:
  std::array<Side, directions> side;
  int count = sides;

  // `boxes`: boxes_bytes(s) of another owner's memory, in whole pairs of lines; else of its own.
  void open(State& s, unsigned char* boxes = nullptr) {
    count = s.traits.at_once ? directions : sides;
    Domain& d = s.domains[0];
    word_ = s.word == 8 ? MPI_UINT64_T : MPI_UINT32_T;
    if (boxes == nullptr) {
      own_ = fl::Array<unsigned char>(boxes_bytes(s));
      boxes = own_.data();
    }
    std::memset(boxes, 0, static_cast<std::size_t>(boxes_bytes(s)));
    for (int way = 0; way < count; ++way) {
      Side& each = side[static_cast<std::size_t>(way)];
      each.way = way;
      each.peer = d.neighbour[static_cast<std::size_t>(way)];
      each.here = each.peer == d.me;
      each.out_tag = way;
      each.in_tag = opposite(way);
      each.out = s.traits.at_once ? boundary(s, way) : outgoing(s, way);
      each.in = s.traits.at_once ? ghost(s, way) : incoming(s, way);
      each.outbox = boxes + 2 * way * box_bytes(s) + Side::flag_bytes;
      each.inbox = each.outbox + box_bytes(s);
      each.boxed = s.data == Data::packed || (s.data == Data::inplace && each.out.rows > 1);
      each.send = message(s, d.field, each.out, each.boxed, each.outbox);
      each.receive = message(s, d.field, each.in, each.boxed, each.inbox);
    }
  }

  void close() {
    for (Side& each : side)
      for (Message* m : {&each.send, &each.receive})
        if (m->type != word_ && m->type != MPI_BYTE) MPI_Type_free(&m->type);
    side = {};
    own_ = {};
  }

  static fl::Index boxes_bytes(const State& s) { return 2 * (s.traits.at_once ? directions : sides) * box_bytes(s); }

 private:
  // A flag and the longest message.
  static fl::Index box_bytes(const Shape& s) { return fl::whole_pairs(Side::flag_bytes + s.width * s.pitch * s.word); }

  Message message(const State& s, unsigned char* field, const Region& r, bool boxed, unsigned char* box) const {
    if (boxed) return {box, static_cast<int>(r.words()), word_};
    if (s.data == Data::inplace) return {field + offset(s, r), static_cast<int>(r.words()), word_};
    Message m{field + offset(s, r), 1, MPI_DATATYPE_NULL};
    MPI_Type_vector(static_cast<int>(r.rows), static_cast<int>(r.columns), static_cast<int>(s.pitch), word_, &m.type);
    MPI_Type_commit(&m.type);
    return m;
  }

  MPI_Datatype word_ = MPI_BYTE;
  fl::Array<unsigned char> own_;
};

// What most strategies have to keep from step to step.
struct OpenSides {
  Sides all;

  void open(State& s) { all.open(s); }
  void close(State&) { all.close(); }
};

// --- the pieces of a step ------------------------------------------------------------------------------------------------------

inline void pack(const State& s, const Side& side) {
  if (side.boxed) pack(s, s.domains[0].field, side.out, side.outbox);
}

inline void unpack(const State& s, const Side& side) {
  if (side.boxed) unpack(s, side.inbox, s.domains[0].field, side.in);
}

// What leaves on one side arrives on the opposite one.
inline void copy_here(const State& s, const Side& side, const Side& other) {
  unsigned char* field = s.domains[0].field;
  copy(s, field, side.out, field, other.in);
}

inline void send(const Side& side) { MPI_Send(side.send.data, side.send.count, side.send.type, side.peer, side.out_tag, MPI_COMM_WORLD); }
inline void receive(const Side& side) {
  MPI_Recv(side.receive.data, side.receive.count, side.receive.type, side.peer, side.in_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
inline void start_send(const Side& side, MPI_Request& request) {
  MPI_Isend(side.send.data, side.send.count, side.send.type, side.peer, side.out_tag, MPI_COMM_WORLD, &request);
}
inline void start_receive(const Side& side, MPI_Request& request) {
  MPI_Irecv(side.receive.data, side.receive.count, side.receive.type, side.peer, side.in_tag, MPI_COMM_WORLD, &request);
}

// Both ways along one dimension: receives first, so that no message has to wait for its buffer.
inline void exchange(const Side& low, const Side& high) {
  std::array<MPI_Request, 4> requests;
  start_receive(low, requests[0]);
  start_receive(high, requests[1]);
  start_send(low, requests[2]);
  start_send(high, requests[3]);
  MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
}

// North and south, then west and east: `swap(low, high)` exchanges with both neighbours of one dimension.
template <class Swap>
inline void two_phases(const State& s, const Sides& all, Swap swap) {
  for (std::size_t way = 0; way < sides; way += 2) {
    const Side &low = all.side[way], &high = all.side[way + 1];
    if (low.here) {
      copy_here(s, low, high);
      copy_here(s, high, low);
    } else {
      swap(low, high);
    }
  }
}

// The same for strategies in which both messages are packed first and unpacked last.
template <class Swap>
inline void two_packed_phases(const State& s, const Sides& all, Swap swap) {
  two_phases(s, all, [&](const Side& low, const Side& high) {
    pack(s, low);
    pack(s, high);
    swap(low, high);
    unpack(s, low);
    unpack(s, high);
  });
}

// A row is contiguous, several rows of a field are not.
inline std::string narrow_in_place(const Params& p) {
  if (p.data == Data::inplace && p.width > 1)
    return "this variant of halo needs width=1 for data=inplace: wider rows are not contiguous in the field";
  return "";
}

inline std::string packed_only(const Params& p) {
  if (p.data != Data::packed)
    return "this variant of halo supports only data=packed: early messages must not overwrite the halo of the previous exchange";
  return "";
}

}  // namespace halo
