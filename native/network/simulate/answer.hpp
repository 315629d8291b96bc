// The output of firstlight-simulate: one JSON object per line.
#pragma once

#include <functional>
#include <string>

#include "firstlight/network/topology.hpp"
#include "iteration.hpp"
#include "options.hpp"

namespace simulate {

std::string list();
std::string prediction(const Task& task, const fl::network::Topology& topology);
std::string verdict(const Task& task, const fl::network::Topology& topology);
// Predicts a schedule that was read from a file.
std::string prediction(fl::network::Listing listing, const Task& task, const fl::network::Topology& topology);
// Predicts one iteration of the pattern task.pattern on task.problem.ranks ranks.
std::string prediction(const Task& task, const fl::network::Topology& topology, const std::function<Iteration()>& made);
// The schedule that a task is about, with its segments chosen. Raises Refused.
fl::collectives::Schedule schedule(const Task& task, const fl::network::Topology& topology);

}  // namespace simulate
