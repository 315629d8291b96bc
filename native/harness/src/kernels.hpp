// What a parameter may be chosen from, and the kernel that a case runs.
#pragma once

#include <string>
#include <vector>

#include "firstlight/program.hpp"
#include "firstlight/variant.hpp"

namespace fl {

std::vector<std::string> split(const std::string& list, char separator);

// The values of a choice that this program has: those declared, of kernels those that the variant defines. Empty for no choice.
std::vector<std::string> options_of(Instance& instance, const std::string& parameter);

// Returns those of the options `declared` under this name that this program has.
std::vector<std::string> options_here(const std::string& parameter, const std::string& declared);

// Empty, or why the kernels of this file cannot be: its workload declares no parameter that chooses one, or not this one.
std::string wrong_kernels();

// The steps of a case: of the kernel that its parameters choose, or the variant's only one. Throws UsageError for a kernel that
// the variant lacks.
Steps steps_of(Instance& instance);

}  // namespace fl
