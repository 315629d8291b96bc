// Each thread makes its share of the updates, all of them in the whole table.
#pragma once

#include <atomic>

#include "batches.hpp"

namespace random_access {

// HPC Challenge's: what another thread writes between the load and the store is lost.
struct Careless {
  void operator()(Word& word, Word a) const {
    const std::atomic_ref<Word> shared(word);
    shared.store(shared.load(std::memory_order_relaxed) ^ a, std::memory_order_relaxed);
  }
};

struct Atomic {
  void operator()(Word& word, Word a) const { std::atomic_ref<Word>(word).fetch_xor(a, std::memory_order_relaxed); }
};

// A thread's pages of the table are its own to fill, so that they are spread over the memories of the node.
inline void touch_first(State& s) {
#pragma omp parallel for num_threads(s.team.threads) schedule(static)
  for (fl::Index i = 0; i < s.own.size(); ++i) s.table[i] = 0;
}

template <class Change>
void in_threads(State& s, Change change) {
  Word* table = s.table.data();
  const Word mask = static_cast<Word>(s.words - 1);
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
  for (int thread = 0; thread < s.team.threads; ++thread)
    in_batches(table, mask, share_of(s, thread, s.team.threads), [=](Word a) { change(table[a & mask], a); });
}

}  // namespace random_access
