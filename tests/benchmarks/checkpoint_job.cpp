// A job that computes and saves its state: checkpoint_job FOLDER EDGE SEGMENTS SECONDS
// It restores the newest generation, and then makes SEGMENTS generations in all. Each is SECONDS of computing (which waits, so that other
// programs do not slow it down) and a save. Prints "ready G" when it begins to compute, "saved G SECONDS" after each save, "wrong N" if a
// restored cell is wrong.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "../support/heap.hpp"
#include "firstlight/checkpoint/store.hpp"

namespace {

namespace checkpoints = fl::checkpoints;
namespace grid = fl::grid;
using Clock = std::chrono::steady_clock;

std::uint64_t word(std::uint64_t cell, std::uint64_t generation) { return fl::hash(cell ^ fl::hash(generation)); }

}  // namespace

int main(int count, char** words) {
  if (count < 5) return 2;
  const auto edge = static_cast<fl::Index>(std::atoll(words[2]));
  const std::uint64_t segments = std::strtoull(words[3], nullptr, 10);
  const std::chrono::duration<double> computing(std::atof(words[4]));
  const grid::Block<3> block({.extents = {edge, edge, edge}, .halo = {0, 0, 0}}, 1, 0);
  grid::Field<std::uint64_t, 3> field(block.size(), block.domain.halo);
  checkpoints::Store<checkpoints::Alone> store;
  store.open({.folder = words[1], .name = "state"}, {});
  std::uint64_t generation = 0, wrong = 0;
  try {
    checkpoints::find_manifest(store.place(), store.team(), checkpoints::no_generation);
    generation = store.restore(block, field);
  } catch (const checkpoints::Failure&) {
    if (generation > 0) return 4;
  }
  if (generation > 0)
    grid::each_cell(block.cells(), [&](const grid::Point<3>& p) { wrong += field[p] != word(block.number(block.global(p)), generation); });
  if (wrong > 0) std::printf("wrong %llu\n", static_cast<unsigned long long>(wrong));
  std::printf("ready %llu\n", static_cast<unsigned long long>(generation));
  std::fflush(stdout);
  while (generation < segments) {
    const auto began = Clock::now();
    generation += 1;
    grid::each_cell(block.cells(), [&](const grid::Point<3>& p) { field[p] = word(block.number(block.global(p)), generation); });
    std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(computing));
    const auto ended = Clock::now();
    store.save(generation, block, field);
    const std::chrono::duration<double> saving = Clock::now() - ended;
    std::printf("saved %llu %.6f\n", static_cast<unsigned long long>(generation), saving.count());
    std::fflush(stdout);
  }
  return wrong > 0 ? 1 : 0;
}
