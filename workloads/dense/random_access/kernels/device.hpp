// The updates of one thread of a device that has many: one body for the device and for the host.
#pragma once

#include "firstlight/cuda.hpp"
#include "random_access.hpp"

namespace random_access {

inline constexpr fl::Index per_thread = 64;  // updates in a row, of which each begins with a product

struct Job {
  Word* table = nullptr;
  Word mask = 0;
  const Word* jumps = nullptr;  // the stream's number of the first update of each thread, counted from the step's first
  Word first = 0;               // the value of that one
  fl::Index updates = 0;
};

inline fl::Index threads_of(fl::Index updates) { return (updates + per_thread - 1) / per_thread; }

// Nothing that another thread writes between the load and the store is lost.
struct AtomicOnDevice {
  FL_DEVICE void operator()(Word* word, Word a) const {
#if defined(__CUDA_ARCH__)
    atomicXor(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(a));
#else
    *word ^= a;
#endif
  }
};

template <class Change>
FL_DEVICE void update_part(const Job& job, fl::Index thread, const Change& change) {
  const fl::Index begin = thread * per_thread, left = job.updates - begin;
  Word a = times(job.first, job.jumps[thread]);
  for (fl::Index k = 0; k < (left < per_thread ? left : per_thread); ++k, a = after(a)) change(job.table + (a & job.mask), a);
}

// The jumps of all threads.
inline fl::Array<Word> jumps_of(fl::Index updates) {
  fl::Array<Word> jumps(threads_of(updates));
  const Word stride = number(static_cast<Word>(per_thread));
  Word jump = 1;
  for (fl::Index thread = 0; thread < jumps.size(); ++thread, jump = times(jump, stride)) jumps[thread] = jump;
  return jumps;
}

}  // namespace random_access
