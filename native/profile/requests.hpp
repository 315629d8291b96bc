// Persistent operations: what a request will send each time it is started.
#pragma once

#include "peers.hpp"

namespace fl {

struct Edge {
  int peer = 0;  // in MPI_COMM_WORLD, or unknown_peer
  Bytes bytes = 0;
};

struct Planned {
  std::uint64_t request = 0;
  Kind kind{};
  Bytes bytes = 0;  // of a collective operation, which names no peers
  int count = 0;
  Edge* edges = nullptr;
  Planned* next = nullptr;
};

Planned* plan(MPI_Request request, Kind kind, int edges);  // replaces what an earlier request of that number planned
void started(Table& table, MPI_Request request);
void forget_request(MPI_Request request);

}  // namespace fl
