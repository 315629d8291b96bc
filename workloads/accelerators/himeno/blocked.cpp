// One thread, twelve sweeps at once.
#include "kernels/blocked.hpp"

#include "firstlight/variant.hpp"

namespace {

double work(const himeno::Group& group) {
  double sum = 0;
  for (fl::Index tile = 0; tile < group.tiles(); ++tile)
    for (fl::Index step = 0; step < group.steps(); ++step) sum += group(tile, step);
  return sum;
}

struct Blocked {
  himeno::Interleaved lines;
  fl::Index tile_bytes = himeno::farther_tile;

  void open(himeno::State& s) {
    lines.allocate(s);
    lines.fill(s, s.block.cells());
    tile_bytes = himeno::best_tile(s, lines, work);
  }
  void step(himeno::State& s, fl::Index) { himeno::run_in_groups(s, lines, tile_bytes, work); }
};

}  // namespace

FL_VARIANT(himeno, Blocked, .traits = {.sweeps_at_once = himeno::at_once})
