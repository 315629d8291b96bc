// Tile columns: what a panel does to the columns behind it, of which the last is the right side. Work on a column is the same in any
// thread, so no bit of the result depends on that.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "pivoting.hpp"
#include "solve.hpp"

namespace lu {

// Pivoting<Product> factors a panel. What one thread has of its own: the product's memory, and the pivoting's.
template <template <class> class Pivoting, class Product>
class Tiles {
 public:
  Tiles(State& s, int threads)
      : s_(s),
        count_((s.n + s.p.block - 1) / s.p.block),
        threads_(static_cast<std::size_t>(threads)),
        panels_(static_cast<std::size_t>(count_)),
        left_(new std::atomic<Index>[count_]) {}

  Index count() const { return count_; }        // of panels
  Index columns() const { return count_ + 1; }  // with the right side

  // Before the first panel.
  void start() {
    for (Index i = 0; i < s_.n; ++i) s_.row(i)[s_.n] = s_.factor * s_.b[i];
  }

  void factor(Index k, int thread = 0) {
    Own& own = threads_[static_cast<std::size_t>(thread)];
    auto& panel = panels_[static_cast<std::size_t>(k)];
    panel = free_panel(s_.n - columns(k).begin);
    own.pivoting.factor(s_, columns(k), *panel, own.product);
    left_[k] = count_ - k;
  }

  // Column j after panel k: exchanges, the rows of U next to the panel's triangle, and all below.
  void update(Index j, Index k, int thread = 0) {
    auto& panel = panels_[static_cast<std::size_t>(k)];
    const Columns p = columns(k), c = columns(j);
    for (Index r = p.begin; r < p.end; ++r) exchange(s_, r, c);
    threads_[static_cast<std::size_t>(thread)].product({panel->row(0), s_.row(p.begin) + c.begin, s_.ld, p.size(), c.size(),
                                                        panel->row(p.size()), s_.row(p.end) + c.begin, s_.ld, s_.n - p.end});
    if (left_[k].fetch_sub(1) == 1) give_back(std::move(panel));
  }

 private:
  struct Own {
    Product product;
    Pivoting<Product> pivoting;
  };
  using Memory = std::unique_ptr<Panel<Product>>;

  Columns columns(Index k) const {
    if (k == count_) return {s_.n, s_.n + 1};
    return {k * s_.p.block, std::min((k + 1) * s_.p.block, s_.n)};
  }

  // A panel that all columns behind it have seen makes room for another: the smallest with memory for so many rows, so that the next step
  // finds what it needs and no memory is new to it.
  Memory free_panel(Index rows) {
    const std::lock_guard lock(mutex_);
    auto best = free_.end();
    for (auto each = free_.begin(); each != free_.end(); ++each)
      if ((*each)->room() >= rows && (best == free_.end() || (*each)->room() < (*best)->room())) best = each;
    if (best == free_.end()) return std::make_unique<Panel<Product>>();
    Memory panel = std::move(*best);
    free_.erase(best);
    return panel;
  }
  void give_back(Memory panel) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(panel));
  }

  State& s_;
  Index count_;
  std::vector<Own> threads_;
  std::vector<Memory> panels_;
  std::unique_ptr<std::atomic<Index>[]> left_;  // columns that have not seen a panel yet
  std::mutex mutex_;
  std::vector<Memory> free_;
};

// One thread, panel after panel.
template <template <class> class Pivoting, class Product>
struct InTurn {
  std::unique_ptr<Tiles<Pivoting, Product>> tiles;

  void open(State& s) { tiles = std::make_unique<Tiles<Pivoting, Product>>(s, 1); }
  void step(State& s, Index) {
    tiles->start();
    for (Index k = 0; k < tiles->count(); ++k) {
      fl::during(phases("panels"), [&] { tiles->factor(k); });
      const fl::In in(phases("updates"));
      for (Index j = k + 1; j < tiles->columns(); ++j) tiles->update(j, k);
    }
    const fl::In in(phases("solve"));
    solve_upper(s);
  }
};

}  // namespace lu
