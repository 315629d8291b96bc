// Reads any bytes as GOAL (libFuzzer), writes the result, reads it again and evaluates it. The first byte selects the evaluation.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "firstlight/network/evaluate.hpp"
#include "firstlight/network/goal.hpp"

using namespace fl::network;

namespace {

void require(bool held, const char* what) {
  if (held) return;
  std::cerr << what << '\n';
  std::abort();
}

std::string written(const Plan& plan) {
  std::ostringstream out;
  write_goal(plan, out);
  return out.str();
}

void evaluated(const Plan& plan, bool links) {
  const auto topology = make_topology((links ? "torus:" : "flat:") + std::to_string(plan.ranks()));
  Question question;
  const Prediction prediction = evaluate(plan, *topology, Machine(), question);
  require(prediction.seconds >= 0 && std::isfinite(prediction.seconds), "an impossible time");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    const Plan plan(read_goal(std::string(reinterpret_cast<const char*>(data) + 1, size - 1)));
    const std::string text = written(plan);
    require(written(Plan(read_goal(text))) == text, "what was written is read as something else");
    if (plan.ranks() <= 64 && plan.steps().size() <= 1000) evaluated(plan, data[0] % 2 == 1);
  } catch (const GoalError&) {
  } catch (const Unroutable&) {
  } catch (const fl::collectives::Refused&) {
  }
  return 0;
}
