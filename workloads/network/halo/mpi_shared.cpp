// A window in shared memory and flags; MPI gets its turn where a neighbour is waited for.
//   packed:  words are packed straight into the neighbour's box, with one flag; two copies, no consent, two sets of boxes
//   inplace: each copies from its neighbour's field into its own halo, one copy; a flag signals that words are ready, another that
//            they have been read
#include "firstlight/grid/mpi_shared.hpp"
#include "kernels/parcels.hpp"
#include "kernels/window.hpp"

namespace {

struct There {  // in the part of the neighbour on this side
  unsigned char* field;
  std::uint64_t *ready, *read;
};

std::string no_datatypes(const halo::Params& p) {
  return p.data == halo::Data::datatype ? "this variant of halo supports only data=packed and data=inplace, because "
                                          "no MPI function moves its data"
                                        : "";
}

struct Exchange {
  halo::Parcels<fl::grid::MpiShared> boxes;
  halo::SidesWindow line;  // in place
  std::array<There, halo::sides> there;
  std::uint64_t number = 0;  // of this exchange

  void open(halo::State& s) {
    if (s.data == halo::Data::packed) return boxes.open(s);
    line.open(s, 2, true);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, line.window());
    for (std::size_t way = 0; way < halo::sides; ++way) {
      const std::size_t back = halo::opposite(static_cast<int>(way));
      const int peer = line.sets[0].side[way].peer;
      const auto at = [&](const void* mine) { return line.in_part_of(peer, mine); };
      there[way].field = at(s.domains[0].field);
      there[way].ready = reinterpret_cast<std::uint64_t*>(at(line.sets[0].side[back].flag()));
      there[way].read = reinterpret_cast<std::uint64_t*>(at(line.sets[1].side[back].flag()));
    }
  }

  void close(halo::State& s) {
    if (s.data == halo::Data::packed) return boxes.close(s);
    MPI_Win_unlock_all(line.window());
    line.close();
  }

  void raise(std::uint64_t* flag) { std::atomic_ref(*flag).store(number, std::memory_order_release); }

  void await(const halo::Side& side) {
    fl::await(side.flag(), number, [] {});
  }

  void pull(const halo::State& s) {
    ++number;
    halo::two_phases(s, line.sets[0], [&](const halo::Side& low, const halo::Side& high) {
      for (const halo::Side* side : {&low, &high}) raise(there[static_cast<std::size_t>(side->way)].ready);
      for (const halo::Side* side : {&low, &high}) {
        const There& neighbour = there[static_cast<std::size_t>(side->way)];
        await(*side);
        copy(s, neighbour.field, (side == &low ? high : low).out, s.domains[0].field, side->in);
        raise(neighbour.read);
      }
    });
    for (std::size_t way = 0; way < halo::sides; ++way)
      if (const halo::Side& side = line.sets[1].side[way]; !side.here) await(side);
  }

  void step(halo::State& s, fl::Index iteration) {
    if (s.data == halo::Data::packed)
      boxes.step(s, iteration);
    else
      pull(s);
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = no_datatypes, .traits = {.one_node = true})
