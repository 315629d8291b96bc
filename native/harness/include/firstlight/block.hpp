// A block of threads of a device with its shared memory and its barriers: the body of a kernel is one function for the device, where a
// thread runs it, and for a processor, where a fiber does, so that it is tested where no GPU is.
//
//   struct Tile { float p[8][32]; };                                                    // shared memory
//   FL_DEVICE void smooth(const fl::Block& block, Tile& tile, const Job& job) {
//     tile.p[block.thread.y][block.thread.x] = ...;  block.barrier();  ... tile.p[block.thread.y][block.thread.x ^ 1] ...
//   }
//   __global__ void kernel(Job job) { __shared__ Tile tile; smooth(fl::here(), tile, job); }                            nvcc
//   fl::each_block<Tile>(blocks, threads, [&](const fl::Block& block, Tile& tile) { smooth(block, tile, job); });       any compiler
//
// On a processor blocks run one after the other, on shared memory of all ones (NaN) each. Between two barriers the fibers run one after
// the other. Both orders are drawn anew each time: a thread that reads what another has yet to write, or writes what another has yet to
// read, finds something else than with a barrier there, and so does a block that relies on another one of the same kernel. A block of which
// some threads leave while others wait ends the program, and so does a write next to the shared memory. Where there is no shared memory
// (`struct Shared {}`), no thread may wait, none has a fiber, and the threads of all blocks run in a drawn order.
#pragma once

#include "firstlight/host_device.hpp"
#include "firstlight/role.hpp"

#if !defined(__CUDACC__)
#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>
#endif

namespace fl::inline FL_ROLE {

// The size of a block in threads or of a grid in blocks, or a place in either.
struct Extent {
  int x = 1, y = 1, z = 1;
};

#if !defined(__CUDACC__)
namespace seam {

// Draws a number below n: the same ones in every execution of a program (Marsaglia's xorshift).
inline std::size_t drawn_below(std::size_t n) {
  static thread_local std::uint64_t random = 88172645463325252;
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  return random % n;
}

// Visits the numbers below n in a drawn order: from anywhere on, by steps that have no divisor in common with n.
template <class Visit>
void in_drawn_order(std::size_t n, const Visit& visit) {
  if (n == 0) return;
  std::size_t step = 0, at = drawn_below(n);
  while (std::gcd(step, n) != 1) step = 1 + drawn_below(n);
  for (std::size_t k = 0; k < n; ++k, at = (at + step) % n) visit(static_cast<int>(at));
}

// Functions that take turns: each runs until it waits.
class Fibers {
 public:
  explicit Fibers(int count)
      : at_(static_cast<std::size_t>(count)),
        over_(at_.size()),
        order_(at_.size()),
        stacks_(static_cast<char*>(std::malloc(at_.size() * stack))) {
    if (stacks_ == nullptr) fail("no memory for the stacks of a block's threads");
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;
  ~Fibers() { std::free(stacks_); }

  // body(k) by fiber k, each of them to its end.
  void run(const std::function<void(int)>& body) {
    body_ = &body;
    for (std::size_t k = 0; k < at_.size(); ++k) start(k);
    Fibers* const outer = std::exchange(current_, this);
    for (;;) {
      shuffle();
      std::size_t ended = 0;
      for (const std::size_t k : order_) {
        running_ = k;
        swapcontext(&home_, &at_[running_]);
        ended += over_[running_] != 0 ? 1 : 0;
      }
      if (ended == at_.size()) break;
      if (ended != 0) fail("some threads left their block while others wait at a barrier");
    }
    current_ = outer;
  }

  [[noreturn]] static void fail(const char* why) {
    std::fprintf(stderr, "block: %s\n", why);
    std::abort();
  }

  static void wait() {
    if (current_ == nullptr) fail("a barrier outside of each_block()");
    Fibers& f = *current_;
    swapcontext(&f.at_[f.running_], &f.home_);
  }

 private:
  static constexpr std::size_t stack = std::size_t{128} << 10;  // bytes of each

  void shuffle() {
    for (std::size_t k = order_.size(); k > 1; --k) std::swap(order_[k - 1], order_[drawn_below(k)]);
  }
  void start(std::size_t k) {
    over_[k] = 0;
    if (getcontext(&at_[k]) != 0) fail("this system provides no context for a block's threads");
    at_[k].uc_stack.ss_sp = stacks_ + k * stack;
    at_[k].uc_stack.ss_size = stack;
    at_[k].uc_link = &home_;
    makecontext(&at_[k], &Fibers::enter, 0);
  }
  static void enter() {
    Fibers& f = *current_;
    (*f.body_)(static_cast<int>(f.running_));
    f.over_[f.running_] = 1;
  }

  static inline thread_local Fibers* current_ = nullptr;

  const std::function<void(int)>* body_ = nullptr;
  std::vector<ucontext_t> at_;
  std::vector<char> over_;
  std::vector<std::size_t> order_;  // in which the fibers run until the next barrier
  char* stacks_;
  ucontext_t home_{};
  std::size_t running_ = 0;
};

// Shared memory of a block between two zones that no thread may write to.
template <class Shared>
class Fenced {
 public:
  void clear() { std::memset(memory_, 0xFF, sizeof memory_); }
  Shared& shared() { return *reinterpret_cast<Shared*>(memory_ + zone); }
  bool whole() const {
    const auto untouched = [](unsigned char byte) { return byte == 0xFF; };
    return std::all_of(memory_, memory_ + zone, untouched) && std::all_of(memory_ + zone + sizeof(Shared), std::end(memory_), untouched);
  }

 private:
  static_assert(std::is_trivially_copyable_v<Shared>);
  static constexpr std::size_t zone = 512;  // bytes
  static_assert(zone % alignof(Shared) == 0);

  alignas(64) alignas(Shared) unsigned char memory_[zone + sizeof(Shared) + zone];
};

}  // namespace seam
#endif

// Where a thread is. Every thread of a block comes to each of its barriers, or none does.
struct Block {
  Extent thread{0, 0, 0}, threads{};  // in the block
  Extent place{0, 0, 0}, blocks{};    // of the block in the grid

  FL_DEVICE void barrier() const {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#elif !defined(__CUDACC__)
    seam::Fibers::wait();
#endif
  }
  // Returns the number of this thread in its block, x fastest.
  FL_DEVICE int number() const { return (thread.z * threads.y + thread.y) * threads.x + thread.x; }
};

// The sum of `mine` over a block of `threads` threads, to each of them; `shared` is for this alone. Some threads add up a run each, and
// every one these sums: few barriers, and as fast as a tree.
template <int threads, class B>
FL_DEVICE double sum_of_block(const B& block, double (&shared)[threads], double mine) {
  constexpr int run = threads < 16 ? threads : 16;
  static_assert(threads % run == 0);
  const int me = block.number();
  block.barrier();  // what an earlier sum left is read
  shared[me] = mine;
  block.barrier();
  if (me % run == 0)
    for (int k = 1; k < run; ++k) shared[me] += shared[me + k];
  block.barrier();
  double all = 0;
  for (int k = 0; k < threads; k += run) all += shared[k];
  return all;
}

// *to += value, by many threads at once.
FL_DEVICE void add(double* to, double value) {
#if defined(__CUDA_ARCH__)
  atomicAdd(to, value);
#else
  *to += value;
#endif
}

#if defined(__CUDACC__)

// In a kernel.
__device__ inline Block here() {
  const auto extent = [](auto e) { return Extent{static_cast<int>(e.x), static_cast<int>(e.y), static_cast<int>(e.z)}; };
  return {extent(threadIdx), extent(blockDim), extent(blockIdx), extent(gridDim)};
}

#else

// body(block, shared) by every thread of every block.
template <class Shared, class Body>
void each_block(const Extent& blocks, const Extent& threads, const Body& body) {
  const auto place = [](const Extent& all, int k) { return Extent{k % all.x, k / all.x % all.y, k / (all.x * all.y)}; };
  const int in_block = threads.x * threads.y * threads.z;
  const auto count = static_cast<std::size_t>(blocks.x) * static_cast<std::size_t>(blocks.y) * static_cast<std::size_t>(blocks.z);
  if constexpr (std::is_empty_v<Shared>) {
    Shared nothing;
    seam::in_drawn_order(count * static_cast<std::size_t>(in_block),
                         [&](int k) { body(Block{place(threads, k % in_block), threads, place(blocks, k / in_block), blocks}, nothing); });
  } else {
    seam::Fenced<Shared> memory;
    seam::Fibers fibers(in_block);
    seam::in_drawn_order(count, [&](int n) {
      memory.clear();
      fibers.run([&](int k) { body(Block{place(threads, k), threads, place(blocks, n), blocks}, memory.shared()); });
      if (!memory.whole()) seam::Fibers::fail("a thread wrote next to the shared memory of its block");
    });
  }
}

#endif

}  // namespace fl::inline FL_ROLE
