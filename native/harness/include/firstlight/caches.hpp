// What the system tells of caches, for code that is cut to fit them.
#pragma once

#include <unistd.h>

#include "firstlight/workload.hpp"

namespace fl::inline FL_ROLE {

// Bytes of the second-level cache of a core; 1 MiB where the system does not tell.
inline Index second_level_cache() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  static const long told = sysconf(_SC_LEVEL2_CACHE_SIZE);
#else
  constexpr long told = 0;
#endif
  return told > 0 ? static_cast<Index>(told) : Index{1} << 20;
}

}  // namespace fl::inline FL_ROLE
