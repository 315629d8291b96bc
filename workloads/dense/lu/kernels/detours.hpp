// Noise that is made on purpose: what a thread loses to detours of one length after gaps of no rule, as an operating system takes them.
// Drawn by the launch's seed, so that two ways to share work are met by the same.
#pragma once

#include <chrono>
#include <cmath>

#include "lu.hpp"

namespace lu {

// Seconds of a clock that only goes on.
inline double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

class Detours {
 public:
  // Starts the detours of one thread; they fill `noise` per cent of its time.
  Detours(const Params& p, Index thread)
      : length_(1e-6 * static_cast<double>(p.detour)),
        gap_(p.noise == 0 ? 0 : length_ * (100 - static_cast<double>(p.noise)) / static_cast<double>(p.noise)),
        state_(fl::hash(fl::seed() + static_cast<std::uint64_t>(thread))),
        next_(now() + gap()) {}

  // Takes the detours that have come due since the last call: work that waits for this thread waits as long.
  void take() {
    if (gap_ == 0) return;
    for (double time = now(); time >= next_;) {
      const double end = time + length_;
      while (time < end) time = now();
      next_ += length_ + gap();
    }
  }

 private:
  double gap() {
    state_ = fl::hash(state_);
    return -gap_ * std::log((static_cast<double>(state_ >> 11) + 1) * 0x1p-53);
  }

  double length_, gap_;
  std::uint64_t state_;
  double next_;
};

}  // namespace lu
