#include "plan.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

namespace fl::collectives {

namespace {

// Receives of one train that may be posted beyond the one that is awaited; a train's contributions to a sum use so much memory.
constexpr std::int32_t window = 8;

class Unroller {
 public:
  Unroller(const Schedule& schedule, Rank me, std::int64_t elements, bool apart)
      : schedule_(schedule), me_(me), elements_(elements), apart_(apart) {
    schedule.program(me, program_);
    written_.assign(apart ? static_cast<std::size_t>(schedule.chunks) : 0, false);
    plan_.scratch = start(schedule.scratch);
  }

  // False where an operation touches what is partly written: the input has to be copied first.
  bool unroll() {
    number_messages();
    for (const Operation& o : program_.operations())
      if (!add(o)) return false;
    if (apart_) leave();
    sort();
    return true;
  }
  // What of the input is the rank's own to give, as elements of the data.
  Piece own() const {
    const Chunk block = schedule_.chunks / schedule_.ranks;
    if (schedule_.collective != Collective::allgather) return {0, elements_};
    return {start(me_ * block), start((me_ + 1) * block) - start(me_ * block)};
  }
  Plan take() { return std::move(plan_); }

 private:
  struct Unrolled {
    std::uint32_t first = 0;  // item of segment 0
    std::uint32_t each = 1;   // items a segment; the last of them is its completion and what waits
  };

  std::int64_t start(Chunk c) const { return schedule_.chunks == 0 ? 0 : c * elements_ / schedule_.chunks; }

  static std::int32_t segments(const Operation& o) { return std::max(o.range.segments, 1); }

  // Both ends count the messages between them alike: by the schedule's tags in their order, then in the order of the programs.
  void number_messages() {
    std::map<std::tuple<Rank, bool, std::int32_t>, std::int32_t> counts;
    for (const Operation& o : program_.operations())
      if (o.peer >= 0) counts[{o.peer, o.kind == Kind::send, o.tag}] += segments(o);
    std::int32_t next = 0;
    std::pair<Rank, bool> pair{-1, false};
    for (const auto& [key, count] : counts) {
      const std::pair<Rank, bool> here{std::get<0>(key), std::get<1>(key)};
      if (here != pair) next = 0;
      pair = here;
      tags_[key] = next;
      next += count;
    }
  }

  std::int32_t tag(const Operation& o) { return tags_[{o.peer, o.kind == Kind::send, o.tag}]++; }

  std::int64_t length(const Pieces& pieces) const {
    std::int64_t sum = 0;
    for (const Piece& p : plan_.of(pieces)) sum += p.length;
    return sum;
  }

  template <class Visit>
  static void neighbours(const Range& range, std::int32_t segment, Visit visit) {
    for (Chunk i = 0; i < range.count;) {
      const Chunk in_row = range.row == 0 ? i : i % range.row;
      Chunk many = range.count - i;
      if (range.row != 0) many = std::min(many, range.row - in_row);
      if (range.run != 0) many = std::min(many, range.run - in_row % range.run);
      visit(range.chunk(segment, i), many);
      i += many;
    }
  }

  Pieces pieces(Where where, const Range& range, std::int32_t segment) {
    Pieces made{where, static_cast<std::uint32_t>(plan_.pieces.size()), 0};
    neighbours(range, segment, [&](Chunk first, Chunk many) {
      const Piece piece{start(first), start(first + many) - start(first)};
      if (piece.length == 0) return;
      if (made.count > 0 && plan_.pieces.back().offset + plan_.pieces.back().length == piece.offset) {
        plan_.pieces.back().length += piece.length;
        return;
      }
      plan_.pieces.push_back(piece);
      ++made.count;
    });
    return made;
  }

  // The same lengths one after the other in `where`.
  Pieces packed(Where where, std::int64_t offset, const Pieces& like) {
    Pieces made{where, static_cast<std::uint32_t>(plan_.pieces.size()), like.count};
    for (std::uint32_t i = 0; i < like.count; ++i) {
      const std::int64_t length = plan_.pieces[like.first + i].length;
      plan_.pieces.push_back({offset, length});
      offset += length;
    }
    return made;
  }

  enum class State { fresh, written, mixed };
  State state(const Range& range, std::int32_t segment) const {
    bool fresh = false, written = false;
    neighbours(range, segment, [&](Chunk first, Chunk many) {
      for (Chunk c = first; c < first + many; ++c) (written_[static_cast<std::size_t>(c)] ? written : fresh) = true;
    });
    return fresh && written ? State::mixed : fresh ? State::fresh : State::written;
  }
  void write(const Range& range, std::int32_t segment) {
    neighbours(range, segment,
               [&](Chunk first, Chunk many) { std::fill(written_.begin() + first, written_.begin() + first + many, true); });
  }

  bool add(const Operation& o) {
    if (o.kind == Kind::compute) throw Refused("a program with computation times can only be simulated");
    unrolled_.push_back({static_cast<std::uint32_t>(plan_.items.size()), o.kind == Kind::combine ? 2u : 1u});
    for (std::int32_t k = 0; k < segments(o); ++k) {
      const bool tracked = apart_ && o.range.space == Space::data;
      const State seen = tracked ? state(o.range, k) : State::written;
      if (seen == State::mixed) return false;
      if (o.kind == Kind::send) {
        push(o, Act::send, k).place = pieces(tracked && seen == State::fresh ? Where::input : where(o.range.space), o.range, k);
        plan_.items.back().elements = length(plan_.items.back().place);
      } else if (o.kind == Kind::receive) {
        push(o, Act::receive, k).place = pieces(where(o.range.space), o.range, k);
        plan_.items.back().elements = length(plan_.items.back().place);
      } else if (o.kind == Kind::combine) {
        combine(o, k, tracked && seen == State::fresh);
      } else if (!copy(o, k)) {
        return false;
      }
      if (tracked && o.kind != Kind::send) write(o.range, k);
      wait(o, k);
    }
    return true;
  }

  static Where where(Space space) { return space == Space::data ? Where::data : space == Space::input ? Where::input : Where::scratch; }

  Item& push(const Operation& o, Act act, std::int32_t segment) {
    Item item{.act = act, .peer = o.peer, .order = (static_cast<std::int64_t>(o.round) + segment) << 2 | 1};
    if (act == Act::send || act == Act::receive) item.tag = tag(o);
    plan_.items.push_back(item);
    return plan_.items.back();
  }

  // The most elements that a segment has.
  std::int64_t largest(const Operation& o) const {
    std::int64_t most = 0;
    for (std::int32_t k = 0; k < segments(o); ++k) {
      std::int64_t sum = 0;
      neighbours(o.range, k, [&](Chunk first, Chunk many) { sum += start(first + many) - start(first); });
      most = std::max(most, sum);
    }
    return most;
  }

  // A receive and an addition. The first contribution goes right into the result, and the own one is added to it.
  void combine(const Operation& o, std::int32_t segment, bool first) {
    if (segment == 0) {
      slots_ = plan_.temporary;
      slot_ = first ? 0 : largest(o);
    }
    const Pieces place = pieces(where(o.range.space), o.range, segment);
    const std::int64_t size = length(place);
    Pieces message = place, source = place;
    if (first) {
      source.where = Where::input;
    } else {
      const std::int64_t slot = slots_ + segment % window * slot_;
      source = packed(Where::temporary, slot, place);
      message = {Where::temporary, static_cast<std::uint32_t>(plan_.pieces.size()), size > 0 ? 1u : 0u};
      if (size > 0) plan_.pieces.push_back({slot, size});
      plan_.temporary = std::max(plan_.temporary, slot + size);
    }
    Item& receive = push(o, Act::receive, segment);
    receive.place = message;
    receive.elements = size;
    Item& reduce = push(o, Act::reduce, segment);
    reduce.place = place;
    reduce.source = source;
    reduce.elements = size;
  }

  bool copy(const Operation& o, std::int32_t segment) {
    Where from = where(o.source.space);
    if (apart_ && o.source.space == Space::data) {
      const State seen = state(o.source, segment);
      if (seen == State::mixed) return false;
      if (seen == State::fresh) from = Where::input;
    }
    const Pieces place = pieces(where(o.range.space), o.range, segment);
    const Pieces source = pieces(from, o.source, segment);
    Item& item = push(o, Act::copy, segment);
    item.place = place;
    item.source = source;
    item.elements = length(place);
    if (item.elements != length(source)) throw Refused("a copy between chunks of different sizes");
    return true;
  }

  // The edges to segment k of the operation that is being added.
  void wait(const Operation& o, std::int32_t segment) {
    const Unrolled& me = unrolled_.back();
    const std::uint32_t begin = me.first + static_cast<std::uint32_t>(segment) * me.each, last = begin + me.each - 1;
    if (me.each == 2) plan_.edges.push_back({begin, last, false});
    bool all = false;
    for (const Dependency& d : program_.after(o)) {
      const Operation& on = program_.operations()[static_cast<std::size_t>(d.on)];
      const Unrolled& u = unrolled_[static_cast<std::size_t>(d.on)];
      const auto complete = [&](std::int32_t k) { return u.first + static_cast<std::uint32_t>(k) * u.each + u.each - 1; };
      if (segments(on) == segments(o)) {
        edge(complete(segment), last, d.started);
      } else {
        all = true;
        if (segment == 0)
          for (std::int32_t k = 0; k < segments(on); ++k) edge(complete(k), last, d.started);
      }
    }
    // Segments of a train start in their order; a receive only if it waits for something.
    if (segment > 0 && (o.kind != Kind::receive || all)) plan_.edges.push_back({last - me.each, last, true});
    if (segment >= window && (o.kind == Kind::receive || o.kind == Kind::combine)) {
      const std::uint32_t before = last - window * me.each;
      plan_.edges.push_back({before, begin, false});
      plan_.items[begin].order = plan_.items[before].order + 1;  // posted right afterwards, not when it is wanted
    }
  }

  // What waits for a message out of the input only because it overwrites the chunk, need not: it does not.
  void edge(std::uint32_t from, std::uint32_t to, bool started) {
    const Item& on = plan_.items[from];
    if (on.act == Act::send && on.place.where == Where::input) started = true;
    plan_.edges.push_back({from, to, started});
  }

  void leave() {
    const Chunk chunks = schedule_.chunks, block = schedule_.ranks == 0 ? chunks : chunks / schedule_.ranks;
    Chunk first = 0, end = chunks;
    if (schedule_.collective == Collective::reduce && me_ != schedule_.root) end = 0;
    if (schedule_.collective == Collective::reduce_scatter || schedule_.collective == Collective::allgather) {
      first = me_ * block;
      end = first + block;
    }
    for (Chunk c = first; c < end; ++c)
      if (!written_[static_cast<std::size_t>(c)] && start(c) < start(c + 1)) {
        if (!plan_.left.empty() && plan_.left.back().offset + plan_.left.back().length == start(c))
          plan_.left.back().length = start(c + 1) - plan_.left.back().offset;
        else
          plan_.left.push_back({start(c), start(c + 1) - start(c)});
      }
  }

  // By rounds where dependencies allow: so trains advance side by side.
  void sort() {
    const std::size_t n = plan_.items.size();
    std::vector<std::vector<std::uint32_t>> next(n);
    std::vector<std::uint32_t> missing(n, 0), place(n, 0);
    for (const Edge& e : plan_.edges) {
      next[e.from].push_back(e.to);
      ++missing[e.to];
    }
    using Urgency = std::pair<std::int64_t, std::uint32_t>;
    std::priority_queue<Urgency, std::vector<Urgency>, std::greater<>> ready;
    for (std::uint32_t i = 0; i < n; ++i)
      if (missing[i] == 0) ready.push({plan_.items[i].order, i});
    std::vector<Item> sorted;
    sorted.reserve(n);
    while (!ready.empty()) {
      const std::uint32_t i = ready.top().second;
      ready.pop();
      place[i] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(plan_.items[i]);
      for (const std::uint32_t to : next[i])
        if (--missing[to] == 0) ready.push({plan_.items[to].order, to});
    }
    if (sorted.size() != n) throw Refused("operations of a rank wait for each other in a cycle");
    plan_.items = std::move(sorted);
    for (Edge& e : plan_.edges) e = {place[e.from], place[e.to], e.started};
  }

  const Schedule& schedule_;
  Rank me_;
  std::int64_t elements_;
  bool apart_;
  Program program_;
  Plan plan_;
  std::vector<Unrolled> unrolled_;
  std::map<std::tuple<Rank, bool, std::int32_t>, std::int32_t> tags_;
  std::vector<bool> written_;
  std::int64_t slots_ = 0, slot_ = 0;  // where a train's contributions arrive, and the size of one
};

}  // namespace

Plan unroll(const Schedule& schedule, Rank me, std::int64_t elements, bool apart) {
  Unroller first(schedule, me, elements, apart);
  if (first.unroll()) return first.take();
  Unroller second(schedule, me, elements, false);
  second.unroll();
  Plan plan = second.take();
  plan.left = {second.own()};
  return plan;
}

}  // namespace fl::collectives
