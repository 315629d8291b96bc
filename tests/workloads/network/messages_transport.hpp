// A transport that does the worst that MPI allows, in one thread: processes are fibers, switched at any call; what is put arrives in pieces,
// in any order and at any time until it is completed; what is set atomically is seen half by loads, whole by fetches; sets of one word keep
// their order, and nothing else does. All choices come from one seed.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <functional>
#include <list>
#include <map>
#include <random>
#include <stdexcept>

#include "kernels/messenger.hpp"

namespace simulated {

using fl::Index;
using messages::Flag;
using messages::Word;

enum Fault { none, flags_early, copies_late, dirty_memory, bits_lost };

struct Settings {
  Index seed, ranks, messages, fault, talkative;
  Index slow_slots, slow_bytes, slow_eager, fast_slots, fast_bytes, fast_eager, upgrade_after, fast_peers, prepared, reclaim;
};

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Op {
  int origin, target;
  Word to;
  const unsigned char* from;  // of a put: read when it arrives
  Index bytes;
  Word value;  // of a set
  bool atomic;
};

struct Piece {
  std::vector<unsigned char> memory;
};

class World {
 public:
  explicit World(const Settings& s)
      : settings(s), random_(static_cast<std::uint64_t>(s.seed)), pieces_(ranks()), doors_(ranks()), attached_(ranks()) {
    for (auto& d : doors_) d.resize(static_cast<std::size_t>(messages::door_words(s.ranks)));
  }

  std::size_t ranks() const { return static_cast<std::size_t>(settings.ranks); }
  bool chance(unsigned of) { return random_() % of == 0; }
  std::size_t draw(std::size_t below) { return random_() % below; }

  // --- fibers ---

  void run(const std::function<void(int)>& body) {
    body_ = &body;
    fibers_.resize(ranks());
    for (std::size_t k = 0; k < ranks(); ++k) {
      Fiber& f = fibers_[k];
      f.stack.resize(1 << 18);
      getcontext(&f.context);
      f.context.uc_stack.ss_sp = f.stack.data();
      f.context.uc_stack.ss_size = f.stack.size();
      f.context.uc_link = &main_;
      makecontext(&f.context, reinterpret_cast<void (*)()>(&World::enter), 0);
    }
    world = this;
    for (;;) {
      std::vector<std::size_t> alive;
      for (std::size_t k = 0; k < ranks(); ++k)
        if (!fibers_[k].done) alive.push_back(k);
      if (alive.empty()) return;
      now_ = alive[draw(alive.size())];
      swapcontext(&main_, &fibers_[now_].context);
      if (!wrong.empty()) throw Wrong(wrong);
      for (unsigned k = 0; k < 2 && !ops_.empty() && chance(3); ++k) arrive(draw(ops_.size()));
    }
  }
  void change() { swapcontext(&fibers_[now_].context, &main_); }
  void maybe_change() {
    if (chance(3)) change();
  }
  // A process is idle; a world in which all are idle, and in which no message is under way, is dead.
  void idle() {
    if (++idle_ > 400 * ranks() * (ranks() + 4) && ops_.empty()) {
      wrong = "deadlock";
    }
    change();
  }
  void active() { idle_ = 0; }
  void barrier() {
    const std::size_t round = barriers_ / ranks();
    ++barriers_;
    active();
    while (barriers_ / ranks() == round) change();
  }

  // --- memory ---

  unsigned char* attach(int rank, Index bytes) {
    Piece& p = pieces_[static_cast<std::size_t>(rank)].emplace_back();
    p.memory.assign(static_cast<std::size_t>(bytes), settings.fault == dirty_memory ? 1 : 0);
    attached_[static_cast<std::size_t>(rank)] += bytes;
    return p.memory.data();
  }
  void expose(int rank, unsigned char* memory, Index bytes) { exposed_.emplace(rank, std::pair{memory, bytes}); }
  Index attached(int rank) const { return attached_[static_cast<std::size_t>(rank)] + messages::door_bytes(settings.ranks); }
  void need(int rank, Word at, Index bytes, bool may_be_exposed) {
    const auto inside = [&](const unsigned char* memory, std::size_t size) {
      const auto begin = reinterpret_cast<Word>(memory);
      return at >= begin && at + static_cast<Word>(bytes) <= begin + size;
    };
    for (const Piece& p : pieces_[static_cast<std::size_t>(rank)])
      if (inside(p.memory.data(), p.memory.size())) return;
    for (auto [first, last] = exposed_.equal_range(rank); may_be_exposed && first != last; ++first)
      if (inside(first->second.first, static_cast<std::size_t>(first->second.second))) return;
    wrong = "reached memory that is not attached";
    change();
  }
  std::vector<Word>& door(int rank) { return doors_[static_cast<std::size_t>(rank)]; }

  void begin(const Op& op) {
    need(op.target, op.to, op.bytes, false);
    ops_.push_back(op);
    active();
    maybe_change();
  }
  void complete(int origin, int target) {
    active();
    for (;;) {
      std::vector<std::size_t> mine;
      for (std::size_t k = 0; k < ops_.size(); ++k)
        if (ops_[k].origin == origin && ops_[k].target == target) mine.push_back(k);
      if (mine.empty()) return;
      if (settings.fault == flags_early && !ops_[mine.back()].atomic) return;
      arrive(mine[draw(mine.size())]);
      maybe_change();
    }
  }
  // Reads a word as atomics do: an operation that has set half of it is completed first.
  template <class Value>
  Value fetch(const Value* word) {
    const auto at = reinterpret_cast<Word>(word);
    const auto half = std::find_if(ops_.begin(), ops_.end(), [&](const Op& op) { return op.atomic && op.to == at && torn_.contains(at); });
    if (half != ops_.end()) arrive(static_cast<std::size_t>(half - ops_.begin()));
    return *word;
  }
  bool quiet() const { return ops_.empty(); }

  const Settings& settings;
  std::string wrong;
  static inline World* world = nullptr;

 private:
  struct Fiber {
    ucontext_t context{};
    std::vector<char> stack;
    bool done = false;
  };

  static void enter() {
    World& w = *world;
    const std::size_t me = w.now_;
    try {
      (*w.body_)(static_cast<int>(me));
    } catch (const std::exception& e) {
      w.wrong = e.what();
    }
    w.fibers_[me].done = true;
  }

  // A piece of an operation, or all that is left of it.
  void arrive(std::size_t k) {
    if (ops_[k].atomic)  // those before it to the same word come first
      for (std::size_t j = 0; j < k; ++j)
        if (ops_[j].atomic && ops_[j].origin == ops_[k].origin && ops_[j].to == ops_[k].to) {
          k = j;
          break;
        }
    Op& op = ops_[k];
    auto* to = reinterpret_cast<unsigned char*>(op.to);
    if (op.atomic) {
      const auto half = static_cast<std::size_t>(op.bytes / 2);
      const auto* value = reinterpret_cast<const unsigned char*>(&op.value);
      if (const auto found = torn_.find(op.to); found != torn_.end()) {
        std::memcpy(to, &found->second, static_cast<std::size_t>(op.bytes));
        torn_.erase(found);
        ops_.erase(ops_.begin() + static_cast<std::ptrdiff_t>(k));
      } else {
        const std::size_t first = chance(2) ? 0 : half;
        std::memcpy(to + first, value + first, half);
        torn_[op.to] = op.value;
      }
      return;
    }
    const Index some = std::min<Index>(op.bytes, 1 + static_cast<Index>(draw(24)));
    if (chance(2)) {
      std::memcpy(to, op.from, static_cast<std::size_t>(some));
      op.to += static_cast<Word>(some), op.from += some;
    } else {
      std::memcpy(to + op.bytes - some, op.from + op.bytes - some, static_cast<std::size_t>(some));
    }
    op.bytes -= some;
    if (op.bytes == 0) ops_.erase(ops_.begin() + static_cast<std::ptrdiff_t>(k));
  }

  std::mt19937_64 random_;
  std::vector<std::list<Piece>> pieces_;
  std::multimap<int, std::pair<unsigned char*, Index>> exposed_;
  std::vector<std::vector<Word>> doors_;
  std::vector<Index> attached_;
  std::vector<Op> ops_;
  std::map<Word, Word> torn_;  // words of which loads see one half: what they are
  std::vector<Fiber> fibers_;
  ucontext_t main_{};
  std::size_t now_ = 0, idle_ = 0, barriers_ = 0;
  const std::function<void(int)>* body_ = nullptr;
};

struct Simulated {
  World& w;
  int me;
  struct Copy {
    void* to;
    const void* from;
    Index bytes;
  };
  std::vector<Copy> late;

  int rank() const { return me; }
  int ranks() const { return static_cast<int>(w.settings.ranks); }
  unsigned char* attach(Index bytes) { return w.attach(me, bytes); }
  Word address(const void* memory) const { return reinterpret_cast<Word>(memory); }
  void put(int peer, Word to, const void* from, Index bytes) {
    if (bytes > 0) w.begin({me, peer, to, static_cast<const unsigned char*>(from), bytes, 0, false});
  }
  void get(int peer, Word from, void* to, Index bytes) {
    w.need(peer, from, bytes, true);
    for (Index at = 0; at < bytes; at += 8) {
      std::memcpy(static_cast<char*>(to) + at, reinterpret_cast<const char*>(from) + at,
                  static_cast<std::size_t>(std::min<Index>(8, bytes - at)));
      w.maybe_change();
    }
  }
  void set(int peer, Word to, Word value) { w.begin({me, peer, to, nullptr, 8, value, true}); }
  void set(int peer, Word to, Flag value) { w.begin({me, peer, to, nullptr, 4, value, true}); }
  template <class Value>
  Value fetch(const Value* mine) {
    w.maybe_change();
    return w.fetch(mine);
  }
  void complete(int peer) { w.complete(me, peer); }
  const Word* door() const { return w.door(me).data(); }
  template <class Change>
  void at_door(int peer, Index word, Change change) {
    w.maybe_change();
    w.active();
    change(w.door(peer)[static_cast<std::size_t>(word)]);
    w.maybe_change();
  }
  void door_set(int peer, Index word, Word value) {
    at_door(peer, word, [&](Word& x) { x = value; });
  }
  void door_or(int peer, Index word, Word bits) {
    at_door(peer, word, [&](Word& x) { x = w.settings.fault == bits_lost ? bits : x | bits; });
  }
  void door_add(int peer, Index word, Word value) {
    at_door(peer, word, [&](Word& x) { x += value; });
  }
  void door_read(int peer, Index first, Index count, Word* found) {
    for (Index k = 0; k < count; ++k) at_door(peer, first + k, [&](Word& x) { found[k] = x; });
  }
  void door_take(Index first, Index count, Word* found) {
    for (Index k = 0; k < count; ++k) at_door(me, first + k, [&](Word& x) { found[k] = std::exchange(x, 0); });
  }
  Word door_fetch(Index word) { return w.door(me)[static_cast<std::size_t>(word)]; }
  void see() {}
  void copy(void* to, const void* from, Index bytes) {
    if (w.settings.fault == copies_late) return late.push_back({to, from, bytes});
    for (Index at = 0; at < bytes; at += 8) {
      std::memcpy(static_cast<char*>(to) + at, static_cast<const char*>(from) + at,
                  static_cast<std::size_t>(std::min<Index>(8, bytes - at)));
      w.maybe_change();
    }
  }
  void carry_out() {
    for (const Copy& c : late) std::memcpy(c.to, c.from, static_cast<std::size_t>(c.bytes));
    late.clear();
  }
  void alltoall(const Word* mine, Word* theirs, int words) {
    static std::map<std::pair<int, int>, std::vector<Word>> table;  // by sender and receiver
    const auto count = static_cast<std::size_t>(words);
    for (int to = 0; to < ranks(); ++to) {
      const Word* begin = mine + static_cast<std::size_t>(to) * count;
      table[{me, to}].assign(begin, begin + count);
    }
    w.barrier();
    for (int from = 0; from < ranks(); ++from)
      std::copy_n(table[{from, me}].begin(), words, theirs + static_cast<std::size_t>(from) * count);
    w.barrier();
  }
  void idle() { w.idle(); }
  [[noreturn]] void fail(const std::string& why) { throw Wrong(why); }
};

}  // namespace simulated
