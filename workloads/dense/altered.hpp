// Exchanges over MPI that do something wrong in the end, for variants that must be rejected.
#pragma once

#include <utility>

#include "messages.hpp"

namespace spectral {

// `End` is called instead of finish().
template <class End>
class Ending : public Exchange {
 public:
  Ending(std::unique_ptr<Exchange> exchange, Buffers& buffers) : exchange_(std::move(exchange)), buffers_(buffers) {}
  void start(int slice) override { exchange_->start(slice); }
  void finish() override { end_(*exchange_, buffers_); }

 private:
  std::unique_ptr<Exchange> exchange_;
  Buffers& buffers_;
  End end_;
};

template <class End>
struct Altered : Messages {
  struct Group : Messages::Group {
    std::unique_ptr<Exchange> exchange(Buffers& buffers) const {
      return ranks == 1 ? nullptr : std::make_unique<Ending<End>>(Messages::Group::exchange(buffers), buffers);
    }
  };
  using Messages::Messages;
  Group group(int colour, int order) const { return {Messages::group(colour, order)}; }
};

// What came first stays.
struct Stale {
  std::vector<Complex> kept;

  void operator()(Exchange& exchange, Buffers& b) {
    exchange.finish();
    if (kept.empty()) kept.assign(b.in.begin(), b.in.end());
    std::copy(kept.begin(), kept.end(), b.in.begin());
  }
};

}  // namespace spectral
