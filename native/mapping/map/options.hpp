// The command line of firstlight-map.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "firstlight/mapping/search.hpp"
#include "firstlight/network/machine.hpp"

namespace map {

struct Task {
  std::string pattern;  // a file; "-": what comes in
  std::string named;    // or one of native/patterns
  std::int32_t processes = 0;
  std::vector<std::string> parameters;  // of it, as class=B
  bool small = false;                   // with its values for short iterations, before these
  bool whole = false;                   // all phases as one
  fl::mapping::Ground ground;
  fl::mapping::Effort effort;
  std::string machine;    // as network::machine_of accepts it
  std::string given;      // a file with the map to judge, instead of a search: one slot a line, by rank
  std::string keep;       // a file for the best map so far, in the same form; empty: none
  bool simulate = true;   // events before and after
  bool by_links = false;  // the chosen map has the least sum of maxima, whatever the events show
};

// --key value. Raises Wrong.
Task task_of(int argc, char** argv);
std::string contents(const std::string& path);
// Raises Wrong.
fl::mapping::Map read_map(const std::string& text);
// Replaces the file as a whole, never a part of it. Raises Wrong.
void write_map(const std::string& path, const fl::mapping::Map& map);

}  // namespace map
