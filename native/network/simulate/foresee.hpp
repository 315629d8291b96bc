// The time of an iteration of a pattern on a network.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "firstlight/network/evaluate.hpp"
#include "iteration.hpp"

namespace simulate {

struct Foreseen {
  fl::network::Prediction prediction;  // of the whole iteration
  double bytes = 0;                    // that ranks send each other in it
  std::set<double> sizes;              // of its messages, in bytes
  std::vector<double> loads;           // bytes that cross each link in it, by its index
  std::int64_t passes = 0;             // that it consists of
  std::int64_t evaluated = 0;          // of them in one go; the others take what the last of their kind added
  std::string stuck;                   // as network::stuck has it
};

// Raises collectives::Refused for what cannot be evaluated, network::Endless.
Foreseen foresee(const Iteration& iteration, const fl::network::Topology& topology, const fl::network::Machine& machine,
                 const fl::network::Question& question);

}  // namespace simulate
