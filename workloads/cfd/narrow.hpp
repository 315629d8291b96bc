// Runs in 32 bits, where inputs and checks are of 64: what a variant computes on is a copy, which comes and goes outside of a step's time.
#pragma once

#include <optional>

#include "system.hpp"

namespace cfd {

template <class From, class To>
void convert(const FieldOf<From>& from, FieldOf<To>& to) {
  grid::each_cell(from.layout().with_halo(), [&](const Point& at) { to[at] = static_cast<To>(from[at]); });
}

// Runs in 64 bits or in 32, as requested.
template <class Wide, class Narrow>
class Either {
 public:
  void open(auto& s) { s.params.bits == 32 ? narrow_.emplace().open(s) : wide_.emplace().open(s); }
  void step(auto& s, Index iteration) { narrow_ ? narrow_->step(s, iteration) : wide_->step(s, iteration); }
  void close(auto& s) { narrow_ ? narrow_->close(s) : wide_->close(s); }

 private:
  std::optional<Wide> wide_;
  std::optional<Narrow> narrow_;
};

}  // namespace cfd
