// Exchanges of native/grid on real MPI: grid_run <seed> <count> [swapped]. Every rank draws the same cases; rank 0 prints how many
// exchanges were made, how many values of all ranks are wrong, and the first of them. With `swapped` two messages change places.
#include <algorithm>
#include <cstdio>
#include <random>
#include <string>

#include "firstlight/grid/mpi.hpp"
#include "grid_case.hpp"

namespace {

namespace grid = fl::grid;
using fl::Index;

bool swap_messages = false;
long long exchanges = 0, wrong = 0;

// MPI, with two messages of the same length in each other's place where that is asked for.
struct Transport : grid::Mpi {
  struct Channel : grid::Mpi::Channel {
    Channel(const Transport& mpi, std::vector<grid::Parcel> receives, const std::vector<grid::Parcel>& sends)
        : grid::Mpi::Channel(mpi, swapped(std::move(receives)), sends) {}
    static std::vector<grid::Parcel> swapped(std::vector<grid::Parcel> parcels) {
      if (swap_messages && parcels.size() > 1 && parcels.front().bytes == parcels.back().bytes)
        std::swap(parcels.front().data, parcels.back().data);
      return parcels;
    }
  };
};

void count(const grid::Damage& damage) {
  if (damage.values > 0 && wrong == 0) std::fprintf(stderr, "%s\n", damage.first.c_str());
  ++exchanges;
  wrong += damage.values;
}

template <std::size_t D>
void run(const grid::Domain<D>& domain, int ranks, int me, const grid::Options& options, const Transport& transport, Index shares) {
  test::Rank<D, Transport> rank(grid::Block<D>(domain, ranks, me), options, 64);
  rank.open(transport);
  const test::Shares team{shares};
  for (Index iteration = 0; iteration < 3; ++iteration) {
    rank.fill(iteration);
    if (iteration == 1) {
      rank.exchange.start(team);
      rank.exchange.progress();
      rank.exchange.finish(team);
    } else {
      rank.exchange(team);
    }
    count(rank.damage(iteration, options));
  }
}

template <std::size_t D>
void draw(std::mt19937_64& random, int ranks, int me) {
  const auto below = [&](Index n) { return static_cast<Index>(random() % static_cast<std::uint64_t>(n)); };
  constexpr Index longest[] = {60, 20, 10, 6};
  grid::Domain<D> domain;
  do {
    for (std::size_t d = 0; d < D; ++d) {
      domain.extents[d] = 1 + below(longest[D - 1]);
      domain.periodic[d] = below(2) == 0;
      domain.halo[d] = below(3);
    }
  } while (!grid::refuse(domain, ranks).empty());
  constexpr grid::Reach reaches[] = {grid::Reach::faces, grid::Reach::edges, grid::Reach::corners};
  const grid::Options options{reaches[below(3)], below(2) == 0 ? grid::Order::at_once : grid::Order::by_dimension};
  Transport transport;
  transport.requests = below(2) == 0 ? grid::Mpi::Requests::fresh : grid::Mpi::Requests::persistent;
  if (below(2) == 0) transport.most = 1 + below(100);  // messages longer than what an int counts
  run(domain, ranks, me, options, transport, 1 + below(3));
}

// Messages of 320 kilobytes, which no library sends before the receiver is there.
void long_messages(int ranks, int me) {
  const grid::Domain<2> domain{.extents = {2 * ranks, 40000}, .periodic = {true, true}, .processes = {ranks, 1}, .halo = {1, 1}};
  for (const auto order : {grid::Order::at_once, grid::Order::by_dimension})
    for (const auto requests : {grid::Mpi::Requests::fresh, grid::Mpi::Requests::persistent}) {
      Transport transport;
      transport.requests = requests;
      run(domain, ranks, me, {grid::Reach::corners, order}, transport, 1);
    }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 1, me = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  std::mt19937_64 random(std::stoull(argv[1]));
  swap_messages = argc > 3;
  for (int i = 0; i < std::stoi(argv[2]); ++i) {
    draw<1>(random, ranks, me);
    draw<2>(random, ranks, me);
    draw<3>(random, ranks, me);
    draw<4>(random, ranks, me);
  }
  long_messages(ranks, me);
  long long all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) std::printf("exchanges %lld wrong %lld\n", exchanges, all);
  MPI_Finalize();
}
