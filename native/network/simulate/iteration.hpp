// One iteration of a pattern as a schedule, so that the evaluators of collectives take it.
//
// A rank turns to a phase when it is done with the one before. Messages to itself are copies. A collective operation goes by one of our
// schedules within its group: the one that was chosen for the collective, else the one that MPI libraries take for as many bytes and ranks
// (Thakur, Rabenseifner, Gropp 2005, Optimization of Collective Communication Operations in MPICH).
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "firstlight/collectives/algorithm.hpp"
#include "firstlight/network/topology.hpp"
#include "firstlight/patterns/pattern.hpp"

namespace simulate {

using Choices = std::map<fl::collectives::Collective, const fl::collectives::Algorithm*>;

// By which algorithm the groups of so many members execute a phase; bytes as Together has them.
struct Carried {
  std::string phase;
  fl::collectives::Collective collective = fl::collectives::Collective::other;
  fl::collectives::Rank members = 1;
  std::int64_t bytes = 0;
  std::string algorithm;
};

class Iteration {
 public:
  // nodes: of the network, of which the first take the ranks. shape, open: of the torus that they form, for groups of all of them; empty: none.
  // Raises Refused if a chosen algorithm cannot solve the task.
  Iteration(fl::patterns::Instance instance, const Choices& choices, fl::collectives::Rank nodes, std::vector<fl::collectives::Rank> shape,
            std::vector<bool> open);

  std::span<const fl::patterns::Pass> passes() const;
  std::span<const Carried> carried() const;
  // Operations of all ranks in one repetition of each pass; of many ranks about.
  std::vector<double> operations() const;
  // With pass i executed times[i] times. The iteration need not outlive it.
  fl::collectives::Schedule schedule(std::vector<std::int64_t> times) const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace simulate
