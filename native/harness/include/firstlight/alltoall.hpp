// How the parts of a transpose go from process to process: what a user names, what a transpose needs, and one process, which keeps all.
// Several exchange over MPI, by firstlight/collectives/alltoall.hpp.
#pragma once

#include <memory>
#include <vector>

#include "firstlight/workload.hpp"

namespace fl::inline FL_ROLE::alltoall {

// The last ones are schedules of native/collectives, by their names.
enum class Way { alltoall, pairwise, overlap, linear, bruck, paced };
inline constexpr const char* ways = "alltoall|pairwise|overlap|linear|bruck|paced";
inline constexpr const char* ways_help =
    "how processes exchange parts: the library's MPI_Alltoallv, p - 1 successive exchanges, slices that overlap with "
    "the preparation of the next slice, or a schedule of firstlight";
inline bool scheduled(Way way) { return way >= Way::linear; }

// Parts of a buffer, one behind the other: for each slice one for each process.
class Parts {
 public:
  explicit Parts(int ranks = 0) : ranks_(ranks) {}
  void add(Index size) { begin_.push_back(begin_.back() + size); }
  Index begin(int slice, int q) const { return begin_[at(slice, q)]; }
  Index size(int slice, int q) const { return begin_[at(slice, q) + 1] - begin_[at(slice, q)]; }
  Index total() const { return begin_.back(); }

 private:
  std::size_t at(int slice, int q) const { return static_cast<std::size_t>(slice * ranks_ + q); }

  int ranks_;
  std::vector<Index> begin_{0};
};

template <class T>
struct Buffers {
  Parts to, from;
  Array<T> out, in;
};

// From `out` of each process of a group to `in` of the others.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void start(int slice) = 0;  // its parts are packed
  virtual void finish() = 0;          // until the parts of all slices are here, and may be packed again
};

// One process; a group of several has `slices`, and whether its parts are `even`: all as long as the longest, that of the own process among them.
struct Alone {
  struct Group {
    static constexpr int rank = 0, ranks = 1, slices = 1;
    static constexpr bool even = false;
    template <class T>
    std::unique_ptr<Exchange> exchange(Buffers<T>&) const {
      return nullptr;
    }
  };
  explicit Alone(Way) {}
  Group group(int, int) const { return {}; }
};

// Processes, over MPI.
class Messages;

}  // namespace fl::inline FL_ROLE::alltoall
