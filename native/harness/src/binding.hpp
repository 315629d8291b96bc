// The CPUs that this process and its threads may use, as they see them themselves.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fl {

struct CpuSet {
  static constexpr int most = 1024;
  std::array<std::uint64_t, most / 64> bits{};
  std::vector<int> list() const;
};

CpuSet observed_binding(int threads);  // of all threads together: each may have been bound to a place of its own

}  // namespace fl
