// A device that a processor emulates: its memory, and what was started on it and has yet to be done. Some of that is done at once and the rest
// as late as a device may, when the program waits. A program that forgets to wait finds the old contents.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <utility>

#include "firstlight/workload.hpp"

namespace fl::inline FL_ROLE {

// Work in order.
class Started {
 public:
  void add(std::function<void()> work) {
    work_.push_back(std::move(work));
    if (std::popcount(number() / 4) % 2 == 0) all();  // in runs of four and eight, by a sequence (Thue's) without a period
  }
  // Returns the number of the work that was added last.
  std::size_t number() const { return done_ + work_.size(); }
  void up_to(std::size_t number) {
    while (done_ < number && !work_.empty()) {
      const std::function<void()> next = std::move(work_.front());
      work_.pop_front();
      ++done_;
      next();
    }
  }
  void all() { up_to(number()); }

  // Kernels, which come one after the other.
  static Started& kernels() {
    static Started all;
    return all;
  }

 private:
  std::deque<std::function<void()>> work_;
  std::size_t done_ = 0;
};

// A write outside of it is noticed; unwritten memory contains no numbers, as on a device. What is copied waits for all kernels, as CUDA's does.
template <class T>
class EmulatedMemory {
 public:
  void allocate(Index size) {
    memory_ = Array<T>(size);
    std::memset(static_cast<void*>(memory_.data()), 0xFF, static_cast<std::size_t>(size) * sizeof(T));
  }
  void from(const T* host) {
    Started::kernels().all();
    std::copy_n(host, memory_.size(), memory_.data());
  }
  void to(T* host) const {
    Started::kernels().all();
    std::copy_n(memory_.data(), memory_.size(), host);
  }
  T* data() { return memory_.data(); }

 private:
  Array<T> memory_;
};

// Concurrently with the kernels, in order.
class EmulatedQueue {
 public:
  void after_kernels() {
    mine_.add([number = Started::kernels().number()] { Started::kernels().up_to(number); });
  }
  template <class Work>
  void each(Index count, const Work& work) {
    mine_.add([=] {
      for (Index n = 0; n < count; ++n) work(n);
    });
  }
  template <class T>
  void to_device(T* to, const T* from, Index count) {
    copy(to, from, count);
  }
  template <class T>
  void to_host(T* to, const T* from, Index count) {
    copy(to, from, count);
  }
  void finish() { mine_.all(); }

 private:
  template <class T>
  void copy(T* to, const T* from, Index count) {
    mine_.add([=] { std::copy_n(from, count, to); });
  }

  Started mine_;
};

// The base of the machines that emulate a device: all but the launch of kernels.
struct EmulatedDevice {
  template <class T>
  using Memory = EmulatedMemory<T>;
  template <class T>
  using Pinned = Memory<T>;
  using Queue = EmulatedQueue;

  static void finish() { Started::kernels().all(); }
};

}  // namespace fl::inline FL_ROLE
