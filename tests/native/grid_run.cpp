// Exchanges of native/grid on real MPI: grid_run <seed> <count> [fault [kind]]. Every rank draws the same cases; rank 0 prints how many
// exchanges were made, how many values of all ranks are wrong, and the first of them. Faults, by transports of one kind (put, shared):
//   swapped    two messages change places
//   unawaited  what lies in boxes is taken before it is known to be there, and every second rank sends late
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <string>

#include "firstlight/grid/mpi_by.hpp"
#include "grid_case.hpp"

namespace fl {
void abort_all(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  MPI_Abort(MPI_COMM_WORLD, 3);
  std::abort();
}
}  // namespace fl

namespace {

namespace grid = fl::grid;
using fl::Index;

std::string fault, kind;
long long exchanges = 0, wrong = 0;

bool late() {
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  return me % 2 == 1;
}

struct Any {
  virtual ~Any() = default;
  virtual void receive() = 0;
  virtual void send() = 0;
  virtual void wait() = 0;
  virtual void progress() = 0;
  virtual unsigned char* outgoing(std::size_t number) = 0;
  virtual unsigned char* arrived(std::size_t number) = 0;
};

template <class Channel>
struct Of : Any {
  Channel channel;

  template <class Transport>
  Of(const Transport& transport, const std::vector<grid::Parcel>& receives, const std::vector<grid::Parcel>& sends)
      : channel(transport, receives, sends) {}
  void receive() override { channel.receive(); }
  void send() override {
    if (fault == "unawaited" && late()) usleep(3000);
    channel.send();
  }
  void wait() override {
    if (fault == "unawaited") return channel.progress();
    channel.wait();
  }
  void progress() override { channel.progress(); }
  unsigned char* outgoing(std::size_t number) override { return grid::outgoing(channel, number, nullptr); }
  unsigned char* arrived(std::size_t number) override { return grid::arrived(channel, number, nullptr); }
};

// A transport of any kind; on request it exchanges two messages of the same length.
struct Transport {
  enum class Kind { messages, put, shared, by } of = Kind::messages;
  grid::Mpi messages;
  grid::MpiPut put;
  grid::MpiShared shared;
  grid::MpiBy by;

  class Channel {
   public:
    Channel(const Transport& t, std::vector<grid::Parcel> receives, const std::vector<grid::Parcel>& sends) {
      if (fault == "swapped" && receives.size() > 1 && receives.front().bytes == receives.back().bytes)
        std::swap(receives.front().data, receives.back().data);
      if (t.of == Kind::messages) of_ = std::make_unique<Of<grid::Mpi::Channel>>(t.messages, receives, sends);
      if (t.of == Kind::put) of_ = std::make_unique<Of<grid::MpiPut::Channel>>(t.put, receives, sends);
      if (t.of == Kind::shared) of_ = std::make_unique<Of<grid::MpiShared::Channel>>(t.shared, receives, sends);
      if (t.of == Kind::by) of_ = std::make_unique<Of<grid::MpiBy::Channel>>(t.by, receives, sends);
    }
    void receive() { of_->receive(); }
    void send() { of_->send(); }
    void wait() { of_->wait(); }
    void progress() { of_->progress(); }
    unsigned char* outgoing(std::size_t number) { return of_->outgoing(number); }
    unsigned char* arrived(std::size_t number) { return of_->arrived(number); }

   private:
    std::unique_ptr<Any> of_;
  };
};
using Kind = Transport::Kind;

// Runs as if a node had this many ranks.
MPI_Comm nodes[3] = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};

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
  for (Index iteration = 0; iteration < 4; ++iteration) {
    rank.fill(iteration);
    if (iteration % 2 == 1) {
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
  transport.of = static_cast<Kind>(below(4));
  if (kind == "put") transport.of = Kind::put;
  if (kind == "shared") transport.of = Kind::shared;
  transport.messages.requests = below(2) == 0 ? grid::Mpi::Requests::fresh : grid::Mpi::Requests::persistent;
  if (below(2) == 0) transport.messages.most = transport.put.most = 1 + below(100);  // longer ones than what an int counts
  const MPI_Comm node = nodes[below(3)];
  if (fault.empty()) transport.shared.node = node;
  transport.by.way = static_cast<grid::Way>(below(3));
  run(domain, ranks, me, options, transport, 1 + below(3));
}

// Messages of 320 kilobytes, which no library sends before the receiver is there.
void long_messages(int ranks, int me) {
  const grid::Domain<2> domain{.extents = {2 * ranks, 40000}, .periodic = {true, true}, .processes = {ranks, 1}, .halo = {1, 1}};
  for (const auto order : {grid::Order::at_once, grid::Order::by_dimension}) {
    Transport transport;
    const bool at_once = order == grid::Order::at_once;  // one order is enough to see every kind
    transport.messages.requests = at_once ? grid::Mpi::Requests::persistent : grid::Mpi::Requests::fresh;
    for (const auto of : at_once ? std::vector{Kind::messages, Kind::put} : std::vector{Kind::messages, Kind::shared}) {
      transport.of = of;
      run(domain, ranks, me, {grid::Reach::corners, order}, transport, 1);
    }
  }
}

// Three exchanges in flight, of long messages, too, which every second rank ends the other way round.
void in_flight(int ranks, int me) {
  const grid::Domain<2> domain{.extents = {2 * ranks, 20000}, .periodic = {true, true}, .processes = {ranks, 1}, .halo = {1, 1}};
  const grid::Options options{grid::Reach::corners, grid::Order::at_once};
  std::vector<std::unique_ptr<test::Rank<2, Transport>>> all;
  for (const auto of : {Kind::messages, Kind::put, Kind::shared}) {
    Transport transport;
    transport.of = of;
    all.push_back(std::make_unique<test::Rank<2, Transport>>(grid::Block<2>(domain, ranks, me), options, 64));
    all.back()->open(transport);
  }
  for (Index iteration = 0; iteration < 4; ++iteration) {
    for (auto& one : all) one->fill(iteration);
    for (auto& one : all) one->exchange.start();
    if (me % 2 == 1) std::reverse(all.begin(), all.end());
    for (auto& one : all) one->exchange.finish();
    if (me % 2 == 1) std::reverse(all.begin(), all.end());
    for (auto& one : all) count(one->damage(iteration, options));
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 1, me = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  std::mt19937_64 random(std::stoull(argv[1]));
  if (argc > 3) fault = argv[3];
  if (argc > 4) kind = argv[4];
  MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &nodes[1]);
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &nodes[2]);
  for (int i = 0; i < std::stoi(argv[2]); ++i) {
    draw<1>(random, ranks, me);
    draw<2>(random, ranks, me);
    draw<3>(random, ranks, me);
    draw<4>(random, ranks, me);
  }
  if (fault.empty() || fault == "swapped") long_messages(ranks, me);
  if (fault.empty()) in_flight(ranks, me);
  for (MPI_Comm& node : nodes)
    if (node != MPI_COMM_NULL) MPI_Comm_free(&node);
  long long all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) std::printf("exchanges %lld wrong %lld\n", exchanges, all);
  MPI_Finalize();
}
