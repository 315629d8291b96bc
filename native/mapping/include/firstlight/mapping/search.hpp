// The search for a better map: structured maps, recursive bisection, then annealing from the best of them, on all cores.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "firstlight/mapping/loads.hpp"

namespace fl::mapping {

struct Effort {
  double seconds = 60;     // at most, all together
  std::int64_t moves = 0;  // of annealing, a start; 0: as many as the pattern seems worth
  int starts = 4;
  int threads = 1;
  std::uint64_t seed = 1;
  double memory = 1.5e9;  // bytes for the loads of all threads
};

struct Found {
  Map map;
  Cost cost;
  std::string by = "identity";
};

// Reports the best map so far during the search. After a kill the last report is at most `report_interval` older than the best map found,
// or it is the best of the starts that are over.
using Report = std::function<void(const Found& best, double seconds)>;
inline constexpr double report_interval = 0.2;  // seconds

// Decides when to stop: an end is requested, or the time is over.
class Stop {
 public:
  Stop(const std::atomic<bool>& wanted, double seconds);
  bool operator()() const;
  double seconds() const;  // since it began
  double left() const;
  Stop part(double share) const;  // of the time that is left

 private:
  const std::atomic<bool>* wanted_;
  double begin_, limit_;
};

struct Searched {
  Found before;         // identity
  Found best;           // by the score; identity itself, where nothing is better
  Found least;          // by the sum of maxima alone, whatever all links carry
  bool proved = false;  // nothing can be better: identity is at the bound of every phase
  bool in_time = true;  // nothing was cut short by the clock: the same seed leads to the same map
  int starts = 0;       // maps that were searched from
};

// What is compared: the sum of maxima, smoothed by the mean load of a link, summed over phases.
double score(const Cost& cost, const Places& places);

// Raises Wrong. One thread at a time calls `report`.
Searched search(const Pattern& pattern, const Places& places, const Effort& effort, const std::atomic<bool>& stop, const Report& report);

// --- the parts

// One order of open slots, as many as there are ranks, and the mixed radix in which it is regular.
struct Line {
  std::string name;
  std::vector<Slot> slots;
  std::vector<Rank> radices;  // primes, fastest first; their product is the number of ranks
  std::vector<Node> axes;     // whose extents the radices make up, fastest first; empty where it has none
};
std::vector<Line> lines(const Pattern& pattern, const Places& places);
// Open slots by halving the longest side again and again: any piece of it is compact.
std::vector<Slot> compact(const Places& places, std::size_t count);
// Returns the radices of the ranks' own numbers, derived from the distances of messages: 4x8 where many messages go 1 and 4 ranks far.
std::vector<Rank> strides(const Pattern& pattern);

// Permutations of digits with reflected ones and sums of two: the best that is found from this line.
Found structured(const Pattern& pattern, const Places& places, const Line& line, Loads& loads, std::uint64_t seed, const Stop& stop,
                 bool& cut);
// Each bit of a slot's number in line a sum modulo 2 of the rank's: the best that is found. None where ranks are not a power of two, or no
// phase exchanges all ranks with those that differ from them by the same bits. `work`: links that are loaded at most, about: it takes seconds.
Found linear(const Pattern& pattern, const Places& places, const Line& line, Loads& loads, std::uint64_t seed, const Stop& stop, bool& cut,
             std::int64_t work = 1'250'000'000);
// Groups of ranks in blocks that are alike: see blocks.cpp. None where ranks or axes are not powers of two, or phases are not exchanges
// within groups and between them.
Found blocks(const Pattern& pattern, const Places& places, const Line& line, Loads& loads, std::uint64_t seed, const Stop& stop, bool& cut,
             std::int64_t work = 2'500'000'000);
// Ranks halved so that little crosses, slots halved where they are longest; see bisection.cpp.
Map bisected(const Pattern& pattern, const Places& places, std::uint64_t seed, const Stop& stop, bool& cut);
// Exchanges of two slots, colder and colder. heat: at first, in ranks' shares of the energy.
Found annealed(const Pattern& pattern, const Places& places, const Found& start, Loads& loads, double heat, std::int64_t moves,
               std::uint64_t seed, const Stop& stop, const std::function<void(const Found&)>& report, bool& cut);

}  // namespace fl::mapping
