// native/harness/include/firstlight/block.hpp with C linkage: kernels that are right, and such that lack what makes them so.
#include "firstlight/block.hpp"

namespace {

constexpr int blocks_of_a_race = 4;
constexpr int wide = 8, high = 4, threads = wide * high;

struct Tile {
  int value[threads];
};
struct Nothing {};
struct Sums {
  double parts[threads];
};

// Without barriers.
struct Deaf : fl::Block {
  void barrier() const {}
};

// Every thread writes its own value and reads that of the thread `apart` away, `times` times over.
template <class B>
void shifted(const B& block, Tile& tile, int times, int apart, bool last, int* out) {
  const int me = block.number();
  for (int n = 0; n < times; ++n) {
    tile.value[me] = 1000 * (n + 1) + me;
    block.barrier();
    const int block_number = (block.place.z * block.blocks.y + block.place.y) * block.blocks.x + block.place.x;
    out[(block_number * times + n) * threads + me] = tile.value[(me + apart) % threads];
    if (last) block.barrier();
  }
}

}  // namespace

extern "C" {

// barriers: 2 as many as are needed, 1 only that before the values are read, 0 none. out: by block, time and thread.
void run_shifted(int x, int y, int z, int times, int apart, int barriers, int* out) {
  fl::each_block<Tile>({x, y, z}, {wide, high, 1}, [&](const fl::Block& block, Tile& tile) {
    if (barriers == 0)
      shifted(Deaf{block}, tile, times, apart, true, out);
    else
      shifted(block, tile, times, apart, barriers == 2, out);
  });
}

// The sum of the threads' squares of a number, twice, as each thread has it.
void run_sum(bool barriers, double* out) {
  fl::each_block<Sums>({1, 1, 1}, {wide, high, 1}, [&](const fl::Block& block, Sums& shared) {
    const double me = block.number();
    const auto twice = [&](const auto& b) {
      const double first = fl::sum_of_block(b, shared.parts, me * me);
      return first + fl::sum_of_block(b, shared.parts, 1.);
    };
    out[block.number()] = barriers ? twice(block) : twice(Deaf{block});
  });
}

// Races: one thread writes what all read, without a barrier in between (0), or all write to one place (1). out: by block and thread.
void run_race(int kind, int writer, int* out) {
  fl::each_block<Tile>({blocks_of_a_race, 1, 1}, {wide, high, 1}, [&](const fl::Block& block, Tile& tile) {
    const int me = block.number();
    if (kind == 1 || me == writer) tile.value[0] = 1000 + me;
    if (kind == 1) block.barrier();
    out[block.place.x * threads + me] = tile.value[0];
  });
}

// Wrong without shared memory: each thread adds to its own element what the thread before, of the same kernel, left in its.
void run_chain(int blocks, int* values) {
  fl::each_block<Nothing>({blocks, 1, 1}, {wide, high, 1}, [&](const fl::Block& block, Nothing&) {
    const int me = block.place.x * threads + block.number();
    values[me] = 1 + (me > 0 ? values[me - 1] : 0);
  });
}

// The same by the first threads of blocks that have shared memory.
void run_chain_of_blocks(int blocks, int* values) {
  fl::each_block<Tile>({blocks, 1, 1}, {wide, high, 1}, [&](const fl::Block& block, Tile&) {
    const int me = block.place.x;
    if (block.number() == 0) values[me] = 1 + (me > 0 ? values[me - 1] : 0);
  });
}

// Every thread without shared memory counts its visits.
void run_visits(int x, int y, int z, int* visits) {
  fl::each_block<Nothing>({x, y, z}, {wide, high, 1}, [&](const fl::Block& block, Nothing&) {
    const int number = (block.place.z * y + block.place.y) * x + block.place.x;
    visits[number * threads + block.number()] += 1;
  });
}

// One thread writes so many elements behind the end of the shared memory, or before its first.
void run_beyond(int place) {
  fl::each_block<Tile>({1, 1, 1}, {wide, high, 1}, [&](const fl::Block& block, Tile& tile) {
    if (block.number() != 5) return;
    volatile int* first = tile.value;
    first[place] = 7;
  });
}

void run_adding(double* to) {
  fl::each_block<Tile>({3, 2, 2}, {wide, high, 1}, [&](const fl::Block& block, Tile&) { fl::add(to, block.number()); });
}

// Ends the program.
void run_leaving() {
  fl::each_block<Tile>({1, 1, 1}, {wide, high, 1}, [](const fl::Block& block, Tile&) {
    if (block.number() != 3) block.barrier();
  });
}
void run_waiting_without_memory() {
  fl::each_block<Nothing>({1, 1, 1}, {wide, high, 1}, [](const fl::Block& block, Nothing&) { block.barrier(); });
}
void run_outside() { fl::Block().barrier(); }
}
