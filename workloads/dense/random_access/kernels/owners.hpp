// Which process has the word that an update changes, and where in its part of the table.
#pragma once

#include "updates.hpp"

namespace random_access {

class Owners {
 public:
  explicit Owners(const State& s)
      : bits_(std::countr_zero(static_cast<Word>(s.words))),
        mask_(static_cast<Word>(s.words - 1)),
        ranks_(static_cast<Word>(s.team.ranks)) {}
  // As fl::part_of, of a number of words that is a power of two.
  int of(Word a) const { return static_cast<int>(((a & mask_) * ranks_ + ranks_ - 1) >> bits_); }
  fl::Index place(Word a) const { return static_cast<fl::Index>(a & mask_); }

 private:
  int bits_;
  Word mask_, ranks_;
};

// Changes words of this process.
class Mine {
 public:
  Mine(State& s, const Owners& owners) : table_(s.table.data()), begin_(s.own.begin), owners_(owners) {}
  void update(Word a) const { table_[owners_.place(a) - begin_] ^= a; }
  // Applies several updates; the words are prefetched some updates ahead.
  void update(const Word* some, fl::Index count) const {
    constexpr fl::Index distance = 32;
    for (fl::Index k = 0; k < count; ++k) {
      __builtin_prefetch(&table_[owners_.place(some[std::min(k + distance, count - 1)]) - begin_], 1);
      update(some[k]);
    }
  }

 private:
  Word* table_;
  fl::Index begin_;
  Owners owners_;
};

}  // namespace random_access
