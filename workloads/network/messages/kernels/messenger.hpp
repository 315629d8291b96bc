// A messenger over one-sided memory: messages of any length between any two processes, in order, with buffers for those only that talk.
//
//   Messenger<Transport> m(transport, rules);
//   m.send(peer, text, bytes);                 text stays as it is until finish(); what is longer than a slot is in exposed memory
//   m.receive(peer, room, capacity);           waits for the next message of that peer, returns its length; what has no room is lost
//   m.progress();                              whatever can be done for others now; receive() and finish() call it while they wait
//   m.finish();                                until all that was sent has left this process's memory
//
// WHO OWNS WHAT. Each pair that talks has a block of memory on either side, its contact: four words that the other process writes, and a
// slow ring that it writes its messages into. A hot sender has a fast ring, too. A ring is written by one process and read by one.
// What is in a ring is in rings.hpp, how processes meet in door.hpp.
//
// SENDER, for each peer                                    RECEIVER, for each peer
//     none ---- first message: knock -----> knocking            (any) -- knock seen: make the contact, answer with its address
//     knocking - address of their contact -> slow               slow --- 15th message, a ring is free: send its address (grant)
//     slow ---- grant seen: `move` in slow -> fast              slow --- `move` read in slow ---------------------> fast
//     fast ---- grant gone: `move` in fast -> slow              fast --- someone is hot, this one idle: take the grant back
//                                                               fast --- `move` read in fast: the ring is free ---> slow
//
// NOTHING IS LOST. Slot n of a ring is written again only after the reader has sent a credit (the count of slots it is done with): it
// has copied slot n out, or has got the message whose address it held. A ring is given to another sender only after the `move` of the last
// one, its last write there.
// NOTHING OVERTAKES. The stream of a sender is in one ring at a time; each ring is first in, first out; `move` is the last slot of one
// ring before the next slot of the other. The receiver reads the ring that its last `move` named, never both.
// NOTHING DEADLOCKS. A sender waits for three things: an answer to its knock and a credit, which the receiver returns from any call; and that
// its letter is read, which the receiver's own receive does. Credits go back at the latest when half of a ring is read, and
// for each letter at once: a ring cannot be full and read. A sender without a grant, or whose grant never comes, goes on in its slow ring.
// A receiver that revokes a grant waits for nothing.
//
// MEMORY MODEL (MPI-4, chapter 12, unified). A text is put, then flushed: it is there before its flag is accumulated (MPI_REPLACE) after
// it. The reader polls the flag for one particular value, which the standard permits a load to do, then synchronises (MPI_Win_sync) and
// loads the text. Counts, addresses and grants are accumulated, too; a load shows only that one has changed, and its value is fetched
// by an atomic (MPI_NO_OP), for a load of eight bytes may see half of them. What a process writes into its own memory by stores
// (flags of a fresh ring) it writes before it sends the address.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "door.hpp"
#include "rings.hpp"
#include "rules.hpp"
#include "slabs.hpp"

namespace messages {

// Its work so far, and its memory.
struct Account {
  fl::Index sent = 0, received = 0;
  fl::Index eager = 0, letters = 0;       // of those sent
  fl::Index slow = 0, fast = 0;           // of those sent, by ring
  fl::Index upgrades = 0, returns = 0;    // grants given; taken back and come home
  fl::Index contacted = 0;                // with whom there is a contact
  fl::Index fast_now = 0, fast_most = 0;  // senders with a fast ring
  Memory used, reserved;
};

template <class Transport>
class Messenger {
 public:
  Messenger(Transport& transport, const Rules& rules)
      : t_(transport),
        rules_(rules),
        door_(transport),
        writer_(transport),
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
    if (p.there == 0) return none;  // it has this process's knock, and may be ahead of its answer
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
    door_.hear([&](int rank, Word there) { answer(peer_of(rank), there); });
    door_.take_answers([&](int rank, Word there) { meet(peer_of(rank), there); });
    for (std::size_t k = 0; k < busy_.size();) {
      advance(*busy_[k]);
      if (busy_[k]->queue.empty())
        busy_[k]->busy = false, busy_[k] = busy_.back(), busy_.pop_back();
      else
        ++k;
    }
    // Grants come and go while nothing is sent, too: one peer per call, alternately.
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
    account_.reserved = {door_bytes(t_.ranks()), contacts_.reserved(), fast_rings_.reserved()};
    return account_;
  }

  static constexpr fl::Index none = -1;

 private:
  enum Ring { slow, fast };
  enum Back { address, slow_read, fast_ring, fast_read };  // words of a contact

  struct Outgoing {
    const void* text;
    fl::Index bytes;
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

  Peer& peer_of(int rank) {
    auto& found = peers_[rank];
    if (found == nullptr) {
      found = std::make_unique<Peer>();
      Peer& p = *found;
      p.rank = rank;
      p.out[slow].tier = p.in[slow].tier = rules_.slow;
      p.out[fast].tier = p.in[fast].tier = rules_.fast;
      unsigned char* block = contacts_.take();
      p.back = reinterpret_cast<Word*>(block);
      p.in[slow].memory = block + 8 * back_words;
      everyone_.push_back(&p);
      ++account_.contacted;
    }
    return *found;
  }

  // --- first contact ---------------------------------------------------------------------------------------------------------

  void meet(Peer& p, Word there) {
    p.there = there;
    p.out[slow].place = there + 8 * back_words;
  }

  void answer(Peer& p, Word there) {
    meet(p, there);
    t_.set(p.rank, there + 8 * address, t_.address(p.back));
    t_.complete(p.rank);
  }

  // The plain design: the rings of all processes are there, and known, before the first message.
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
    Word& read = p.out[static_cast<std::size_t>(ring)].read;
    if (changed(word, read)) read = t_.fetch(word);
  }

  fl::Index room(Peer& p) {
    const Out& o = p.out[p.sending];
    if (o.room() == 0) refresh(p, p.sending);
    return o.room();
  }

  // Moves to the ring that the peer grants, or back from one that it reclaims, as soon as there is a slot for the notice.
  void follow_grant(Peer& p) {
    if (rules_.prepared || !changed(p.back + fast_ring, p.grant)) return;
    const Word now = t_.fetch(p.back + fast_ring);
    if (now == p.grant || room(p) == 0) return;
    writer_.write(p.rank, p.out[p.sending], 0, Kind::move, 0, nullptr, 0);
    writer_.publish(p.rank, p.out[p.sending], 1);
    p.grant = now;
    p.sending = now != 0 ? fast : slow;
    if (now != 0) p.out[fast].place = now;
  }

  void advance(Peer& p) {
    if (p.there == 0) {
      if (!p.knocked) p.knocked = true, door_.knock(p.rank, p.back + address);
      return;
    }
    follow_grant(p);
    while (!p.queue.empty()) {
      const auto count = std::min<fl::Index>({room(p), static_cast<fl::Index>(p.queue.size()), Writer<Transport>::most_at_once});
      if (count == 0) return;
      for (fl::Index k = 0; k < count; ++k) write(p, p.queue[static_cast<std::size_t>(k)], k);
      writer_.publish(p.rank, p.out[p.sending], count);
      p.queue.erase(p.queue.begin(), p.queue.begin() + count);
    }
  }

  // Into the slot that is k behind the next one.
  void write(Peer& p, const Outgoing& m, fl::Index k) {
    Out& ring = p.out[p.sending];
    const bool short_one = m.bytes <= ring.tier.eager;
    (p.sending == slow ? account_.slow : account_.fast) += 1;
    (short_one ? account_.eager : account_.letters) += 1;
    if (short_one) return writer_.write(p.rank, ring, k, Kind::message, m.bytes, m.text, m.bytes);
    const Letter l{t_.address(m.text), static_cast<Word>(m.bytes)};
    writer_.write(p.rank, ring, k, Kind::letter, 0, &l, sizeof l);
    ring.letters = ring.sent + static_cast<Word>(k) + 1;
    if (!p.lettered) lettered_.push_back(&p), p.lettered = true;
  }

  // --- receiving -------------------------------------------------------------------------------------------------------------

  // The next slot of the ring that the stream is in; null where nothing has come.
  const unsigned char* head(const Peer& p) const { return p.in[p.reading].head(t_); }

  // Follows the stream into the other ring if the next slot directs it there.
  void settle(Peer& p) {
    for (;;) {
      if (p.in[p.reading].memory == nullptr || p.in[p.reading].tier.slots == 0) return;
      const unsigned char* slot = head(p);
      if (slot == nullptr || slot_of(slot).kind != Kind::move) return;
      done(p, true);
      p.reading = p.reading == slow ? fast : slow;
      if (p.reading == slow) ring_came_home(p);
      if (p.reading == fast && p.in[fast].memory == nullptr) t_.fail("a sender continued in a ring that it does not own");
    }
  }

  fl::Index take(Peer& p, const unsigned char* slot, void* room, fl::Index capacity) {
    const Slot what = slot_of(slot);
    const bool is_letter = what.kind == Kind::letter;
    Letter l{0, what.length};
    if (is_letter) std::memcpy(&l, what.text, sizeof l);
    const fl::Index taken = std::min(static_cast<fl::Index>(l.bytes), capacity);
    if (is_letter)
      t_.get(p.rank, l.address, room, taken);
    else
      t_.copy(room, what.text, taken);
    done(p, is_letter);
    ++account_.received;
    return static_cast<fl::Index>(l.bytes);
  }

  // This process is done with the next slot.
  void done(Peer& p, bool at_once) {
    In& in = p.in[p.reading];
    if (!in.done(at_once)) return;
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

  // Reclaims the ring that was used least recently from its sender, if that was before message `since` of this process.
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
    p.in[fast].clear(t_);
    fast_rings_.give_back(std::exchange(p.in[fast].memory, nullptr));
    p.recalled = false;
    p.messages = 0;
    std::erase(holders_, &p);
    --account_.fast_now;
    ++account_.returns;
  }

  Transport& t_;
  Rules rules_;
  Door<Transport> door_;
  Writer<Transport> writer_;
  Slabs<Transport> contacts_, fast_rings_;
  Account account_;
  std::unordered_map<int, std::unique_ptr<Peer>> peers_;
  std::vector<Peer*> everyone_, busy_, lettered_, holders_;  // those met; with messages to send; with letters to be read; with fast rings
  std::size_t turn_ = 0;
};

}  // namespace messages
