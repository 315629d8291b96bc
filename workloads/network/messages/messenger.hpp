// A messenger over one-sided memory: messages of any length between any two processes, in order, with buffers for those only that talk.
//
//   Messenger<Transport> m(transport, rules);
//   m.send(peer, text, bytes);                 text stays as it is until finish(); what is longer than a slot lies in exposed memory
//   m.receive(peer, room, capacity);           waits for the next message of that peer, returns its length; what has no room is lost
//   m.progress();                              whatever can be done for others now; receive() and finish() call it while they wait
//   m.finish();                                until all that was sent has left this process's memory
//
// WHO OWNS WHAT. Each pair that talks has a block of memory on either side, its contact: four words that the other process writes, and a
// slow ring that it writes its messages into. A hot sender has a fast ring, too. A ring is written by one process and read by one.
//
//     a slot     flag (4 bytes) | kind and length (4 bytes) | text
//     kinds      message: the text                     letter: address and length of a message that the receiver gets by itself
//                move: the stream goes on in the other ring
//
// SENDER, for each peer                                    RECEIVER, for each peer
//     none ---- first message: knock -----> knocking            (any) -- knock seen: make the contact, answer with its address
//     knocking - address of their contact -> slow               slow --- 15th message, a ring is free: say its address (grant)
//     slow ---- grant seen: `move` in slow -> fast              slow --- `move` read in slow ---------------------> fast
//     fast ---- grant gone: `move` in fast -> slow              fast --- someone is hot, this one idle: take the grant back
//                                                               fast --- `move` read in fast: the ring is free ---> slow
//
// NOTHING IS LOST. Slot n of a ring is written again only after the reader has said (a credit, the count of slots it is done with) that it
// has copied slot n out, or has got the message whose address it held. A ring is given to another sender only after the `move` of the last
// one, its last write there.
// NOTHING OVERTAKES. The stream of a sender lies in one ring at a time; each ring is first in, first out; `move` is the last slot of one
// ring before the next slot of the other. The receiver reads the ring that its last `move` named, never both.
// NOTHING DEADLOCKS. A sender waits for three things: an answer to its knock and a credit, which the receiver gives from any call; and that
// its letter is read, which the receiver's own receive does. Credits go back at the latest when half of a ring is read, and
// for each letter at once: a ring cannot be full and read. A sender without a grant, or whose grant never comes, goes on in its slow ring.
// A receiver that takes a grant back waits for nothing.
//
// MEMORY MODEL (MPI-4, chapter 12, unified). A text is put, then flushed: it is there before its flag is accumulated (MPI_REPLACE) after
// it. The reader polls the flag for one particular value, which the standard permits a load to do, then synchronises (MPI_Win_sync) and
// loads the text. Counts, addresses and grants are accumulated, too; a load tells only that one has changed, and its value is fetched
// by an atomic (MPI_NO_OP), for a load of eight bytes may see half of them. What a process writes into its own memory by stores
// (flags of a fresh ring) it writes before it tells the address. Knocks are a bit each, set by MPI_BOR and taken all at once by
// MPI_REPLACE, so that no number of them overflows anything.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rules.hpp"

namespace messages::inline FL_ROLE {

using Word = std::uint64_t;
using Flag = std::uint32_t;

// A word that others write: whether it is another one than `last`, by a load that says nothing of its value.
inline bool changed(const Word* word, Word last) {
  return std::atomic_ref<Word>(*const_cast<Word*>(word)).load(std::memory_order_relaxed) != last;
}
inline bool is(const unsigned char* flag, Flag wanted) {
  auto* word = reinterpret_cast<Flag*>(const_cast<unsigned char*>(flag));
  return std::atomic_ref<Flag>(*word).load(std::memory_order_acquire) == wanted;
}

// The flag of slot `count` of a ring's whole life: never 0, which is the flag of no slot.
constexpr Flag flag_of(Word count) { return static_cast<Flag>(count % 0xFFFFFFFFu) + 1; }

// What it did so far, and what it holds.
struct Account {
  fl::Index sent = 0, received = 0;
  fl::Index eager = 0, letters = 0;       // of those sent
  fl::Index slow = 0, fast = 0;           // of those sent, by ring
  fl::Index upgrades = 0, returns = 0;    // grants given; taken back and come home
  fl::Index contacted = 0;                // with whom there is a contact
  fl::Index fast_now = 0, fast_most = 0;  // senders with a fast ring
  Memory used, held;
};

// Blocks of one size in slabs that are attached as a whole.
template <class Transport>
class Blocks {
 public:
  Blocks(Transport& transport, fl::Index bytes, Growth growth, fl::Index most)
      : transport_(transport), bytes_(bytes), growth_(growth), most_(most) {}

  // A block of zeros that nobody has touched, or one that was given back and holds what was in it.
  unsigned char* take() {
    if (!free_.empty()) {
      unsigned char* block = free_.back();
      free_.pop_back();
      return block;
    }
    if (used_ == held_) add(std::min(most_ - held_, growth_.next(held_)));
    ++used_;
    return next_ += bytes_, next_ - bytes_;
  }
  void give_back(unsigned char* block) { free_.push_back(block); }
  void add(fl::Index blocks) {
    next_ = transport_.attach(blocks * bytes_);
    held_ += blocks;
  }
  fl::Index used() const { return (used_ - static_cast<fl::Index>(free_.size())) * bytes_; }
  fl::Index held() const { return held_ * bytes_; }

 private:
  Transport& transport_;
  fl::Index bytes_;
  Growth growth_;
  fl::Index most_, held_ = 0, used_ = 0;
  unsigned char* next_ = nullptr;
  std::vector<unsigned char*> free_;
};

template <class Transport>
class Messenger {
 public:
  Messenger(Transport& transport, const Rules& rules)
      : t_(transport),
        rules_(rules),
        contacts_(transport, contact_bytes(rules), contact_growth, transport.ranks()),
        fast_rings_(transport, fast_bytes(rules), fast_growth, std::min<fl::Index>(rules.fast_peers, transport.ranks())) {
    if (rules.prepared) prepare();
  }
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  void send(int peer, const void* text, fl::Index bytes) {
    Peer& p = peer_of(peer);
    if (!p.busy) busy_.push_back(&p), p.busy = true;
    p.queue.push_back({text, bytes});
    ++account_.sent;
    advance(p);
  }

  // The length of the next message of that peer, now in `room`; -1 where none has come.
  fl::Index try_receive(int peer, void* room, fl::Index capacity) {
    const auto found = peers_.find(peer);
    if (found == peers_.end()) return none;
    Peer& p = *found->second;
    if (p.there == 0) return none;  // it knows this process by its knock, and may be ahead of its answer
    settle(p);
    const unsigned char* slot = head(p);
    if (slot == nullptr) return none;
    const fl::Index bytes = take(p, slot, room, capacity);
    count(p);
    return bytes;
  }

  fl::Index receive(int peer, void* room, fl::Index capacity) {
    for (;;) {
      const fl::Index bytes = try_receive(peer, room, capacity);
      if (bytes != none) return bytes;
      progress();
    }
  }

  void progress() {
    t_.idle();
    answer_knocks();
    for (std::size_t k = 0; k < knocking_.size();) answered(k) ? void() : void(++k);
    for (std::size_t k = 0; k < busy_.size();) {
      advance(*busy_[k]);
      if (busy_[k]->queue.empty())
        busy_[k]->busy = false, busy_[k] = busy_.back(), busy_.pop_back();
      else
        ++k;
    }
    // Grants come and go while nothing is sent, too: one peer a call, in turn.
    if (!everyone_.empty()) {
      turn_ = (turn_ + 1) % everyone_.size();
      Peer& p = *everyone_[turn_];
      if (p.there != 0) follow_grant(p), settle(p);
    }
  }

  // All messages have left, and all letters were read.
  void finish() {
    for (;;) {
      bool all = busy_.empty();
      for (std::size_t k = 0; all && k < lettered_.size();) {
        Peer& p = *lettered_[k];
        for (const int ring : {slow, fast}) refresh(p, ring);
        if (p.out[slow].read >= p.out[slow].letters && p.out[fast].read >= p.out[fast].letters)
          p.lettered = false, lettered_[k] = lettered_.back(), lettered_.pop_back();
        else
          all = false;
      }
      if (all) return;
      progress();
    }
  }

  const Account& account() {
    account_.used = {door_bytes(t_.ranks()), contacts_.used(), fast_rings_.used()};
    account_.held = {door_bytes(t_.ranks()), contacts_.held(), fast_rings_.held()};
    return account_;
  }

  static constexpr fl::Index none = -1;

 private:
  enum Ring { slow, fast };
  enum Kind : Flag { message, letter, move };
  enum Back { address, slow_read, fast_ring, fast_read };  // words of a contact
  static constexpr Flag length_mask = (Flag{1} << 30) - 1;

  struct Outgoing {
    const void* text;
    fl::Index bytes;
  };
  struct Letter {
    Word address, bytes;
  };
  struct Out {
    Word sent = 0, read = 0;  // slots of the ring's whole life
    Word letters = 0;         // the slot behind the last letter
    Word place = 0;           // of the ring, in the other process
  };
  struct In {
    unsigned char* memory = nullptr;
    Word read = 0, told = 0;
  };
  struct Peer {
    int rank = 0;
    Word* back = nullptr;  // this process's contact
    Word there = 0;        // the other's; 0: not known
    bool knocked = false;  // or waiting for a card to knock with
    bool busy = false, lettered = false;
    Ring sending = slow, reading = slow;
    std::array<Out, 2> out;
    std::array<In, 2> in;
    Word grant = 0;  // as last seen
    std::deque<Outgoing> queue;
    fl::Index messages = 0;          // received in this window
    fl::Index window = 0, used = 0;  // messages that this process had received when it began; and at the last of this peer
    bool recalled = false;
  };

  const Tier& tier(int ring) const { return ring == slow ? rules_.slow : rules_.fast; }

  Peer& peer_of(int rank) {
    auto& found = peers_[rank];
    if (found == nullptr) {
      found = std::make_unique<Peer>();
      Peer& p = *found;
      p.rank = rank;
      unsigned char* block = contacts_.take();
      p.back = reinterpret_cast<Word*>(block);
      p.in[slow].memory = block + 8 * back_words;
      everyone_.push_back(&p);
      ++account_.contacted;
    }
    return *found;
  }

  // --- first contact ---------------------------------------------------------------------------------------------------------

  static constexpr fl::Index bell = 0, targets = 1, addresses = 1 + cards, knocks = 1 + 2 * cards;

  void knock(Peer& p) {
    if (!p.knocked) waiting_.push_back(&p), p.knocked = true;
    while (!waiting_.empty() && knocking_.size() < cards) {
      Peer& next = *waiting_.front();
      waiting_.pop_front();
      int card = 0;
      while (card_used_[static_cast<std::size_t>(card)]) ++card;
      card_used_[static_cast<std::size_t>(card)] = true;
      knocking_.push_back({&next, card});
      t_.door_set(t_.rank(), addresses + card, t_.address(next.back));
      t_.door_set(t_.rank(), targets + card, static_cast<Word>(next.rank) + 1);
      t_.door_or(next.rank, knocks + t_.rank() / 64, Word{1} << (t_.rank() % 64));
      t_.door_add(next.rank, bell, 1);
    }
  }

  // Whether knock k has its answer; it is then gone from the list.
  bool answered(std::size_t k) {
    Peer& p = *knocking_[k].first;
    if (!changed(p.back + address, 0)) return false;
    meet(p, t_.fetch(p.back + address));
    const int card = knocking_[k].second;
    t_.door_set(t_.rank(), targets + card, 0);
    card_used_[static_cast<std::size_t>(card)] = false;
    knocking_[k] = knocking_.back();
    knocking_.pop_back();
    if (!waiting_.empty()) {
      Peer& next = *waiting_.front();
      knock(next);
    }
    return true;
  }

  void meet(Peer& p, Word there) {
    p.there = there;
    p.out[slow].place = there + 8 * back_words;
  }

  void answer_knocks() {
    if (!changed(t_.door() + bell, bell_heard_)) return;
    bell_heard_ = t_.door_fetch(bell);  // before the bits: one that is set later rings again
    const auto words = static_cast<fl::Index>((t_.ranks() + 63) / 64);
    std::vector<Word> bits(static_cast<std::size_t>(words));
    t_.door_take(knocks, words, bits.data());
    for (fl::Index w = 0; w < words; ++w)
      for (Word left = bits[static_cast<std::size_t>(w)]; left != 0; left &= left - 1)
        answer(static_cast<int>(64 * w) + std::countr_zero(left));
  }

  void answer(int rank) {
    Peer& p = peer_of(rank);
    std::array<Word, cards> found{};
    t_.door_read(rank, targets, cards, found.data());
    std::size_t card = 0;
    while (card < cards && found[card] != static_cast<Word>(t_.rank()) + 1) ++card;
    if (card == cards) t_.fail("a process knocked without a card");
    Word there = 0;
    t_.door_read(rank, addresses + static_cast<fl::Index>(card), 1, &there);
    meet(p, there);
    t_.set(rank, there + 8 * address, t_.address(p.back));
    t_.complete(rank);
  }

  // The plain design: everybody's rings are there, and known, before the first message.
  void prepare() {
    const auto ranks = static_cast<std::size_t>(t_.ranks());
    std::vector<Word> mine(2 * ranks), theirs(2 * ranks);
    contacts_.add(t_.ranks());
    fast_rings_.add(t_.ranks());
    for (std::size_t k = 0; k < ranks; ++k) {
      Peer& p = peer_of(static_cast<int>(k));
      p.in[fast].memory = fast_rings_.take();
      mine[2 * k] = t_.address(p.back);
      mine[2 * k + 1] = t_.address(p.in[fast].memory);
    }
    t_.alltoall(mine.data(), theirs.data(), 2);
    for (std::size_t k = 0; k < ranks; ++k) {
      Peer& p = peer_of(static_cast<int>(k));
      meet(p, theirs[2 * k]);
      p.out[fast].place = theirs[2 * k + 1];
      p.sending = p.reading = fast;
      p.grant = 0;
    }
    account_.fast_now = account_.fast_most = t_.ranks();
  }

  // --- sending ---------------------------------------------------------------------------------------------------------------

  // Another count of slots that the peer has read, if there is one.
  void refresh(Peer& p, int ring) {
    const Word* word = p.back + (ring == slow ? slow_read : fast_read);
    if (changed(word, p.out[static_cast<std::size_t>(ring)].read)) p.out[static_cast<std::size_t>(ring)].read = t_.fetch(word);
  }

  fl::Index room(Peer& p) {
    Out& o = p.out[p.sending];
    const auto left = [&] { return tier(p.sending).slots - static_cast<fl::Index>(o.sent - o.read); };
    if (left() == 0) refresh(p, p.sending);
    return left();
  }

  // Moves to the ring that the peer grants, or back from one that it wants to have again, as soon as there is a slot to say so.
  void follow_grant(Peer& p) {
    if (rules_.prepared || !changed(p.back + fast_ring, p.grant)) return;
    const Word now = t_.fetch(p.back + fast_ring);
    if (now == p.grant || room(p) == 0) return;
    write(p, move, 0, nullptr, 0, 0);
    publish(p, 1);
    p.grant = now;
    p.sending = now != 0 ? fast : slow;
    if (now != 0) p.out[fast].place = now;
  }

  void advance(Peer& p) {
    if (p.there == 0) return knock(p);
    follow_grant(p);
    while (!p.queue.empty()) {
      const auto count = std::min<fl::Index>({room(p), static_cast<fl::Index>(p.queue.size()), most_at_once});
      if (count == 0) return;
      for (fl::Index k = 0; k < count; ++k) write(p, p.queue[static_cast<std::size_t>(k)], k);
      publish(p, count);
      p.queue.erase(p.queue.begin(), p.queue.begin() + count);
    }
  }

  void write(Peer& p, const Outgoing& m, fl::Index k) {
    const bool short_one = m.bytes <= tier(p.sending).eager;
    (p.sending == slow ? account_.slow : account_.fast) += 1;
    (short_one ? account_.eager : account_.letters) += 1;
    if (short_one) return write(p, message, static_cast<Flag>(m.bytes), m.text, m.bytes, k);
    const Letter l{t_.address(m.text), static_cast<Word>(m.bytes)};
    write(p, letter, 0, &l, sizeof l, k);
    p.out[p.sending].letters = p.out[p.sending].sent + static_cast<Word>(k) + 1;
    if (!p.lettered) lettered_.push_back(&p), p.lettered = true;
  }

  // Into the slot that is k behind the next one, but for its flag.
  void write(Peer& p, Kind kind, Flag length, const void* text, fl::Index bytes, fl::Index k) {
    constexpr fl::Index staged = 128;
    Staging& from = staging_[static_cast<std::size_t>(k)];
    from.header = kind << 30 | length;
    const Word to = slot(p, p.out[p.sending].sent + static_cast<Word>(k)) + sizeof(Flag);
    const bool together = bytes <= staged;
    if (together && bytes > 0) std::memcpy(from.text, text, static_cast<std::size_t>(bytes));
    t_.put(p.rank, to, &from, static_cast<fl::Index>(sizeof from.header) + (together ? bytes : 0));
    if (!together) t_.put(p.rank, to + sizeof from.header, text, bytes);
  }

  Word slot(const Peer& p, Word count) const {
    const Tier& t = tier(p.sending);
    return p.out[p.sending].place + count % static_cast<Word>(t.slots) * static_cast<Word>(t.stride());
  }

  // The texts of the next `count` slots are there before the first flag is.
  void publish(Peer& p, fl::Index count) {
    t_.complete(p.rank);
    Out& o = p.out[p.sending];
    for (fl::Index k = 0; k < count; ++k, ++o.sent) t_.set(p.rank, slot(p, o.sent), flag_of(o.sent));
    t_.complete(p.rank);
  }

  // --- receiving -------------------------------------------------------------------------------------------------------------

  // The next slot of the ring that the stream is in; null where nothing has come.
  const unsigned char* head(const Peer& p) const {
    const In& in = p.in[p.reading];
    const Tier& t = tier(p.reading);
    const unsigned char* slot = in.memory + static_cast<fl::Index>(in.read % static_cast<Word>(t.slots)) * t.stride();
    if (!is(slot, flag_of(in.read))) return nullptr;
    t_.see();
    return slot;
  }

  static Flag header(const unsigned char* slot) {
    Flag found = 0;
    std::memcpy(&found, slot + sizeof(Flag), sizeof found);
    return found;
  }

  // Follows the stream into the other ring, where the next slot says so.
  void settle(Peer& p) {
    for (;;) {
      if (p.in[p.reading].memory == nullptr || tier(p.reading).slots == 0) return;
      const unsigned char* slot = head(p);
      if (slot == nullptr || header(slot) >> 30 != move) return;
      done(p, true);
      p.reading = p.reading == slow ? fast : slow;
      if (p.reading == slow) ring_came_home(p);
      if (p.reading == fast && p.in[fast].memory == nullptr) t_.fail("a stream goes on in a ring that its sender was not given");
    }
  }

  fl::Index take(Peer& p, const unsigned char* slot, void* room, fl::Index capacity) {
    const Flag what = header(slot);
    const unsigned char* text = slot + 2 * sizeof(Flag);
    const bool is_letter = what >> 30 == letter;
    Letter l{0, what & length_mask};
    if (is_letter) std::memcpy(&l, text, sizeof l);
    const fl::Index taken = std::min(static_cast<fl::Index>(l.bytes), capacity);
    if (is_letter)
      t_.get(p.rank, l.address, room, taken);
    else
      t_.copy(room, text, taken);
    done(p, is_letter);
    ++account_.received;
    return static_cast<fl::Index>(l.bytes);
  }

  // This process is done with the next slot; says so at once, or when half of the ring is.
  void done(Peer& p, bool at_once) {
    In& in = p.in[p.reading];
    ++in.read;
    if (!at_once && static_cast<fl::Index>(in.read - in.told) < std::max<fl::Index>(1, tier(p.reading).slots / 2)) return;
    in.told = in.read;
    t_.see();  // what was loaded was loaded before
    t_.set(p.rank, p.there + 8 * (p.reading == slow ? slow_read : fast_read), in.read);
    t_.complete(p.rank);
  }

  // --- who is hot ------------------------------------------------------------------------------------------------------------

  void count(Peer& p) {
    p.used = account_.received;
    if (rules_.prepared || p.in[fast].memory != nullptr) return;
    if (p.messages++ == 0) p.window = account_.received;
    if (p.messages < rules_.upgrade_after) return;
    if (account_.fast_now < rules_.fast_peers) return grant(p);
    if (!rules_.reclaim || p.messages % std::max<fl::Index>(1, rules_.upgrade_after) != 0) return;
    recall(p.window);
    p.window = account_.received;
  }

  void grant(Peer& p) {
    unsigned char* ring = fast_rings_.take();
    p.in[fast].memory = ring;
    t_.set(p.rank, p.there + 8 * fast_ring, t_.address(ring));
    t_.complete(p.rank);
    holders_.push_back(&p);
    ++account_.upgrades;
    account_.fast_most = std::max(account_.fast_most, ++account_.fast_now);
  }

  // Asks the sender for its ring that was used least recently, if that was before message `since` of this process.
  void recall(fl::Index since) {
    Peer* oldest = nullptr;
    for (Peer* h : std::vector<Peer*>(holders_)) {
      settle(*h);  // which may take it from the list
      if (h->recalled || h->reading != fast || h->used >= since || head(*h) != nullptr) continue;
      if (oldest == nullptr || h->used < oldest->used) oldest = h;
    }
    if (oldest == nullptr) return;
    oldest->recalled = true;
    t_.set(oldest->rank, oldest->there + 8 * fast_ring, Word{0});
    t_.complete(oldest->rank);
  }

  // The sender wrote its last there, and this process has read it.
  void ring_came_home(Peer& p) {
    unsigned char* ring = std::exchange(p.in[fast].memory, nullptr);
    // A load may have seen the flag of `move` before its accumulate was over; a fetch that sees it comes after, and stores may follow.
    const auto last = static_cast<fl::Index>((p.in[fast].read - 1) % static_cast<Word>(rules_.fast.slots));
    while (t_.fetch(reinterpret_cast<Flag*>(ring + last * rules_.fast.stride())) != flag_of(p.in[fast].read - 1)) t_.idle();
    for (fl::Index k = 0; k < rules_.fast.slots; ++k) std::memset(ring + k * rules_.fast.stride(), 0, sizeof(Flag));
    t_.see();  // no flag of this sender is left for the next one
    fast_rings_.give_back(ring);
    p.recalled = false;
    p.messages = 0;
    std::erase(holders_, &p);
    --account_.fast_now;
    ++account_.returns;
  }

  static constexpr fl::Index most_at_once = 16;
  struct Staging {
    Flag header;
    unsigned char text[128];
  };

  Transport& t_;
  Rules rules_;
  Blocks<Transport> contacts_, fast_rings_;
  Account account_;
  std::unordered_map<int, std::unique_ptr<Peer>> peers_;
  std::vector<Peer*> everyone_, busy_, lettered_, holders_;  // those met; with messages to send; with letters to be read; with fast rings
  std::vector<std::pair<Peer*, int>> knocking_;              // with their cards
  std::deque<Peer*> waiting_;                                // for a card
  std::array<bool, cards> card_used_{};
  Word bell_heard_ = 0;
  std::size_t turn_ = 0;
  std::array<Staging, most_at_once> staging_;
};

}  // namespace messages::inline FL_ROLE
