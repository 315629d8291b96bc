// The coarray variants under the harness. Each f90 file provides, with C binding:
//   halo_caf_open(room)                              boxes of `room` bytes: four sides, two sets used alternately
//   halo_caf_exchange(low, high, bytes, low_image, high_image, set, out_low, out_high, in_low, in_high)
//                                                    what leaves on side `low` arrives on side `high` of the neighbour there, and back
//   halo_caf_close()
// Images count from 1. Who fills a set for the second time has met its neighbour in the exchange between, which that one began after
// it had emptied the set.
#include <string_view>

#include "kernels/boxes.hpp"
#include "kernels/sides.hpp"

extern "C" {
void halo_caf_open(int room);
void halo_caf_exchange(int low, int high, int bytes, int low_image, int high_image, int set, const unsigned char* out_low,
                       const unsigned char* out_high, unsigned char* in_low, unsigned char* in_high);
void halo_caf_close();

// libgfortran's and OpenCoarrays' own names, called by the main program that gfortran makes.
void _gfortran_caf_init(int* argc, char*** argv);
void _gfortran_caf_finalize();
}

namespace {

// One image has no neighbour to send to, and needs no coarrays: Open MPI 4.1 makes no window for one process, and OpenCoarrays
// begins with one.
bool several() {
  int images = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &images);
  return images > 1;
}

void start() {
  int argc = 0;
  char** argv = nullptr;
  if (several()) _gfortran_caf_init(&argc, &argv);
}

void stop() {
  if (several()) _gfortran_caf_finalize();
}

// One image alone gets everything right that does not happen between two.
constexpr bool broken = std::string_view(FL_VARIANT_NAME).starts_with("broken");

struct Exchange {
  halo::Sides all;
  int set = 1;  // of the two that are used alternately

  void open(halo::State& s) {
    all.open(s);
    if (several()) halo_caf_open(static_cast<int>(halo::longest_bytes(s)));
  }

  void close(halo::State&) {
    if (several()) halo_caf_close();
    all.close();
  }

  void step(halo::State& s, fl::Index) {
    set = 3 - set;
    halo::two_packed_phases(s, all, [&](const halo::Side& low, const halo::Side& high) {
      halo_caf_exchange(low.way + 1, high.way + 1, static_cast<int>(bytes(s, low.out)), low.peer + 1, high.peer + 1, set, low.outbox,
                        high.outbox, low.inbox, high.inbox);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::packed_only, .start = start, .stop = stop, .traits = {.needs_neighbours = broken})
