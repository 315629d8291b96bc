// The flags of omp_flags between plain threads, for the thread sanitizer: it does not see how gcc's OpenMP starts and joins a team.
// With -DCARELESS=1 no thread waits, with -DCARELESS=2 there is one set of boxes instead of two: the sanitizer must object.
#include <thread>

#include "../../../workloads/network/halo/kernels/threads.hpp"
#include "judge.hpp"

namespace {

std::vector<halo::Desk> desks;

void hurry(const halo::Flag&, std::uint64_t) {}

void live(halo::State& s, halo::Domain& d, fl::Index exchanges) {
  for (fl::Index i = 0; i < exchanges; ++i) {
    const auto number = static_cast<std::uint64_t>(CARELESS == 2 ? 2 * (i + 1) : i + 1);
    halo::mutate_inputs(s, d, i);
    halo::exchange(s, desks, d, halo::north, number, CARELESS == 1 ? hurry : halo::await);
    halo::exchange(s, desks, d, halo::west, number, CARELESS == 1 ? hurry : halo::await);
  }
}

}  // namespace

void fl::run_steps(Index, Index) {}
std::uint64_t fl::seed() { return 1; }
void fl::first_touch(void*) {}

int main() {
  constexpr int parties = 6;
  constexpr fl::Index exchanges = 40;
  halo::Params p;
  p.n = 3;
  p.width = 2;
  halo::State s;
  halo::init(s, p, fl::Team{0, 1, parties, 1}, {.between_threads = true});
  desks = std::vector<halo::Desk>(parties);
  for (halo::Desk& desk : desks) desk.open(s);
  std::vector<std::thread> team;
  for (halo::Domain& d : s.domains) team.emplace_back([&] { live(s, d, exchanges); });
  for (std::thread& one : team) one.join();
  fl::ErrorSummary damage;
  for (const halo::Domain& d : s.domains) halo::inspect(s, d, exchanges - 1, damage);
  return damage.count() == 0 ? 0 : 1;
}
