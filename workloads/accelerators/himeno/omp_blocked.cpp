// Threads, twelve sweeps at once: tiles alternately, each of which follows the tile before it step by step.
#include <atomic>
#include <memory>
#include <thread>

#include "kernels/blocked.hpp"
#include "kernels/threads.hpp"

#include "firstlight/variant.hpp"

namespace {

struct alignas(64) Progress {
  std::atomic<fl::Index> steps{0};
};

void place(himeno::State& s) { himeno::place(s, fl::grid::OpenMp{s.team.threads}); }

struct Blocked {
  fl::grid::OpenMp team;
  himeno::Interleaved lines;
  fl::Index tile_bytes = himeno::farther_tile;

  void open(himeno::State& s) {
    team.threads = s.team.threads;
    lines.allocate(s);
    team([&](fl::Index share, fl::Index shares) { lines.fill(s, fl::grid::share_of(s.block.cells(), share, shares)); });
    tile_bytes = himeno::best_tile(s, lines, [this](const himeno::Group& group) { return work(group); });
  }
  void step(himeno::State& s, fl::Index) {
    himeno::run_in_groups(s, lines, tile_bytes, [this](const himeno::Group& group) { return work(group); });
  }
  double work(const himeno::Group& group) {
    const std::unique_ptr<Progress[]> done(new Progress[static_cast<std::size_t>(group.tiles())]);
    return himeno::summed(team, team.threads, [&](fl::Index thread, fl::Index threads) {
      double sum = 0;
      for (fl::Index tile = thread; tile < group.tiles(); tile += threads) {
        std::atomic<fl::Index>* const before = tile > 0 ? &done[static_cast<std::size_t>(tile - 1)].steps : nullptr;
        for (fl::Index step = 0; step < group.steps(); ++step) {
          while (before != nullptr && before->load(std::memory_order_acquire) <= step) std::this_thread::yield();
          sum += group(tile, step);
          done[static_cast<std::size_t>(tile)].steps.store(step + 1, std::memory_order_release);
        }
      }
      return sum;
    });
  }
};

}  // namespace

FL_VARIANT(himeno, Blocked, .first_touch = place, .traits = {.sweeps_at_once = himeno::at_once})
