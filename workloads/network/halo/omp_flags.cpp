// SPMD OpenMP: every thread owns a sub-domain, all in one address space; neighbours notify each other by flags, without a barrier.
// The team lives as long as the loop: starting it would cost more than an exchange.
#include "kernels/threads.hpp"

namespace {

// Pages next to the thread that works on them.
void first_touch(halo::State& s) {
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
  for (std::size_t t = 0; t < s.domains.size(); ++t) {
    fl::Array<unsigned char>& memory = s.domains[t].memory;
    std::memset(memory.data(), 0, static_cast<std::size_t>(memory.size()));
  }
}

struct Exchange {
  std::vector<halo::Desk> desks;
  std::uint64_t exchanges = 0;  // before this loop

  void open(halo::State& s) {
    desks = std::vector<halo::Desk>(s.domains.size());
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
    for (std::size_t t = 0; t < s.domains.size(); ++t) desks[t].open(s);
  }

  void loop(halo::State& s, fl::Index first, fl::Index count) {
    halo::loop_alone(s, first, count, exchanges,
                     [&](const halo::Domain& d, int low, std::uint64_t number) { halo::exchange(s, desks, d, low, number, halo::await); });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::packed_between_threads, .first_touch = first_touch, .traits = {.between_threads = true})
