// Cells find their neighbours by number, as R2's program does, which does not use a structured grid: neighbour[6][cell], 32 bits.
#pragma once

#include "system.hpp"

namespace cfd {

// Numbers count from cell (0, 0, 0) of the block; cells of the halo have those of the neighbours that the layout has.
class Neighbours {
 public:
  void open(const grid::Layout<3>& layout) {
    first_ = layout.first;
    const grid::Box<3> all = layout.with_halo();
    for (std::size_t place = W; place <= T; ++place) {
      const auto [d, step] = side_of(place);
      auto& numbers = numbers_[place];
      numbers = fl::Array<std::int32_t>(layout.elements);
      std::fill_n(numbers.data(), layout.elements, 0);
      grid::each_cell(all, [&, d = d, step = step](const Point& x) {
        Point next = x;
        next[d] += step;
        if (all.contains(next)) numbers[layout(x)] = static_cast<std::int32_t>(layout.distance(next));
      });
    }
  }
  // Returns the numbers of the neighbours on that side, indexed by the number of the cell.
  const std::int32_t* operator[](std::size_t place) const { return numbers_[place].data() + first_; }

 private:
  std::array<fl::Array<std::int32_t>, 7> numbers_;
  Index first_ = 0;
};

}  // namespace cfd
