// An algorithm is a file: algorithms/<name>.cpp has FL_ALGORITHM(<name>), and CMake lists the files.
//
//   FL_ALGORITHM(binomial){
//       .name = "binomial",
//       .title = "binomial tree",
//       .source = "...",
//       .forms = {{{Collective::broadcast, broadcast}, {Collective::reduce, reduce}}}};
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "firstlight/collectives/schedule.hpp"

namespace fl::collectives {

// The schedule of one collective by one algorithm. Raises Refused.
struct Form {
  Collective collective = Collective::other;
  Schedule (*schedule)(const Problem&) = nullptr;
};

struct Algorithm {
  const char* name;
  const char* title;   // in words
  const char* source;  // paper or report
  std::array<Form, 6> forms;
  bool pipelined = false;  // Problem::segments matters
  bool torus = false;      // requires Problem::shape
  bool holes = false;      // can do with Problem::open and Problem::missing

  const Form* form(Collective collective) const {
    for (const Form& f : forms)
      if (f.schedule != nullptr && f.collective == collective) return &f;
    return nullptr;
  }
};

#define FL_ALGORITHM(file)     \
  namespace algorithms {       \
  extern const Algorithm file; \
  }                            \
  const Algorithm algorithms::file

// All algorithms, by name.
std::span<const Algorithm* const> all_algorithms();
// Null where there is none of this name.
const Algorithm* find_algorithm(std::string_view name);

// Fills in collective, name, ranks and root. Raises Refused where the algorithm has no such form, or for a problem that it cannot solve.
Schedule schedule(const Algorithm& algorithm, const Problem& problem);

const char* word(Collective collective);  // "broadcast", ...
std::optional<Collective> collective_named(std::string_view word);

}  // namespace fl::collectives
