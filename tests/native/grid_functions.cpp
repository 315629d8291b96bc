// The pure functions of native/grid with C linkage, and whole exchanges between ranks that live in this process.
#include <cstring>
#include <map>
#include <tuple>

#include "firstlight/grid/one_process.hpp"
#include "grid_case.hpp"

namespace {

namespace grid = fl::grid;
using fl::Index;
using test::Rank;

// A caller's arguments: arrays contain 4 numbers, of which D count.
struct DomainArguments {
  Index extents[4], periodic[4], processes[4], halo[4];
  Index ranks;
};

template <std::size_t D>
grid::Point<D> point(const Index* from) {
  grid::Point<D> p{};
  std::copy_n(from, D, p.begin());
  return p;
}

template <std::size_t D>
grid::Domain<D> domain(const DomainArguments& arguments) {
  grid::Domain<D> made{
      .extents = point<D>(arguments.extents), .processes = point<D>(arguments.processes), .halo = point<D>(arguments.halo)};
  for (std::size_t d = 0; d < D; ++d) made.periodic[d] = arguments.periodic[d] != 0;
  return made;
}

template <std::size_t D>
void put(const grid::Box<D>& box, Index* out) {
  std::copy_n(box.lower.begin(), D, out);
  std::copy_n(box.upper.begin(), D, out + 4);
}

// Calls function.template operator()<D>() for D of 1 to 4.
template <class Function>
auto with(int dimensions, Function function) {
  switch (dimensions) {
    case 1:
      return function.template operator()<1>();
    case 2:
      return function.template operator()<2>();
    case 3:
      return function.template operator()<3>();
    default:
      return function.template operator()<4>();
  }
}

// --- ranks of this process ---------------------------------------------------------------------------------------------------

enum Fault : int { none, lost, stale, swapped };  // what becomes of one parcel of every rank

struct Office {
  using Bytes = std::vector<unsigned char>;
  using Key = std::tuple<int, int, int>;  // from, to, tag
  std::map<Key, Bytes> now, before;
  int fault = none;
  bool applied = false;  // a rank was handed other bytes than it should have been
  Index missing = 0;     // parcels that no process sent, or of another length
  double messages = 0;
};

struct Post {
  Office* office;
  int rank;
  class Channel;
};

class Post::Channel {
 public:
  Channel(const Post& post, std::vector<grid::Parcel> receives, std::vector<grid::Parcel> sends)
      : post_(post), receives_(std::move(receives)), sends_(std::move(sends)) {}
  void receive() {}
  void progress() {}
  void send() {
    Office& office = *post_.office;
    for (const grid::Parcel& p : sends_) {
      const Office::Key key(post_.rank, p.peer, p.tag);
      office.before[key] = office.now[key];
      office.now[key].assign(static_cast<unsigned char*>(p.data), static_cast<unsigned char*>(p.data) + p.bytes);
      office.messages += 1;
    }
  }
  void wait() {
    Office& office = *post_.office;
    for (std::size_t i = 0; i < receives_.size(); ++i) {
      const grid::Parcel& p = receives_[i];
      const Office::Bytes* right = find(office.now, p);
      if (right == nullptr) {
        ++office.missing;
        continue;
      }
      Office::Bytes given = *right;
      if (office.fault == lost && i == 0) given.assign(given.size(), 0);
      if (office.fault == stale && i == 0) given = *find(office.before, p);
      // The first and the last come from opposite sides, and have the same length where both come from others.
      const grid::Parcel& other = receives_[receives_.size() - 1 - i];
      if (office.fault == swapped && (i == 0 || i + 1 == receives_.size()) && other.bytes == p.bytes) given = *find(office.now, other);
      office.applied = office.applied || given != *right;
      std::memcpy(p.data, given.data(), given.size());
    }
  }

 private:
  const Office::Bytes* find(const std::map<Office::Key, Office::Bytes>& all, const grid::Parcel& p) const {
    const auto found = all.find(Office::Key(p.peer, post_.rank, p.tag));
    return found == all.end() || static_cast<Index>(found->second.size()) != p.bytes ? nullptr : &found->second;
  }
  Post post_;
  std::vector<grid::Parcel> receives_, sends_;
};

struct ExchangeResult {
  Index wrong;    // values, of all ranks, after the last of two exchanges
  Index missing;  // messages that were expected and not sent
  Index applied;  // 1 where the fault changed anything
  double messages;
  char first[200];
};

template <std::size_t D>
ExchangeResult exchanged(const DomainArguments& arguments, const grid::Options& options, const grid::Options& expected, Index alignment,
                         Index shares, int fault) {
  const grid::Domain<D> all = domain<D>(arguments);
  Office office;
  std::vector<std::unique_ptr<Rank<D, Post>>> ranks;
  for (int r = 0; r < arguments.ranks; ++r) {
    ranks.push_back(std::make_unique<Rank<D, Post>>(grid::Block<D>(all, arguments.ranks, r), options, alignment));
    ranks.back()->open(Post{&office, r});
  }
  const test::Shares team{shares};
  ExchangeResult result{};
  for (Index iteration = 0; iteration < 2; ++iteration) {
    office.messages = 0;
    office.fault = iteration == 1 ? fault : none;
    for (auto& rank : ranks) rank->fill(iteration);
    for (std::size_t phase = 0; phase < ranks[0]->exchange.phases(); ++phase) {
      for (auto& rank : ranks) {
        rank->exchange.receive(phase);
        team([&](Index share, Index of) { rank->exchange.pack(phase, share, of); });
        rank->exchange.send(phase);
      }
      for (auto& rank : ranks) {
        rank->exchange.wait(phase);
        team([&](Index share, Index of) { rank->exchange.unpack(phase, share, of); });
      }
    }
  }
  for (auto& rank : ranks) {
    const grid::Damage damage = rank->damage(1, expected);
    if (result.wrong == 0) std::strncpy(result.first, damage.first.c_str(), sizeof result.first - 1);
    result.wrong += damage.values;
  }
  result.missing = office.missing;
  result.applied = office.applied ? 1 : 0;
  result.messages = office.messages;
  return result;
}

grid::Options options_of(int reach, int order) { return {static_cast<grid::Reach>(reach), static_cast<grid::Order>(order)}; }

}  // namespace

extern "C" {

// The sentence of refuse(), empty where the domain can be cut; then the counts of the process grid.
void cut(int dimensions, const DomainArguments* arguments, Index* counts, char* why, std::size_t room) {
  with(dimensions, [&]<std::size_t D>() {
    const std::string refusal = grid::refuse(domain<D>(*arguments), arguments->ranks);
    std::strncpy(why, refusal.c_str(), room - 1);
    if (const auto found = grid::process_grid(domain<D>(*arguments), arguments->ranks)) std::copy_n(found->count.begin(), D, counts);
  });
}

// The own cells of a rank in global coordinates, lower and upper (4 numbers each).
void owned(int dimensions, const DomainArguments* arguments, int rank, Index* out) {
  with(dimensions, [&]<std::size_t D>() { put(grid::Block<D>(domain<D>(*arguments), arguments->ranks, rank).owned, out); });
}

// Cells whose coordinates do not survive the way from global to local and back, whose owner is another, or whose number is not unique.
Index wrong_cells(int dimensions, const DomainArguments* arguments) {
  return with(dimensions, [&]<std::size_t D>() {
    Index wrong = 0;
    std::map<std::uint64_t, int> seen;
    for (int r = 0; r < arguments->ranks; ++r) {
      const grid::Block<D> block(domain<D>(*arguments), arguments->ranks, r);
      grid::each_cell(block.owned, [&](const grid::Point<D>& p) {
        wrong += block.owner(p) != r || block.global(block.local(p)) != p || seen[block.number(p)]++ != 0 ? 1 : 0;
      });
    }
    return wrong;
  });
}

int directions(int dimensions) {
  return with(dimensions, []<std::size_t D>() { return grid::directions<D>; });
}

void offset(int dimensions, int direction, Index* out) {
  with(dimensions, [&]<std::size_t D>() {
    const auto o = grid::offset_of<D>(direction);
    std::copy_n(o.begin(), D, out);
  });
}

// Returns the cells that are sent (kind 0) or received (1) in that direction.
void region(int dimensions, const Index* size, const Index* halo, int direction, int kind, Index* out) {
  with(dimensions, [&]<std::size_t D>() {
    const auto o = grid::offset_of<D>(direction);
    put(kind == 0 ? grid::send_box<D>(point<D>(size), point<D>(halo), o) : grid::receive_box<D>(point<D>(size), point<D>(halo), o), out);
  });
}

// The inner box and the boxes of the rim; how many in all.
Index split(int dimensions, const DomainArguments* arguments, int rank, const Index* radius, Index* out) {
  return with(dimensions, [&]<std::size_t D>() {
    const auto parts = grid::split(grid::Block<D>(domain<D>(*arguments), arguments->ranks, rank), point<D>(radius));
    put(parts.inner, out);
    for (const auto& box : parts.rim) put(box, out += 8);
    return static_cast<Index>(parts.rim.size() + 1);
  });
}

void share(int dimensions, const Index* size, Index share, Index shares, Index* out) {
  with(dimensions, [&]<std::size_t D>() { put(grid::share_of(grid::Box<D>{{}, point<D>(size)}, share, shares), out); });
}

// Rows whose first own cell is not aligned, cells that are not where the view says, bytes that first touch by so many leaves as they are.
Index wrong_layout(int dimensions, const Index* size, const Index* halo, Index alignment, Index shares) {
  return with(dimensions, [&]<std::size_t D>() {
    grid::Field<float, D> field(point<D>(size), point<D>(halo), alignment);
    poison_halo(field);
    Index wrong = 0, number = 0;
    for (Index s = 0; s < shares; ++s) grid::first_touch(field, s, shares);
    grid::each_row(field.layout().owned(), [&](const grid::Point<D>& p, Index) {
      wrong += reinterpret_cast<std::uintptr_t>(&field[p]) % static_cast<std::uintptr_t>(alignment) != 0 ? 1 : 0;
    });
    grid::each_cell(field.layout().with_halo(), [&](const grid::Point<D>& p) {
      // By slabs across one dimension, corners of the halo in others belong to all; each cell belongs to one at least.
      const auto view = field.view();
      float& there = std::apply([&](auto... i) -> float& { return view(i...); }, p);
      wrong += &there != &field[p] || there != 0 ? 1 : 0;
      there = static_cast<float>(++number);
    });
    number = 0;
    std::vector<float> copy(field.data(), field.data() + field.layout().elements);
    const auto view = field.view(copy.data());
    grid::each_cell(field.layout().with_halo(), [&](const grid::Point<D>& p) {
      const float& copied = std::apply([&](auto... i) -> float& { return view(i...); }, p);
      wrong += field[p] != static_cast<float>(++number) || copied != field[p] || &copied == &field[p] ? 1 : 0;
    });
    return wrong;
  });
}

// Counts mistakes of a field whose rows are cut into strips: rows of strips that are not aligned, cells that have not a place of their own, bytes that first touch
// leaves as they are, and what the view of a strip does not show, of its columns and the halo beside them, once strips are joined.
Index wrong_strips(int dimensions, const Index* size, const Index* halo, Index alignment, Index strip, Index shares, Index* strips) {
  return with(dimensions, [&]<std::size_t D>() {
    grid::Field<float, D> field(point<D>(size), point<D>(halo), alignment, strip);
    const grid::Layout<D>& layout = field.layout();
    const grid::Box<D> all = layout.with_halo();
    poison_halo(field);
    Index wrong = 0, number = 0, covered = 0;
    for (Index s = 0; s < shares; ++s) grid::first_touch(field, s, shares);
    grid::each_cell(all, [&](const grid::Point<D>& p) { wrong += field[p] != 0 ? 1 : 0; });
    grid::each_cell(all, [&](const grid::Point<D>& p) { field[p] = static_cast<float>(++number); });
    for (Index s = 0; s < shares; ++s) field.join(s, shares);
    number = 0;
    grid::each_cell(all, [&](const grid::Point<D>& p) { wrong += field[p] != static_cast<float>(++number) ? 1 : 0; });
    layout.each_strip(all, [&](const grid::Box<D>& part, Index n) {
      covered += part.cells();
      grid::Box<D> seen = part;
      if (n > 0) seen.lower[D - 1] -= layout.halo[D - 1];
      if (n < layout.strips - 1) seen.upper[D - 1] += layout.halo[D - 1];
      const auto view = field.view();
      grid::each_cell(seen, [&](const grid::Point<D>& p) {
        const float* there = &std::apply([&](auto... i) -> float& { return view(i...); }, p) + n * layout.jump;
        wrong += *there != field[p] || (part.contains(p) && there != &field[p]) ? 1 : 0;
        if (p[D - 1] == n * layout.width)
          wrong += reinterpret_cast<std::uintptr_t>(there) % static_cast<std::uintptr_t>(alignment) != 0 ? 1 : 0;
      });
    });
    *strips = layout.strips;
    return wrong + std::abs(all.cells() - covered);
  });
}

// Two exchanges of three fields between all ranks, the second one with a fault; then everything is inspected.
void exchange(int dimensions, const DomainArguments* arguments, int reach, int order, int expected, Index alignment, Index shares,
              int fault, ExchangeResult* out) {
  *out = with(dimensions, [&]<std::size_t D>() {
    return exchanged<D>(*arguments, options_of(reach, order), options_of(expected, order), alignment, shares, fault);
  });
}

// Without MPI, overlapped and blocking: wrong values of two exchanges.
Index alone(int dimensions, const DomainArguments* arguments, int reach, int order) {
  return with(dimensions, [&]<std::size_t D>() {
    Rank<D, grid::OneProcess> rank(grid::Block<D>(domain<D>(*arguments), 1, 0), options_of(reach, order), 64);
    rank.open({});
    Index wrong = 0;
    for (Index iteration = 0; iteration < 2; ++iteration) {
      rank.fill(iteration);
      if (iteration == 0) {
        rank.exchange();
      } else {
        rank.exchange.start();
        rank.exchange.progress();
        rank.exchange.finish();
      }
      wrong += rank.damage(iteration, rank.options).values;
    }
    return wrong;
  });
}

// Ends the program: 0: a field of another block, 1: a halo that is too wide, 2: several ranks without MPI, 3: an alignment beyond a cache
// line, 4: more ranks than cells.
void misuse(int how) {
  const grid::Domain<2> all{.extents = {4, 4}, .periodic = {true, true}, .halo = {1, 1}};
  const grid::Block<2> block(all, how == 4 ? 100 : how == 2 ? 2 : 1, 0);
  grid::Field<double, 2> field(how == 0 ? grid::Point<2>{3, 4} : block.size(), {how == 1 ? 2 : 1, 1}, how == 3 ? 128 : 64);
  grid::Exchange<2, grid::OneProcess>().open(block, {}, {}, field);
}

// Returns the count of inspect() after one bit of a field's memory was changed, guards and padding included; `bit` counts modulo all of them.
Index seen_damage(int dimensions, const Index* size, const Index* halo, Index bit) {
  return with(dimensions, [&]<std::size_t D>() {
    const grid::Domain<D> all{.extents = point<D>(size), .halo = point<D>(halo)};
    const grid::Block<D> block(all, 1, 0);
    grid::Field<double, D> field(block.size(), all.halo);
    put_marks(field, block, 0, 0);
    bit %= 8 * field.memory().size();
    field.memory()[bit / 8] ^= static_cast<unsigned char>(1 << bit % 8);
    grid::Damage damage;
    inspect(field, block, {}, 0, 0, damage);
    return damage.values;
  });
}
}
