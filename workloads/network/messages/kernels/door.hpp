// First contacts: words that every process can reach from the start, its door. Who wants to talk to another one leaves the address of its
// contact on a card at its own door and knocks: it sets its bit at the other's, and rings. The other reads the card and writes its own
// address into the contact. A bit each, set by MPI_BOR and taken all at once by MPI_REPLACE: no number of knocks overflows anything.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <deque>
#include <vector>

#include "rules.hpp"
#include "words.hpp"

namespace messages {

template <class Transport>
class Door {
 public:
  explicit Door(Transport& transport) : t_(transport) {}

  // As soon as there is a card. `contact` is this process's, into whose first word the answer is written.
  void knock(int rank, const Word* contact) {
    waiting_.push_back({rank, contact, 0});
    use_cards();
  }

  // meet(rank, its answer) for each who has answered.
  template <class Meet>
  void take_answers(Meet meet) {
    for (std::size_t k = 0; k < knocking_.size();) {
      const Knock one = knocking_[k];
      if (!changed(one.contact, 0)) {
        ++k;
        continue;
      }
      meet(one.rank, t_.fetch(one.contact));
      t_.door_set(t_.rank(), targets + one.card, 0);
      card_used_[static_cast<std::size_t>(one.card)] = false;
      knocking_[k] = knocking_.back();
      knocking_.pop_back();
      use_cards();
    }
  }

  // answer(rank, the address of its contact) for each who has knocked.
  template <class Answer>
  void hear(Answer answer) {
    if (!changed(t_.door() + bell, heard_)) return;
    heard_ = t_.door_fetch(bell);  // before the bits: one that is set later rings again
    const auto words = static_cast<fl::Index>((t_.ranks() + 63) / 64);
    std::vector<Word> bits(static_cast<std::size_t>(words));
    t_.door_take(knocks, words, bits.data());
    for (fl::Index w = 0; w < words; ++w)
      for (Word left = bits[static_cast<std::size_t>(w)]; left != 0; left &= left - 1) {
        const int rank = static_cast<int>(64 * w) + std::countr_zero(left);
        answer(rank, card_of(rank));
      }
  }

 private:
  static constexpr fl::Index bell = 0, targets = 1, addresses = 1 + cards, knocks = 1 + 2 * cards;

  struct Knock {
    int rank;
    const Word* contact;
    int card;
  };

  void use_cards() {
    while (!waiting_.empty() && knocking_.size() < cards) {
      Knock next = waiting_.front();
      waiting_.pop_front();
      while (card_used_[static_cast<std::size_t>(next.card)]) ++next.card;
      card_used_[static_cast<std::size_t>(next.card)] = true;
      knocking_.push_back(next);
      t_.door_set(t_.rank(), addresses + next.card, t_.address(next.contact));
      t_.door_set(t_.rank(), targets + next.card, static_cast<Word>(next.rank) + 1);
      t_.door_or(next.rank, knocks + t_.rank() / 64, Word{1} << (t_.rank() % 64));
      t_.door_add(next.rank, bell, 1);
    }
  }

  // What is on the card for this process at the door of one that has knocked.
  Word card_of(int rank) {
    std::array<Word, cards> found{};
    t_.door_read(rank, targets, cards, found.data());
    std::size_t card = 0;
    while (card < cards && found[card] != static_cast<Word>(t_.rank()) + 1) ++card;
    if (card == cards) t_.fail("a process announced itself without an open contact card");
    Word address = 0;
    t_.door_read(rank, addresses + static_cast<fl::Index>(card), 1, &address);
    return address;
  }

  Transport& t_;
  std::vector<Knock> knocking_;  // with their cards
  std::deque<Knock> waiting_;    // for a card
  std::array<bool, cards> card_used_{};
  Word heard_ = 0;
};

}  // namespace messages
