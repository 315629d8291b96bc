// Saves and restores fields with native/checkpoint: checkpoint_run save|restore FOLDER STRATEGY LAST [EXTENTS [DISTANCE]]
//   save     generations up to LAST, from the one after the newest; prints "saved G" after each
//   restore  into new memory, and compares every word; prints "restored G"
// A cell of generation G is a function of G and of its place in the domain. Strategies: pieces, slots, partner, parity, field, async.
// Errors of the library end the program with status 4 and their sentence.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#ifdef WITH_MPI
#include "firstlight/checkpoint/mpi_field.hpp"
#else
#include "firstlight/checkpoint/store.hpp"
#endif
#include "../support/heap.hpp"

namespace {

namespace checkpoints = fl::checkpoints;
namespace grid = fl::grid;
using fl::Index;

// In runs of two blocks of a checkpoint: a quarter of the words never changes, the others change with each second generation.
std::uint64_t word(std::uint64_t number, std::uint64_t generation) {
  const std::uint64_t run = number / 16384;
  const std::uint64_t since = run % 4 == 0 ? 0 : run % 2 == generation % 2 ? generation : generation - 1;
  return fl::hash(number ^ fl::hash(since));
}

struct Job {
  grid::Block<3> block;
  grid::Field<std::uint64_t, 3> field;

  Job(const grid::Point<3>& extents, int ranks, int rank)
      : block({.extents = extents, .halo = {1, 2, 1}}, ranks, rank), field(block.size(), block.domain.halo, 64, 32) {
    for (Index k = 0; k < field.layout().elements; ++k) field.data()[k] = 0xBAD;
  }
  void fill(std::uint64_t generation) {
    grid::each_cell(block.cells(), [&](const grid::Point<3>& p) { field[p] = word(block.number(block.global(p)), generation); });
  }
  Index wrong(std::uint64_t generation) {
    Index count = 0, inside = 0;
    grid::each_cell(block.cells(), [&](const grid::Point<3>& p) {
      count += field[p] != word(block.number(block.global(p)), generation);
      inside += field[p] != 0xBAD;
    });
    Index all = 0;  // halo cells stay as they were
    for (Index k = 0; k < field.layout().elements; ++k) all += field.data()[k] != 0xBAD;
    return count + (all != inside);
  }
};

// Reads the manifest as restore() does.
template <class Store>
std::uint64_t newest(const Store& store) {
  try {
    return checkpoints::find_manifest(store.place(), store.team(), checkpoints::no_generation).generation;
  } catch (const checkpoints::Failure&) {
    return 0;
  }
}

template <class Store>
void save(Store& store, Job& job, std::uint64_t last, const std::string& strategy) {
  for (std::uint64_t g = newest(store) + 1; g <= last; ++g) {
    job.fill(g);
    if constexpr (requires { store.begin(g, job.block, job.field); }) {
      if (strategy == "async") {
        store.begin(g, job.block, job.field);
        std::thread writer([&] { store.write(); });
        job.fill(g + 7);  // what is saved is a copy
        writer.join();
        store.finish();
      } else {
        store.save(g, job.block, job.field);
      }
    } else {
      store.save(g, job.block, job.field);
    }
    if (store.team().rank() == 0) {
      const auto& j = store.journal();
      std::printf("saved %llu: %lld bytes, %lld files, %lld synced, %lld folders\n", static_cast<unsigned long long>(g), j.bytes, j.files,
                  j.synced, j.folders);
      std::fflush(stdout);
    }
  }
}

template <class Store, class Team>
int run(Store&& store, const Team& team, char** words, int count) {
  const std::string what = words[1], strategy = words[3];
  grid::Point<3> extents{12, 40, 33};
  if (count > 5) std::sscanf(words[5], "%lldx%lldx%lld", &extents[0], &extents[1], &extents[2]);
  Job job(extents, team.size(), team.rank());
  checkpoints::Place place{.folder = words[2], .name = "state"};
  place.distance = count > 6 ? std::atoi(words[6]) : 1;
  place.group = 3;
  if (strategy == "slots") place.kind = checkpoints::Kind::slots;
  if (strategy == "partner") place.protection = checkpoints::Protection::partner;
  if (strategy == "parity") place.protection = checkpoints::Protection::parity;
  int status = 0;
  try {
    store.open(place, team);
    if (what == "save") {
      save(store, job, std::strtoull(words[4], nullptr, 10), strategy);
    } else {
      const std::uint64_t generation = store.restore(job.block, job.field);
      const auto wrong = static_cast<long long>(team.total(static_cast<std::uint64_t>(job.wrong(generation))));
      if (team.rank() == 0) std::printf("restored %llu: %lld wrong\n", static_cast<unsigned long long>(generation), wrong);
      status = wrong == 0 ? 0 : 1;
    }
  } catch (const checkpoints::Failure& failure) {
    if (team.rank() == 0) std::printf("failure: %s\n", failure.what());
    status = 4;
  }
  std::fflush(stdout);
  return status;
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) return 2;
#ifdef WITH_MPI
  MPI_Init(&count, &words);
  const checkpoints::Ranks team(MPI_COMM_WORLD);
  const int status = std::string(words[3]) == "field" ? run(checkpoints::SharedFile<>(), team, words, count)
                                                      : run(checkpoints::Store<checkpoints::Ranks>(), team, words, count);
  MPI_Finalize();
#else
  const int status = run(checkpoints::Store<checkpoints::Alone>(), checkpoints::Alone(), words, count);
#endif
  return status;
}
