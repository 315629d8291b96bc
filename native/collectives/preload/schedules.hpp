// What a communicator has been given: a channel, and the executions that it used last.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "firstlight/collectives/executor.hpp"
#include "table.hpp"

namespace fl::preload {

using collectives::Collective;

// One call, as far as its plan depends on it.
struct Request {
  Collective collective = Collective::other;
  MPI_Datatype type = MPI_BYTE;
  MPI_Op op = MPI_OP_NULL;
  std::int64_t count = 0;  // elements of the whole message, or of a block
  std::int64_t bytes = 0;  // likewise
  int root = 0;
  bool apart = false;
  friend bool operator==(const Request&, const Request&) = default;
};

struct Entry {
  Request request;
  std::uint64_t used = 0;
  std::unique_ptr<collectives::Execution> execution;  // null: the library decides
};

class Schedules {
 public:
  static constexpr std::size_t most = 32;  // entries; the one that was used longest ago goes

  explicit Schedules(MPI_Comm comm) : channel_(comm) {}
  // Null where the library is to do it.
  collectives::Execution* find(const Request& request);
  const collectives::Channel& channel() const { return channel_; }
  // Memory that one call may use; it grows to the largest use.
  char* room(std::int64_t bytes);

 private:
  std::unique_ptr<collectives::Execution> make(const Request& request) const;

  collectives::Channel channel_;
  std::vector<Entry> entries_;
  std::uint64_t clock_ = 0;
  std::unique_ptr<char[]> room_;
  std::int64_t room_bytes_ = 0;
};

// Those of a communicator, made at its first collective, which is collective itself. Null where the library is to do everything.
Schedules* schedules_of(MPI_Comm comm);

// For the report at the end.
void count(Collective collective, bool ours);

// While the library's own functions are called from here, calls that come back are the library's.
class Inside {
 public:
  Inside() : before_(inside) { inside = true; }
  ~Inside() { inside = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  static thread_local bool inside;

 private:
  bool before_;
};

}  // namespace fl::preload
