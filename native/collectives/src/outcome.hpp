// What a collective promises, against what a replay left.
#pragma once

#include <string>

#include "firstlight/collectives/algorithm.hpp"
#include "replay.hpp"

namespace fl::collectives {

// The first chunk that is wrong, in words; empty where all are right. Exact contents show how it is wrong.
template <class Content>
std::string wrong_data(const Schedule& schedule, const Replay<Content>& replay);

// Returns why some rank leaves a barrier before every rank came, empty if none does.
std::string wrong_barrier(const Schedule& schedule, const Graph& graph, const std::vector<Event>& events);
// The same where rank 0 stands for all.
std::string wrong_barrier(const Schedule& schedule, const Graph& graph, const std::vector<Event>& events, const Translation& translation);

// Whether a rank of Schedule::shape takes part.
bool takes_part(const Schedule& schedule, Rank rank);

}  // namespace fl::collectives
