#include "firstlight/collectives/algorithm.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace fl::collectives {

namespace {

constexpr std::array<const char*, 8> words{"broadcast",      "reduce",   "allreduce", "allgather",
                                           "reduce_scatter", "alltoall", "barrier",   "other"};

}  // namespace

const char* word(Collective collective) { return words[static_cast<std::size_t>(collective)]; }

std::optional<Collective> collective_named(std::string_view word) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == word) return static_cast<Collective>(i);
  return std::nullopt;
}

const Algorithm* find_algorithm(std::string_view name) {
  for (const Algorithm* a : all_algorithms())
    if (name == a->name) return a;
  return nullptr;
}

Schedule schedule(const Algorithm& algorithm, const Problem& problem) {
  const Form* form = algorithm.form(problem.collective);
  if (form == nullptr) throw Refused(std::string(algorithm.name) + " has no " + word(problem.collective));
  if (problem.ranks < 1) throw Refused("a collective needs 1 rank at least");
  if (problem.root < 0 || problem.root >= problem.ranks) throw Refused("the root is no rank");
  if (!algorithm.holes && !problem.missing.empty()) throw Refused(std::string(algorithm.name) + " needs every rank");
  if (!algorithm.holes && algorithm.torus && std::ranges::any_of(problem.open, std::identity()))
    throw Refused(std::string(algorithm.name) + " needs the wrapping links");
  if (!std::ranges::is_sorted(problem.missing, std::less_equal())) throw Refused("missing ranks are given in ascending order, each once");
  for (const Rank r : problem.missing)
    if (r < 0 || r >= problem.ranks || r == problem.root) throw Refused("a missing rank is the root, or no rank");
  if (problem.segments < 1) throw Refused("a message has 1 segment at least");
  if (!problem.shape.empty()) {
    const auto nodes = std::accumulate(problem.shape.begin(), problem.shape.end(), std::int64_t{1}, std::multiplies<>());
    if (nodes != problem.ranks) throw Refused("the product of the shape is not the number of ranks");
  } else if (algorithm.torus) {
    throw Refused(std::string(algorithm.name) + " needs the shape of a torus");
  }
  Schedule made = form->schedule(problem);
  made.collective = problem.collective;
  made.name = algorithm.name;
  made.ranks = problem.ranks;
  made.root = problem.root;
  made.missing = problem.missing;
  return made;
}

}  // namespace fl::collectives
