// Answers tests about rank maps: a line of words in, a line of JSON out.
//   moves FILE TOPOLOGY PER_NODE INSIDE HOLES SEED COUNT   random exchanges, a third of them taken back; is what is kept up to date
//                                                         what a map of its own gives?
//   peaks SIZE SEED COUNT                                 numbers that change one by one: their greatest, where it is, and the sum
//                                                         of their eighth powers, exactly
//   linear FILE TOPOLOGY PER_NODE INSIDE HOLES SEED COUNT  the linear map of each line, checked, with the cost that it says
//   blocks FILE TOPOLOGY PER_NODE INSIDE HOLES SEED COUNT  the map of alike blocks of each line, checked, and the maxima of the last
//   search FILE TOPOLOGY PER_NODE INSIDE HOLES SEED COUNT  a search with so many moves of annealing
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "firstlight/mapping/random.hpp"
#include "firstlight/mapping/search.hpp"

namespace {

using namespace fl::mapping;

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Bytes plainly(const Pattern& pattern, const Places& places, const Map& map, Bytes& hop_bytes) {
  Bytes sum = 0;
  hop_bytes = 0;
  std::vector<Link> way;
  for (std::size_t p = 0; p < pattern.phases(); ++p) {
    std::vector<Bytes> loads(static_cast<std::size_t>(places.links()), 0);
    Bytes most = 0;
    for (const Message& m : pattern.messages(p)) {
      places.route(map[static_cast<std::size_t>(m.from)], map[static_cast<std::size_t>(m.to)], way);
      for (const Link l : way) {
        most = std::max(most, loads[static_cast<std::size_t>(l)] += places.load(l, m.bytes));
        hop_bytes += places.load(l, m.bytes);
      }
    }
    sum += most;
  }
  return sum;
}

double eighth(double x) { return std::pow(x, 8); }

// Small whole numbers in units of a power of two: a double holds the sums of their eighth powers exactly.
std::string peaks(std::size_t size, std::uint64_t seed, int count) {
  constexpr std::size_t values = 20;
  Random random(seed);
  Peaks peaks(size);
  std::vector<Bytes> plain(size, 0);
  double unit = 1;
  int wrong = 0;
  for (int k = 0; k < count; ++k) {
    if (k % 20 == 0) peaks.sum_powers(unit = static_cast<double>(1 << random.below(3)));
    if (k % 50 == 49) {
      peaks.clear();
      plain.assign(size, 0);
    }
    const std::size_t i = random.below(size);
    const Bytes change = static_cast<Bytes>(random.below(values)) - plain[i];
    peaks.add(i, change);
    plain[i] += change;
    double powers = 0;
    for (const Bytes b : plain) powers += eighth(static_cast<double>(b) / unit);
    wrong += peaks.powers() != powers;
    if (k % 3 == 0) continue;  // so that several blocks wait for a look
    wrong += peaks.most() != *std::max_element(plain.begin(), plain.end()) || plain[peaks.where()] != peaks.most();
  }
  return "{\"wrong\": " + std::to_string(wrong) + "}";
}

double power_means(const Loads& loads, const Pattern& pattern, const Places& places) {
  double sum = 0;
  for (std::size_t p = 0; p < pattern.phases(); ++p) {
    double powers = 0;
    for (const Bytes b : loads.loads(p)) powers += eighth(static_cast<double>(b));
    sum += std::pow(powers / static_cast<double>(std::max<Link>(places.existing(), 1)), 0.125);
  }
  return sum;
}

std::string moves(const Pattern& pattern, const Places& places, std::uint64_t seed, int count) {
  Random random(seed);
  Loads loads(pattern, places);
  loads.place(identity(pattern, places));
  loads.settle();
  const auto& open = places.open();
  int wrong = 0;
  double most = loads.smooth();  // of all: until powers are summed anew, what is rounded away counts against its eighth power
  for (int k = 0; k < count; ++k) {
    const Cost before = loads.cost();
    loads.exchange(open[random.below(open.size())], open[random.below(open.size())]);
    most = std::max(most, loads.smooth());
    if (random.below(3) == 0) {
      if (random.below(2) == 0) static_cast<void>(loads.cost());
      loads.undo();
      wrong += loads.cost() != before;
    }
    if (k % 7 == 0 || k + 1 == count) {
      Cost plain;
      plain.maxima = plainly(pattern, places, loads.map(), plain.hop_bytes);
      wrong += loads.cost() != plain;
      if (pattern.phases() == 1)  // some thousand changes, each rounded to 2^-52
        wrong += std::fabs(eighth(loads.smooth()) - eighth(power_means(loads, pattern, places))) > 1e-11 * eighth(most);
      for (std::size_t p = 0; p < pattern.phases(); ++p)
        wrong += loads.loads(p)[static_cast<std::size_t>(loads.busiest(p))] != loads.most(p);
      check(loads.map(), pattern, places);
    }
  }
  loads.settle();
  const double means = power_means(loads, pattern, places);
  wrong += std::fabs(loads.smooth() - means) > 1e-9 * means;
  return "{\"wrong\": " + std::to_string(wrong) + "}";
}

std::string searched(const Pattern& pattern, const Places& places, std::uint64_t seed, int count) {
  const std::atomic<bool> stop{false};
  const Effort effort{.seconds = 1e6, .moves = count, .starts = 3, .threads = 2, .seed = seed};
  const Searched found = search(pattern, places, effort, stop, [](const Found&, double) {});
  check(found.best.map, pattern, places);
  Bytes hop_bytes = 0;
  const Bytes maxima = plainly(pattern, places, found.best.map, hop_bytes);
  std::ostringstream out;
  out << "{\"before\": " << score(found.before.cost, places) << ", \"after\": " << score(found.best.cost, places)
      << ", \"reported\": " << (found.best.cost == Cost{maxima, hop_bytes}) << ", \"proved\": " << found.proved
      << ", \"in_time\": " << found.in_time << ", \"by\": \"" << found.best.by << "\", \"map\": [";
  for (std::size_t r = 0; r < found.best.map.size(); ++r) out << (r > 0 ? "," : "") << found.best.map[r];
  out << "]}";
  return out.str();
}

// The map that is made of each line, made twice and checked; `more`: what else is wrong with it.
template <class Make, class More>
std::string maps_of_lines(const Pattern& pattern, const Places& places, const Make& make, const More& more) {
  const std::atomic<bool> never{false};
  const Stop stop(never, 1e6);
  Loads loads(pattern, places);
  int found = 0, wrong = 0;
  Cost last;
  for (const Line& line : lines(pattern, places)) {
    bool cut = false;
    const Found one = make(line, loads, stop, cut), again = make(line, loads, stop, cut);
    wrong += cut || one.map != again.map;
    if (one.map.empty()) continue;
    ++found;
    check(one.map, pattern, places);
    Cost plain;
    plain.maxima = plainly(pattern, places, one.map, plain.hop_bytes);
    wrong += one.cost != plain;
    wrong += more(line, one.map);
    last = one.cost;
  }
  return "{\"found\": " + std::to_string(found) + ", \"wrong\": " + std::to_string(wrong) + ", \"maxima\": " + std::to_string(last.maxima) +
         "}";
}

std::string linear_maps(const Pattern& pattern, const Places& places, std::uint64_t seed) {
  const auto make = [&](const Line& line, Loads& loads, const Stop& stop, bool& cut) {
    return linear(pattern, places, line, loads, seed, stop, cut, 200'000);
  };
  return maps_of_lines(pattern, places, make, [](const Line& line, const Map& map) {
    const auto at = [&](std::size_t rank) {
      return static_cast<std::size_t>(std::find(line.slots.begin(), line.slots.end(), map[rank]) - line.slots.begin());
    };
    int wrong = 0;
    for (std::size_t a = 0; a < map.size(); ++a) wrong += at(a) != (at(a & (a - 1)) ^ at(a & (~a + 1)));
    return wrong;
  });
}

std::string block_maps(const Pattern& pattern, const Places& places, std::uint64_t seed) {
  const auto make = [&](const Line& line, Loads& loads, const Stop& stop, bool& cut) {
    return blocks(pattern, places, line, loads, seed, stop, cut, 2'000'000);
  };
  return maps_of_lines(pattern, places, make, [](const Line&, const Map&) { return 0; });
}

std::string answer(std::istringstream& words) {
  std::string what;
  words >> what;
  if (what == "peaks") {
    std::size_t size = 0;
    std::uint64_t seed = 0;
    int count = 0;
    words >> size >> seed >> count;
    return peaks(size, seed, count);
  }
  std::string file, holes;
  Ground ground;
  std::uint64_t seed = 0;
  int count = 0;
  words >> file >> ground.topology >> ground.per_node >> ground.inside >> holes >> seed >> count;
  if (ground.inside == "-") ground.inside.clear();
  std::istringstream some(holes == "-" ? "" : holes);
  for (std::string hole; std::getline(some, hole, ',');) ground.holes.push_back(std::stoi(hole));
  const Pattern pattern = read_pattern(contents(file));
  const Places places(ground);
  if (what == "linear") return linear_maps(pattern, places, seed);
  if (what == "blocks") return block_maps(pattern, places, seed);
  return what == "moves" ? moves(pattern, places, seed, count) : searched(pattern, places, seed, count);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    try {
      std::cout << answer(words) << std::endl;
    } catch (const std::exception& error) {
      std::cout << "{\"error\": \"" << error.what() << "\"}" << std::endl;
    }
  }
}
