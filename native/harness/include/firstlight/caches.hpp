// The cache sizes that the system reports, for code that is cut to fit them.
#pragma once

#include <unistd.h>

#include "firstlight/workload.hpp"

namespace fl::inline FL_ROLE {

// Bytes of the second-level cache of a core; 1 MiB where the system does not report it.
inline Index second_level_cache() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  static const long reported = sysconf(_SC_LEVEL2_CACHE_SIZE);
#else
  constexpr long reported = 0;
#endif
  return reported > 0 ? static_cast<Index>(reported) : Index{1} << 20;
}

}  // namespace fl::inline FL_ROLE
