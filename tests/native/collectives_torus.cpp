// Answers questions about schedules on tori, one a line, with one line of JSON each:
//
//   COLLECTIVE ALGORITHM SHAPE OPEN MISSING ROOT SEGMENTS     "broadcast trinaryx3 4x3x2 001 5,7 0 4", "-" for none
//   programs ALGORITHM SHAPE                                  only generates the programs of a broadcast
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "firstlight/collectives/algorithm.hpp"
#include "firstlight/collectives/checker.hpp"

using namespace fl::collectives;

namespace {

std::vector<Rank> numbers(std::string text) {
  std::vector<Rank> values;
  if (text == "-") return values;
  std::ranges::replace_if(text, [](char c) { return c < '0' || c > '9'; }, ' ');
  std::istringstream in(text);
  for (Rank value = 0; in >> value;) values.push_back(value);
  return values;
}

Schedule made(const std::string& collective, const std::string& algorithm, Problem p) {
  p.collective = collective_named(collective).value();
  for (const Rank extent : p.shape) p.ranks *= extent;
  const Algorithm* found = find_algorithm(algorithm);
  if (found == nullptr) std::abort();
  return schedule(*found, p);
}

// Steps between two ranks along the axes, the shorter way around.
int distance(const std::vector<Rank>& shape, const std::vector<bool>& open, Rank a, Rank b) {
  int sum = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Rank far = std::abs(a % shape[i] - b % shape[i]);
    sum += i < open.size() && open[i] ? far : std::min(far, shape[i] - far);
    a /= shape[i];
    b /= shape[i];
  }
  return sum;
}

// Checks that the ranks look alike on the torus, as the schedule declares.
bool alike(const Schedule& s) {
  if (s.symmetry != Symmetry::torus) return true;
  const auto moved = [&](Rank to, Rank by) {
    Rank sum = 0, stride = 1;
    for (const Rank extent : s.shape) {
      sum += (to / stride % extent + by / stride % extent) % extent * stride;
      stride *= extent;
    }
    return sum;
  };
  Program zero, program;
  s.program(0, zero);
  for (Rank r = 1; r < s.ranks; ++r) {
    program.clear();
    s.program(r, program);
    const bool same = std::ranges::equal(zero.operations(), program.operations(), [&](const Operation& a, const Operation& b) {
      return a.kind == b.kind && a.tag == b.tag && a.round == b.round && a.range.count == b.range.count &&
             (a.peer < 0 ? b.peer < 0 : moved(a.peer, r) == b.peer) && std::ranges::equal(zero.after(a), program.after(b));
    });
    if (!same) return false;
  }
  return true;
}

void answer(std::istringstream& line, const std::string& collective) {
  std::string algorithm, shape, open, missing;
  Problem p;
  line >> algorithm >> shape >> open >> missing >> p.root >> p.segments;
  p.shape = numbers(shape);
  p.missing = numbers(missing);
  for (const char c : open)
    if (c != '-') p.open.push_back(c == '1');
  const Schedule s = made(collective, algorithm, p);
  const Verdict v = check(s, Thoroughness::all_ranks);
  std::map<std::pair<Rank, Rank>, int> links;
  std::int64_t messages = 0;
  int rounds = 0, far = 0, load = 0;
  std::size_t in = 0, out = 0;
  Program program;
  for (Rank r = 0; r < s.ranks; ++r) {
    program.clear();
    s.program(r, program);
    std::size_t sends = 0, receives = 0;
    for (const Operation& o : program.operations()) {
      rounds = std::max(rounds, o.round + 1);
      if (o.kind == Kind::receive || o.kind == Kind::combine) ++receives;
      if (o.kind != Kind::send) continue;
      ++sends;
      ++messages;
      load = std::max(load, ++links[{r, o.peer}]);
      if (distance(p.shape, p.open, r, o.peer) != 1) ++far;
    }
    in = std::max(in, receives);
    out = std::max(out, sends);
  }
  const auto truth = [](bool b) { return b ? "true" : "false"; };
  std::printf("{\"correct\": %s, \"deadlock_free\": %s, \"race_free\": %s, \"in_rounds\": %s, \"alike\": %s, \"why\": \"%s\", ",
              truth(v.correct), truth(v.deadlock_free), truth(v.race_free), truth(v.in_rounds), truth(alike(s)), v.why.c_str());
  std::printf(
      "\"depth\": %d, \"chunks\": %lld, \"messages\": %lld, \"rounds\": %d, \"far\": %d, \"load\": %d, \"in\": %zu, \"out\": %zu}\n",
      v.depth, static_cast<long long>(s.chunks), static_cast<long long>(messages), rounds, far, load, in, out);
}

void programs(std::istringstream& line) {
  std::string algorithm, shape;
  line >> algorithm >> shape;
  const Schedule s = made("broadcast", algorithm, {.shape = numbers(shape)});
  Program program;
  long long messages = 0;
  int rounds = 0;
  for (Rank r = 0; r < s.ranks; ++r) {
    program.clear();
    s.program(r, program);
    for (const Operation& o : program.operations()) {
      messages += o.kind == Kind::send ? 1 : 0;
      rounds = std::max(rounds, o.round + 1);
    }
  }
  std::printf("{\"messages\": %lld, \"rounds\": %d, \"chunks\": %lld}\n", messages, rounds, static_cast<long long>(s.chunks));
}

}  // namespace

int main() {
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream line(text);
    std::string first;
    line >> first;
    try {
      if (first == "programs")
        programs(line);
      else
        answer(line, first);
    } catch (const Refused& refused) {
      std::printf("{\"refused\": \"%s\"}\n", refused.what());
    }
    std::fflush(stdout);
  }
}
