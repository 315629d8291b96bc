// What a launch draws once, the same on every rank.
#include "seed.hpp"

#include <random>

#include "comm.hpp"
#include "firstlight/workload.hpp"

namespace fl {
namespace {

constexpr std::uint64_t most_seed = 1000000;  // that --seed accepts
std::uint64_t drawn = 0;

}  // namespace

void draw_seed(std::uint64_t wanted) {
  drawn = wanted != 0 ? wanted : 1 + std::random_device{}() % most_seed;
  comm::broadcast(&drawn, sizeof drawn);
}

std::uint64_t seed() { return drawn; }

}  // namespace fl
