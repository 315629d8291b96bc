// Answers questions about networks, one a line, with one line of JSON each:
//
//   graph SPEC                        {"nodes":8,"kinds":["+x",...],"shape":[2,2,2],"links":[[from,to,kind],...]}   links that exist
//   route SPEC FAULTS FROM TO         {"links":[[from,to,kind],...]} between two ranks, or {"refused":"..."}; FAULTS: 3,5 or -
//   goal IN OUT                       reads GOAL and writes it again
//   time FILE SPEC EVALUATOR MACHINE [NOISE]   {"ns":5500,"free":true,"exact":false}
//   done PERIOD DURATION SEED RANK TIME WORK   {"ns":...}: when a processor with noise is done
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "firstlight/network/evaluate.hpp"
#include "firstlight/network/goal.hpp"

using namespace fl::network;

namespace {

std::string list(const Topology& t, const std::vector<Link>& links) {
  std::string text = "[";
  for (const Link l : links) {
    const Ends e = t.ends(l);
    if (!t.exists(l)) throw Unroutable("link " + t.describe(l) + " does not exist");
    text += (text.size() > 1 ? ",[" : "[") + std::to_string(e.from) + "," + std::to_string(e.to) + "," + std::to_string(t.kind(l)) + "]";
  }
  return text + "]";
}

std::string graph(std::istream& in) {
  std::string spec;
  in >> spec;
  const auto t = make_topology(spec);
  std::vector<Link> links;
  for (Link l = 0; l < t->links(); ++l)
    if (t->exists(l)) links.push_back(l);
  std::string kinds, shape;
  for (const std::string& k : t->kinds()) kinds += (kinds.empty() ? "\"" : ",\"") + k + "\"";
  for (const Node e : t->shape()) shape += (shape.empty() ? "" : ",") + std::to_string(e);
  return "{\"nodes\":" + std::to_string(t->nodes()) + ",\"kinds\":[" + kinds + "],\"shape\":[" + shape + "],\"links\":" + list(*t, links) +
         "}";
}

std::string route(std::istream& in) {
  std::string spec, faults;
  std::int32_t from = 0, to = 0;
  in >> spec >> faults >> from >> to;
  std::vector<std::int32_t> missing;
  for (std::size_t at = 0; faults != "-" && at < faults.size();
       at = faults.find(',', at) == std::string::npos ? faults.size() : faults.find(',', at) + 1)
    missing.push_back(std::stoi(faults.substr(at)));
  const auto t = make_topology(spec, missing);
  std::vector<Link> links{7};
  t->route(t->node_of(from), t->node_of(to), links);
  return "{\"from\":" + std::to_string(t->node_of(from)) + ",\"to\":" + std::to_string(t->node_of(to)) + ",\"links\":" + list(*t, links) +
         "}";
}

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string goal(std::istream& in) {
  std::string from, to;
  in >> from >> to;
  std::ofstream out(to);
  write_goal(Plan(read_goal(contents(from))), out);
  return "{}";
}

std::string number(double ns) {
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.17g", ns);
  return digits;
}

std::string time(std::istream& in) {
  std::string file, spec, wanted, machine, noise;
  in >> file >> spec >> wanted >> machine >> noise;
  const Plan plan(read_goal(contents(file)));
  const auto t = make_topology(spec);
  const Machine m = machine_of(machine);
  const Interruptions interruptions = noise.empty() ? Interruptions() : Interruptions(noise_of(noise), 0);
  Time answer;
  if (wanted == "maxplus") answer = max_plus(plan, *t, m, interruptions);
  if (wanted == "rounds") answer = round_model(plan, *t, m, false);
  if (wanted == "events") answer = t->links() > 0 ? link_events(plan, *t, m, interruptions) : loggops_events(plan, m, interruptions);
  const bool free = contention(plan, *t, m).contention_free;
  return "{\"ns\":" + number(answer.nanoseconds) + ",\"free\":" + (free ? "true" : "false") +
         ",\"exact\":" + (answer.exact ? "true}" : "false}");
}

std::string done(std::istream& in) {
  Noise noise;
  std::int32_t rank = 0;
  double when = 0, work = 0;
  in >> noise.period >> noise.duration >> noise.seed >> rank >> when >> work;
  return "{\"ns\":" + number(Interruptions(noise, 0).done(rank, when, work)) + "}";
}

std::string answer(const std::string& line) {
  std::istringstream in(line);
  std::string what;
  in >> what;
  try {
    return what == "graph" ? graph(in) : what == "route" ? route(in) : what == "goal" ? goal(in) : what == "time" ? time(in) : done(in);
  } catch (const std::exception& error) {
    std::string message = error.what();
    for (char& c : message)
      if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = '\'';
    return "{\"refused\":\"" + message + "\"}";
  }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) std::cout << answer(line) << std::endl;
}
