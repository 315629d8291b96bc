// The command line of a program: options of the harness, and key=value[,value...] parameters whose combinations are the cases.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "firstlight/program.hpp"

namespace fl {

// The user's arguments cannot be used; what() has the reason in one line. The program ends with status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Assignment = std::vector<std::pair<std::string, std::string>>;  // parameter, value

struct Arguments {
  bool describe = false;
  std::string output;            // file that gets the JSON lines; standard output when empty
  int samples = 10;              // a case
  double sample_seconds = 0.01;  // least length of one sample
  double case_seconds = 10;      // no further sample is begun after this, but two are always taken
  int threads = 1;
  int steps = 0;                          // of every sample; 0: as many as last sample_seconds
  int seed = 0;                           // of what changes from step to step; 0: one of chance
  bool energy = false;                    // whether spans of samples are recorded
  std::vector<std::string> energy_files;  // counters that are read before and after each
  std::string documents;  // folder in which files that parameters name lie under the names that the record has; none when empty
  std::map<std::string, std::string> storage;  // by target: the folder of this launch in it, which may be missing
  std::vector<Assignment> cases;
};

Arguments parse(int argc, char** argv);

// Sets the declared parameters from one of the cases. Throws UsageError for an unknown name or a value out of range. A parameter that the
// instance declares only while another one names no file is accepted; it then has no meaning.
void assign(Instance& instance, const Arguments& arguments, const Assignment& values);

// Returns the names of the parameters that an instance declares with its present values. With `file`, that parameter first names a file.
std::vector<std::string> declared_names(Instance& instance, const std::string& file = "");

}  // namespace fl
