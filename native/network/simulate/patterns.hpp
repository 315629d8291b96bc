// The output of firstlight-simulate for patterns of communication: one JSON object per line.
#pragma once

#include "firstlight/patterns/pattern.hpp"
#include "options.hpp"

namespace simulate {

// patterns: all there are. pattern NAME: what it comes to. pattern NAME pairs: who sends how much to whom, a line a phase. pattern NAME
// check: whether every send has its receive. pattern NAME predict: the time of an iteration on a network. pattern NAME goal: an iteration as GOAL.
void patterns(const Options& options);
// stages NAME: the time on a network of what stages.hpp reads from --stages.
void stages(const Options& options);

}  // namespace simulate
