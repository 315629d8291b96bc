// Threads over tile columns, part of them fixed (S. Donfack, L. Grigori, W. Gropp, V. Kale, IPDPS 2012): of the first columns, `fixed` per
// cent of all, each belongs to one thread; of the rest a free thread takes the first that is ready. A column is ready for the next panel
// when that is factored, and for being factored when all before it have passed.
#pragma once

#include <sched.h>

#include <atomic>
#include <memory>

#include "hands.hpp"
#include "tiles.hpp"

namespace lu {

class Progress {
 public:
  // Covers `panels` columns and the right side, which is updated as they are but is not a panel.
  Progress(Index panels, Index fixed)
      : columns_(panels + 1), fixed_(fixed), passed_(new std::atomic<Index>[columns_]), taken_(new std::atomic<bool>[columns_]) {
    for (Index j = 0; j < columns_; ++j) passed_[j] = 0, taken_[j] = false;
  }

  bool finished() const { return passed(columns_ - 1) == columns_ - 1; }

  // A column that this thread may go on with, its own before the others'; -1 where none is ready. What the next panel waits for comes
  // first, then the column that is farthest behind: so there is work for all while a panel is factored.
  Index take(Index thread, Index threads) {
    if (const Index own = urgent(thread, fixed_, threads); own >= 0) return own;
    for (;;) {
      const Index j = urgent(fixed_, columns_, 1);
      if (j < 0) return -1;
      if (taken_[j].exchange(true, std::memory_order_acquire)) continue;
      if (ready(j)) return j;
      taken_[j].store(false, std::memory_order_release);
    }
  }
  Index passed(Index j) const { return passed_[j].load(std::memory_order_acquire); }
  void done(Index j) {
    passed_[j].fetch_add(1, std::memory_order_release);
    if (j >= fixed_) taken_[j].store(false, std::memory_order_release);
  }

 private:
  bool factored(Index j) const { return passed(j) > j; }
  bool ready(Index j) const {
    const Index next = passed(j);
    return (next == j && j + 1 < columns_) || (next < j && factored(next));
  }

  // Returns the most urgent of the columns begin, begin + step, ... that are ready and that no thread works on.
  Index urgent(Index begin, Index end, Index step) const {
    Index best = -1, least = 0;
    for (Index j = begin; j < end; j += step) {
      if (taken_[j].load(std::memory_order_relaxed) || !ready(j)) continue;
      const Index before = passed(j);
      if (before + 1 >= j) return j;
      if (best < 0 || before < least) best = j, least = before;
    }
    return best;
  }

  Index columns_, fixed_;
  std::unique_ptr<std::atomic<Index>[]> passed_;  // panels, its own too
  std::unique_ptr<std::atomic<bool>[]> taken_;
};

template <template <class> class Pivoting, class Product>
struct Scheduled {
  std::unique_ptr<Tiles<Pivoting, Product>> tiles;

  void open(State& s) { tiles = std::make_unique<Tiles<Pivoting, Product>>(s, s.team.threads); }
  void step(State& s, Index) {
    tiles->start();
    Progress progress(tiles->count(), tiles->count() * s.p.fixed / 100);
    Hands hands(s);
    const int threads = s.team.threads;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int thread = 0; thread < threads; ++thread) work(progress, hands, thread, threads);
    solve_upper(s, Dealt{s.team.threads});
  }

 private:
  void work(Progress& progress, Hands& hands, int thread, int threads) {
    while (!progress.finished()) {
      hands.take(thread);
      const Index j = progress.take(thread, threads);
      if (j < 0) {
        sched_yield();
        continue;
      }
      const Index k = progress.passed(j);
      hands.hold(thread, j, k == j, [&] { k == j ? tiles->factor(j, thread) : tiles->update(j, k, thread); });
      progress.done(j);
    }
  }
};

}  // namespace lu
