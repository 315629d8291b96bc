// The CPUs that this process may use, as it sees them itself.
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

CpuSet observed_binding();

}  // namespace fl
