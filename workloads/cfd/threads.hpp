// Who works on the rows of a block: threads of one process. What they compute is what one thread computes, bit for bit, sums included.
#pragma once

#include <omp.h>
#include <sched.h>

#include <atomic>
#include <vector>

#include "alone.hpp"
#include "firstlight/split.hpp"

namespace cfd {

class Threads : public OneProcess {
 public:
  template <class... Fields>
  void open(const grid::Block<3>& block, int threads, Fields&... /*halos*/) {
    threads_ = threads;
    done_ = std::vector<Progress>(static_cast<std::size_t>(threads));
    hold(block.size());
  }

  template <class Row>
  Sums each(const Point& size, Row row) {
    hold(size);
    in_team([&](Index me) {
      const fl::Part mine = rows_of(size, me);
      for (Index k = 0; k < size[0]; ++k)
        for (Index j = mine.begin; j < mine.end; ++j) at(size, k, j) = row(k, j);
    });
    return summed(size);
  }

  // Each thread has a slab of planes. The first planes are red before any black cell needs them; black on the first plane of a slab comes
  // last, for it needs the slab before.
  template <class Red, class Black>
  Sums both(const Point& size, Red red, Black black, Index /*cells*/ = 0) {
    const auto plane = [&](Index k, auto work) {
      for (Index j = 0; j < size[1]; ++j) work(k, j);
    };
    const auto reds = [&](Index k, Index j) { at(size, k, j) = red(k, j); };
    hold(size);
    in_team([&](Index me) {
      const fl::Part mine = planes_of(size, me);
      if (mine.size() > 0) plane(mine.begin, reds);
#pragma omp barrier
      for (Index k = mine.begin + 1; k < mine.end; ++k) {
        plane(k, reds);
        if (k - 1 > mine.begin) plane(k - 1, black);
      }
      if (mine.size() > 1) plane(mine.end - 1, black);
#pragma omp barrier
      if (mine.size() > 0) plane(mine.begin, black);
    });
    return summed(size);
  }

  template <class Row>
  void slabs(const Point& size, Row row) {
    in_team([&](Index me) {
      const fl::Part mine = planes_of(size, me);
      for (Index k = mine.begin; k < mine.end; ++k)
        for (Index j = 0; j < size[1]; ++j) row(k, j);
    });
  }

  // A pipeline: each thread has the same rows of every plane, and begins a plane when the one before has left it.
  template <class Row>
  Sums upwards(const Point& size, Row row) {
    begin();
    in_team([&](Index me) {
      const fl::Part mine = rows_of(size, me);
      for (Index k = 0; k < size[0]; ++k) {
        if (me > 0) await(me - 1, k + 1);
        for (Index j = mine.begin; j < mine.end; ++j) at(size, k, j) = row(k, j);
        publish(me, k + 1);
      }
    });
    return summed(size);
  }
  template <class Row>
  Sums downwards(const Point& size, Row row) {
    begin();
    in_team([&](Index me) {
      const fl::Part mine = rows_of(size, me);
      for (Index k = size[0]; k-- > 0;) {
        if (me + 1 < threads_) await(me + 1, size[0] - k);
        for (Index j = mine.end; j-- > mine.begin;) at(size, size[0] - 1 - k, size[1] - 1 - j) = row(k, j);
        publish(me, size[0] - k);
      }
    });
    return summed(size);
  }

  // How rows and planes are shared out, for who touches memory first.
  static fl::Part rows(const Point& size, Index threads, Index me) { return fl::part(size[1], threads, me); }
  static fl::Part planes(const Point& size, Index threads, Index me) { return fl::part(size[0], threads, me); }

 private:
  struct alignas(128) Progress {
    std::atomic<Index> planes = 0;
    Progress() = default;
    Progress(Progress&&) noexcept {}
  };

  template <class Work>
  void in_team(Work work) {
#pragma omp parallel num_threads(threads_)
    work(omp_get_thread_num());
  }
  fl::Part rows_of(const Point& size, Index me) const { return rows(size, threads_, me); }
  fl::Part planes_of(const Point& size, Index me) const { return planes(size, threads_, me); }
  // Sums of rows: of a whole grid that a process has, perhaps more than its block's.
  void hold(const Point& size) {
    const auto rows = static_cast<std::size_t>(size[0] * size[1]);
    if (sums_.size() < rows) sums_.resize(rows);
  }
  Sums& at(const Point& size, Index k, Index j) { return sums_[static_cast<std::size_t>(k * size[1] + j)]; }
  // In the order in which one thread goes through the rows.
  Sums summed(const Point& size) const {
    Sums all;
    for (Index n = 0; n < size[0] * size[1]; ++n) all += sums_[static_cast<std::size_t>(n)];
    return all;
  }

  void begin() {
    for (Progress& each : done_) each.planes.store(0, std::memory_order_relaxed);
  }
  void publish(Index me, Index planes) { done_[static_cast<std::size_t>(me)].planes.store(planes, std::memory_order_release); }
  // There may be more threads than processors: one that waits for long lets others run.
  void await(Index other, Index planes) const {
    constexpr int patience = 4096;
    const auto& there = done_[static_cast<std::size_t>(other)].planes;
    for (int looked = 0; there.load(std::memory_order_acquire) < planes;)
      if (++looked > patience) sched_yield();
  }

  int threads_ = 1;
  std::vector<Progress> done_;
  std::vector<Sums> sums_;  // of each row
};

}  // namespace cfd
