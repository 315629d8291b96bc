// A window in shared memory and flags, nothing of MPI in the loop.
//   packed:  words are packed straight into the neighbour's box, with one flag; two copies, no consent, two sets of boxes
//   inplace: each copies from its neighbour's field into its own halo, one copy; a flag says that words are ready, another that
//            they have been read
#include "window.hpp"

namespace {

struct There {  // in the part of the neighbour on this side
  unsigned char *box[2], *field;
  std::uint64_t *ready, *read;
};

std::string no_datatypes(const halo::Params& p) {
  return p.data == halo::Data::datatype ? "this variant of halo runs data=packed or inplace: it calls no MPI that could be told a datatype"
                                        : "";
}

struct Exchange {
  halo::SidesWindow line;
  std::array<There, halo::sides> there;
  std::uint64_t number = 0;  // of this exchange

  void open(halo::State& s) {
    line.open(s, 2, true);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, line.window());
    for (std::size_t way = 0; way < halo::sides; ++way) {
      const std::size_t back = halo::opposite(static_cast<int>(way));
      const int peer = line.sets[0].side[way].peer;
      const auto at = [&](const void* mine) { return line.in_part_of(peer, mine); };
      there[way] = {{at(line.sets[0].side[back].inbox), at(line.sets[1].side[back].inbox)}, at(s.domains[0].field), nullptr, nullptr};
      there[way].ready = reinterpret_cast<std::uint64_t*>(at(line.sets[0].side[back].flag()));
      there[way].read = reinterpret_cast<std::uint64_t*>(at(line.sets[1].side[back].flag()));
    }
  }

  void close(halo::State&) {
    MPI_Win_unlock_all(line.window());
    line.close();
  }

  void tell(std::uint64_t* flag) { std::atomic_ref(*flag).store(number, std::memory_order_release); }

  void tell(unsigned char* box) { tell(reinterpret_cast<std::uint64_t*>(box - halo::Side::flag_bytes)); }

  void await(const halo::Side& side) {
    fl::await(side.flag(), number, [] {});
  }

  void push(const halo::State& s) {
    const std::size_t set = number % 2;
    halo::two_phases(s, line.sets[set], [&](const halo::Side& low, const halo::Side& high) {
      for (const halo::Side* side : {&low, &high}) {
        unsigned char* box = there[static_cast<std::size_t>(side->way)].box[set];
        pack(s, s.domains[0].field, side->out, box);
        tell(box);
      }
      for (const halo::Side* side : {&high, &low}) {
        await(*side);
        unpack(s, side->inbox, s.domains[0].field, side->in);
      }
    });
  }

  void pull(const halo::State& s) {
    halo::two_phases(s, line.sets[0], [&](const halo::Side& low, const halo::Side& high) {
      for (const halo::Side* side : {&low, &high}) tell(there[static_cast<std::size_t>(side->way)].ready);
      for (const halo::Side* side : {&low, &high}) {
        const There& neighbour = there[static_cast<std::size_t>(side->way)];
        await(*side);
        copy(s, neighbour.field, (side == &low ? high : low).out, s.domains[0].field, side->in);
        tell(neighbour.read);
      }
    });
    for (std::size_t way = 0; way < halo::sides; ++way)
      if (const halo::Side& side = line.sets[1].side[way]; !side.here) await(side);
  }

  void step(halo::State& s, fl::Index) {
    ++number;
    if (s.data == halo::Data::packed)
      push(s);
    else
      pull(s);
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = no_datatypes, .traits = {.one_node = true})
