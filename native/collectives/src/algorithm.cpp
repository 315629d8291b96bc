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

namespace {

bool rooted(Collective collective) { return collective == Collective::broadcast || collective == Collective::reduce; }

void refuse(const Algorithm& algorithm, const Problem& p) {
  const std::string name = algorithm.name;
  if (p.ranks < 1) throw Refused("a collective requires at least 1 rank");
  if (p.root < 0 || p.root >= p.ranks) throw Refused("the root is not a rank");
  if (!algorithm.holes && !p.missing.empty()) throw Refused(name + " needs every rank");
  if (!algorithm.holes && algorithm.torus && std::ranges::any_of(p.open, std::identity()))
    throw Refused(name + " requires links that wrap around");
  if (!std::ranges::is_sorted(p.missing, std::less_equal())) throw Refused("missing ranks must be in ascending order, each once");
  if (!p.missing.empty() && (p.missing.front() < 0 || p.missing.back() >= p.ranks))
    throw Refused(
        "a missing rank "
        "does not exist");
  if (std::ssize(p.missing) == p.ranks) throw Refused("all ranks are missing");
  if (rooted(p.collective) && std::ranges::binary_search(p.missing, p.root)) throw Refused("the root is missing");
  if (p.segments < 1) throw Refused("a message must have at least 1 segment");
  if (p.shape.empty() && algorithm.torus) throw Refused(name + " needs the shape of a torus");
  if (p.shape.empty()) return;
  const auto nodes = std::accumulate(p.shape.begin(), p.shape.end(), std::int64_t{1}, std::multiplies<>());
  if (nodes != p.ranks || std::ranges::min(p.shape) < 1) throw Refused("the product of the shape is not the number of ranks");
}

}  // namespace

Schedule schedule(const Algorithm& algorithm, const Problem& problem) {
  const Form* form = algorithm.form(problem.collective);
  if (form == nullptr) throw Refused(std::string(algorithm.name) + " has no " + word(problem.collective));
  refuse(algorithm, problem);
  Problem p = problem;
  // If the collective has no root, any rank that is there may act as one.
  while (std::ranges::binary_search(p.missing, p.root)) p.root = (p.root + 1) % p.ranks;
  Schedule made = form->schedule(p);
  made.collective = p.collective;
  made.name = algorithm.name;
  made.ranks = p.ranks;
  made.root = p.root;
  made.missing = p.missing;
  return made;
}

}  // namespace fl::collectives
