// Patterns of native/patterns as what is mapped.
#pragma once

#include <string>
#include <vector>

#include "firstlight/mapping/pattern.hpp"

namespace map {

struct Named {
  fl::mapping::Pattern pattern;
  std::vector<std::string> left_out;  // phases of collective operations: MPI prescribes no route for them
};

// One iteration: each phase with its repetitions. whole: all phases as one. Raises Wrong or collectives::Refused.
Named named(const std::string& name, fl::mapping::Rank processes, const std::vector<std::string>& parameters, bool small, bool whole);

}  // namespace map
