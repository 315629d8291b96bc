// The effect of busy threads on a message (R3's OS-overhead experiment): the master does the whole exchange, and the other threads of its
// process wait for it at a barrier, spinning, as the threads of a hybrid program do. With a processor for everyone it costs what
// mpi_irecv_isend_waitall costs and a barrier; without, the system must first take a processor away from a thread that spins.
#include <omp.h>

#include <atomic>

#include "kernels/sides.hpp"

namespace {

// Never yields its processor: that is the experiment.
void spin_until(const std::atomic<fl::Index>& counter, fl::Index number) {
  while (counter.load(std::memory_order_acquire) < number) {
  }
}

struct Exchange {
  halo::Sides all;
  std::atomic<int> arrived;
  std::atomic<fl::Index> passed;

  // The barrier that ends exchange `number`, counted from 1: the master comes last.
  void wait_for_master(fl::Index number) {
    arrived.fetch_add(1, std::memory_order_acq_rel);
    spin_until(passed, number);
  }

  void let_pass(fl::Index number, int others) {
    while (arrived.load(std::memory_order_acquire) < others) {
    }
    arrived.store(0, std::memory_order_relaxed);
    passed.store(number, std::memory_order_release);
  }

  void open(halo::State& s) { all.open(s); }

  void close(halo::State&) { all.close(); }

  void exchange(halo::State& s, fl::Index iteration) {
    halo::mutate_inputs(s, iteration);
    halo::two_packed_phases(s, all, halo::exchange);
  }

  void loop(halo::State& s, fl::Index first, fl::Index count) {
    arrived = 0;
    passed = 0;
#pragma omp parallel num_threads(s.team.threads)
    {
      const bool master = omp_get_thread_num() == 0;
      for (fl::Index k = 1; k <= count; ++k) {
        if (master) {
          exchange(s, first + k - 1);
          let_pass(k, omp_get_num_threads() - 1);
        } else {
          wait_for_master(k);
        }
      }
    }
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::narrow_in_place)
