// SPMD OpenMP: every thread owns a sub-domain, all in one address space; neighbours tell each other by flags, without a barrier.
// The team lives as long as the loop: starting it would cost more than an exchange.
#include "threads.hpp"

namespace {

std::vector<halo::Desk> desks;
std::uint64_t exchanges;  // before this loop

// Pages next to the thread that works on them.
void first_touch(halo::State& s) {
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
  for (std::size_t t = 0; t < s.domains.size(); ++t) {
    fl::Array<unsigned char>& memory = s.domains[t].memory;
    std::memset(memory.data(), 0, static_cast<std::size_t>(memory.size()));
  }
}

void prepare(halo::State& s) {
  desks = std::vector<halo::Desk>(s.domains.size());
  exchanges = 0;
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
  for (std::size_t t = 0; t < s.domains.size(); ++t) desks[t].open(s);
}

void finish(halo::State&) { desks.clear(); }

void loop(halo::State& s, fl::Index first, fl::Index count) {
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
  for (std::size_t t = 0; t < s.domains.size(); ++t) {
    halo::Domain& d = s.domains[t];
    std::uint64_t number = exchanges;
    for (fl::Index i = first; i < first + count; ++i) {
      ++number;
      halo::touch(s, d, i);
      halo::exchange(s, desks, d, halo::north, number, halo::await);
      halo::exchange(s, desks, d, halo::west, number, halo::await);
    }
  }
  exchanges += static_cast<std::uint64_t>(count);
}

}  // namespace

FL_VARIANT_LOOP(halo, loop, .refuse = FL_REFUSE(halo, halo::packed_between_threads), .first_touch = FL_HOOK(halo, first_touch),
                .setup = FL_HOOK(halo, prepare), .finish = FL_HOOK(halo, finish), .traits = halo::between_threads)
