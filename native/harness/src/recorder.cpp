#include "recorder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <utility>
#include <vector>

#include "comm.hpp"
#include "firstlight/program.hpp"
#include "firstlight/variant.hpp"

namespace fl {
namespace {

constexpr int protocol = 1;

[[noreturn]] void cannot_write(const std::string& path) { abort_all("cannot write the record " + path + ": " + std::strerror(errno)); }

template <class T>
std::vector<T> gathered(const T& mine) {
  std::vector<T> all(comm::rank() == 0 ? static_cast<std::size_t>(comm::size()) : 0);
  comm::gather(&mine, sizeof mine, all.data());
  return all;
}

// Lists of any length, of numbers that are not negative.
std::vector<std::vector<int>> gathered_lists(std::vector<int> mine) {
  double longest = static_cast<double>(mine.size());
  comm::maximum(&longest, 1);
  const auto width = static_cast<std::size_t>(longest);
  mine.resize(width, -1);
  std::vector<int> all(comm::rank() == 0 ? width * static_cast<std::size_t>(comm::size()) : 0);
  comm::gather(mine.data(), width * sizeof(int), all.data());
  std::vector<std::vector<int>> lists;
  for (auto begin = all.begin(); width > 0 && begin != all.end(); begin += static_cast<std::ptrdiff_t>(width))
    lists.emplace_back(begin, std::find(begin, begin + static_cast<std::ptrdiff_t>(width), -1));
  if (comm::rank() == 0) lists.resize(static_cast<std::size_t>(comm::size()));
  return lists;
}

// The ranks report their values in the same order. If they do not, or if a value is not a number, the record would be wrong.
[[noreturn]] void cannot_observe(const std::string& why) { abort_all("the observed values cannot be recorded: " + why); }

using Spread = std::vector<std::pair<std::string, std::array<double, 3>>>;  // least, median, largest over the ranks; empty but on rank 0

Spread spread(const Observed& mine) {
  struct Observation {
    double values[Observations::most_values + Phases::most + 1];
    std::uint64_t names;
  } observation{{}, mine.value_names()};
  for (std::size_t k = 0; k < mine.values().size(); ++k) observation.values[k] = mine.values()[k].second;
  const auto all = gathered(observation);
  Spread found;
  if (comm::rank() != 0) return found;
  for (const Observation& one : all)
    if (one.names != observation.names) cannot_observe("the ranks observe different quantities");
  for (std::size_t k = 0; k < mine.values().size(); ++k) {
    const std::string& name = mine.values()[k].first;
    std::vector<double> x;
    for (const Observation& one : all) {
      if (!std::isfinite(one.values[k])) cannot_observe(name + " is not a finite number");
      x.push_back(one.values[k]);
    }
    std::sort(x.begin(), x.end());
    if (name.starts_with(phase_prefix) && x.back() == 0) continue;  // no rank was in it: this variant has no such phase
    const std::size_t half = x.size() / 2;
    found.emplace_back(name, std::array<double, 3>{x.front(), x.size() % 2 == 1 ? x[half] : 0.5 * (x[half - 1] + x[half]), x.back()});
  }
  return found;
}

struct NamedQuantity {
  const char* name;
  Quantity member;
};
constexpr NamedQuantity quantities[] = {
    {"flops", &Cost::flops},       {"bytes", &Cost::bytes},
    {"messages", &Cost::messages}, {"message_bytes", &Cost::message_bytes},
    {"accesses", &Cost::accesses}, {"operations", &Cost::operations},
    {"flow", &Cost::flow},         {"elements", &Cost::elements},
};

const char* name_of(Quantity member) {
  for (const NamedQuantity& q : quantities)
    if (q.member == member) return q.name;
  cannot_observe("a phase has a cost that is not a quantity of work");
}

double clock_resolution() {
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return static_cast<double>(resolution.tv_sec) + 1e-9 * static_cast<double>(resolution.tv_nsec);
}

}  // namespace

Recorder::Recorder(const std::string& path) : path_(path.empty() ? "standard output" : path) {
  if (comm::rank() != 0) return;
  descriptor_ = path.empty() ? STDOUT_FILENO : open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) cannot_write(path_);
}

Recorder::~Recorder() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
}

void Recorder::line(Json& json) {
  std::string bytes = json.close('}').text() + '\n';
  const char* next = bytes.data();
  for (std::size_t left = bytes.size(); left > 0;) {
    const ssize_t written = write(descriptor_, next, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) cannot_write(path_);
    next += written;
    left -= static_cast<std::size_t>(written);
  }
}

void Recorder::launch(const Team& team, const Counters& counters) {
  const auto places = gathered_lists(observed_binding(team.threads));
  const auto nodes = gathered(comm::node());
  if (comm::rank() != 0) return;
  Json json;
  json.open('{').member("type", "launch").member("protocol", protocol).member("workload", workload.name).member("variant", variant.name);
  json.member("compiler", variant.compiler).member("flags", variant.flags).member("mpi", comm::library().substr(0, 400));
  json.member("ranks", team.ranks).member("nodes", team.nodes).key("binding").open('[');
  for (std::size_t r = 0; r < places.size(); ++r) {
    json.open('{').member("rank", static_cast<Index>(r)).member("node", nodes[r]).key("cpus").open('[');
    for (const int cpu : places[r]) json.value(cpu);
    json.close(']').close('}');
  }
  json.close(']')
      .member("counters", counters.available())
      .member("clock", clock_resolution())
      .member("seed", static_cast<Index>(fl::seed()));
  line(json);
}

void Recorder::begin_case(int number, Json parameters, const Team& team, const Cost& cost, Index steps) {
  if (comm::rank() != 0) return;
  Json json;
  json.open('{').member("type", "case").member("case", number);
  std::string open_text = parameters.close('}').text();
  json.key("parameters").raw(open_text).member("threads", team.threads).key("cost").open('{');
  for (const NamedQuantity& q : quantities)
    if (cost.*q.member != 0) json.member(q.name, cost.*q.member);
  std::map<std::string, double> of_phases;
  for (const PhaseCost& part : cost.phases) of_phases[text("%s.%s", part.phase.name, name_of(part.quantity))] += part.amount;
  for (const auto& [name, amount] : of_phases) json.member(name, amount);
  json.close('}').member("working_set", cost.working_set).member("steps", steps);
  line(json);
}

void Recorder::refused(int number, Json parameters, const Team& team, const std::string& why) {
  if (comm::rank() != 0) return;
  Json json;
  json.open('{').member("type", "refused").member("case", number);
  json.key("parameters").raw(parameters.close('}').text()).member("threads", team.threads).member("why", why);
  line(json);
}

Timing Recorder::sample(int number, int index, const Timing& mine, bool write, const Observed* observed) {
  auto all = gathered(mine);
  const auto values = write && observed != nullptr ? spread(*observed) : Spread{};
  Timing worst = mine;
  if (comm::rank() == 0) {
    std::sort(all.begin(), all.end(), [](const Timing& a, const Timing& b) { return a.wall < b.wall; });
    worst.wall = all.back().wall;
    for (const Timing& timing : all) worst.cpu_share = std::min(worst.cpu_share, timing.cpu_share);
    const std::size_t half = all.size() / 2;
    const double median = all.size() % 2 == 1 ? all[half].wall : 0.5 * (all[half - 1].wall + all[half].wall);
    if (write) {
      Json json;
      json.open('{').member("type", "sample").member("case", number).member("sample", index);
      json.member("wall", worst.wall).member("wall_min", all.front().wall).member("wall_median", median).member("cpu", worst.cpu_share);
      if (!values.empty()) {
        json.key("values").open('{');
        for (const auto& [name, three] : values) {
          json.key(name).open('[');
          for (const double x : three) json.value(x);
          json.close(']');
        }
        json.close('}');
      }
      line(json);
    }
  }
  comm::broadcast(&worst, sizeof worst);
  return worst;
}

bool Recorder::check(int number, const char* when, const Check& mine) {
  // Fixed size, so that it travels in one gather.
  struct Result {
    double error, tolerance;
    int ok;
    char what[240];
  } result{mine.error, mine.tolerance, mine.ok ? 1 : 0, {}};
  mine.what.copy(result.what, sizeof result.what - 1);
  const auto all = gathered(result);
  int ok = 1;
  if (comm::rank() == 0) {
    // The rank to show: one that failed if there is one, else the largest error.
    const Result* shown = &all.front();
    for (const Result& one : all) {
      const bool worse = one.ok < shown->ok || (one.ok == shown->ok && !(one.error <= shown->error));
      if (worse) shown = &one;
    }
    ok = shown->ok;
    const std::string place = all.size() > 1 ? text("rank %d: ", static_cast<int>(shown - all.data())) : "";
    Json json;
    json.open('{').member("type", "check").member("case", number).member("when", when).member("ok", ok == 1);
    json.member("error", shown->error).member("tolerance", shown->tolerance).member("what", place + shown->what);
    line(json);
  }
  comm::broadcast(&ok, sizeof ok);
  return ok == 1;
}

void Recorder::devices(int number, const device::Seen& mine) {
  const auto all = gathered(mine);
  if (comm::rank() != 0) return;
  Json json;
  json.open('{').member("type", "devices").member("case", number).key("devices").open('[');
  constexpr const char* places[] = {"nowhere", "host", "device"};
  for (std::size_t r = 0; r < all.size(); ++r) {
    json.open('{').member("rank", static_cast<Index>(r)).member("place", places[all[r].place]);
    json.member("name", all[r].name).member("address", all[r].address).close('}');
  }
  json.close(']');
  line(json);
}

void Recorder::series(int number, const Observed& observed) {
  const int ranks = std::min(comm::size(), Observations::most_ranks);
  int alike = 1;
  for (const std::uint64_t names : gathered(observed.series_names())) alike &= names == observed.series_names();
  if (alike == 0) cannot_observe("the ranks observe different series");
  for (const Observed::Series& mine : observed.points()) {
    std::vector<double> padded(static_cast<std::size_t>(Observations::most_points) + 1);
    padded[0] = static_cast<double>(mine.points.size());
    std::copy(mine.points.begin(), mine.points.end(), padded.begin() + 1);
    std::vector<double> all(comm::rank() == 0 ? padded.size() * static_cast<std::size_t>(ranks) : 0);
    comm::gather_first(ranks, padded.data(), padded.size() * sizeof(double), all.data());
    if (comm::rank() != 0) continue;
    for (int r = 0; r < ranks; ++r) {
      const double* one = all.data() + static_cast<std::size_t>(r) * padded.size();
      Json json;
      json.open('{').member("type", "series").member("case", number).member("name", mine.name).member("unit", mine.unit);
      json.member("rank", r).key("values").open('[');
      for (Index k = 0; k < static_cast<Index>(one[0]); ++k) json.value(one[1 + k]);
      json.close(']');
      line(json);
    }
  }
}

void Recorder::field(int number, const Sketch& sketch) {
  if (!comm::any(sketch.begun())) return;
  const Sketch::Reduced drawn = sketch.reduced();
  if (comm::rank() != 0) return;
  Json json;
  json.open('{').member("type", "field").member("case", number).member("name", sketch.name()).member("unit", sketch.unit());
  json.member("rows", sketch.rows()).member("columns", sketch.columns()).member("largest", drawn.largest).key("values").open('[');
  for (const auto& row : drawn.values) {
    json.open('[');
    for (const Index x : row) json.value(x);
    json.close(']');
  }
  json.close(']');
  line(json);
}

void Recorder::counters(int number, Index steps, const Counted& counted) {
  if (comm::rank() != 0) return;
  Json json;
  json.open('{').member("type", "counters").member("case", number).member("steps", steps);
  if (counted.instructions) json.member("instructions", *counted.instructions);
  if (counted.cycles) json.member("cycles", *counted.cycles);
  if (counted.flops) json.member("flops", *counted.flops);
  if (!counted.refused.empty()) json.member("refused", counted.refused);
  line(json);
}

void Recorder::span(int number, double began, double ended, double wall, const std::vector<Index>& counts) {
  const bool root = comm::rank() == 0;
  const auto firsts = gathered(comm::place() == 0 ? 1 : 0);
  std::vector<Index> all(root ? counts.size() * static_cast<std::size_t>(comm::size()) : 0);
  comm::gather(counts.data(), counts.size() * sizeof(Index), all.data());
  if (!root) return;
  Json json;
  json.open('{').member("type", "span").member("case", number);
  json.member("began", began).member("ended", ended).member("wall", wall);
  for (const auto& [name, first] : {std::pair{"before", 0}, std::pair{"after", 1}}) {
    json.key(name).open('[');
    for (std::size_t r = 0; r < firsts.size(); ++r) {
      if (firsts[r] == 0) continue;
      json.open('[');
      for (std::size_t k = static_cast<std::size_t>(first); k < counts.size(); k += 2) {
        const Index count = all[r * counts.size() + k];
        if (count < 0)
          json.raw("null");
        else
          json.value(count);
      }
      json.close(']');
    }
    json.close(']');
  }
  line(json);
}

void Recorder::end(int cases) {
  if (comm::rank() != 0) return;
  Json json;
  json.open('{').member("type", "end").member("cases", cases);
  line(json);
}

}  // namespace fl
