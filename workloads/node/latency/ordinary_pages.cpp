// Chases pointers through a buffer on pages of the base size, 4 KiB on most processors: the pages of programs that request no others.
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/follow.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Chase {
  // Returns the pages to the system, requests ordinary ones, and builds the cycle in them.
  void open(latency::State& s) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = (reinterpret_cast<std::uintptr_t>(s.lines.begin()) + page - 1) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(s.lines.end()) / page * page;
    if (begin < end) {
      void* const pages = reinterpret_cast<void*>(begin);
      madvise(pages, end - begin, MADV_NOHUGEPAGE);  // a kernel without huge pages refuses this: all its pages are ordinary
      if (madvise(pages, end - begin, MADV_DONTNEED) != 0)
        fl::abort_all("the system does not replace the pages of a buffer: ordinary pages are not available");
    }
    latency::link(s);
  }

  void step(latency::State& s, fl::Index) { latency::follow(s); }
};

}  // namespace

FL_VARIANT(latency, Chase)
