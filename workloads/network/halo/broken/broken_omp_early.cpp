// Reads its neighbours' boxes before it packs its own: of two neighbours one at least is always too early.
#include "kernels/threads.hpp"

namespace {

struct Exchange {
  std::vector<halo::Desk> desks;
  std::uint64_t exchanges = 0;

  void open(halo::State& s) {
    desks = std::vector<halo::Desk>(s.domains.size());
    for (halo::Desk& desk : desks) desk.open(s);
  }

  void phase(const halo::State& s, const halo::Domain& d, int low, std::uint64_t number) {
    halo::Desk& mine = desks[static_cast<std::size_t>(d.me)];
    const auto other = [&](int way) -> halo::Desk& { return desks[static_cast<std::size_t>(d.neighbour[static_cast<std::size_t>(way)])]; };
    const auto flag = static_cast<std::size_t>(low / 2);
    for (int way = low; way < low + 2; ++way) unpack(s, other(way).box(halo::opposite(way), number), d.field, incoming(s, way));
    for (int way = low; way < low + 2; ++way) pack(s, d.field, outgoing(s, way), mine.box(way, number));
    halo::announce(mine.ready[flag], number);
    for (int way = low; way < low + 2; ++way) halo::await(other(way).ready[flag], number);
  }

  void loop(halo::State& s, fl::Index first, fl::Index count) {
    halo::loop_alone(s, first, count, exchanges, [&](const halo::Domain& d, int low, std::uint64_t number) { phase(s, d, low, number); });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::packed_between_threads, .traits = {.between_threads = true, .needs_neighbours = true})
