// What firstlight-simulate says: one JSON object a line.
#pragma once

#include <string>

#include "firstlight/network/topology.hpp"
#include "options.hpp"

namespace simulate {

std::string list();
std::string prediction(const Task& task, const fl::network::Topology& topology);
std::string verdict(const Task& task, const fl::network::Topology& topology);
// Of a schedule that was read from a file.
std::string prediction(fl::network::Listing listing, const Task& task, const fl::network::Topology& topology);
// The schedule that a task is about, with its segments chosen. Raises Refused.
fl::collectives::Schedule schedule(const Task& task, const fl::network::Topology& topology);

}  // namespace simulate
