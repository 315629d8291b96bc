// Halves the longer side until a box is small: fits every cache without knowing one (M. Frigo, C. Leiserson, H. Prokop, S. Ramachandran,
// FOCS 1999).
#include "kernels/loops.hpp"

#include "firstlight/variant.hpp"

namespace {

constexpr fl::Index small = 16;

template <class T>
void turn(const transpose::Box<T>& box) {
  if (std::max(box.rows, box.columns) <= small) return transpose::by_loops(box);
  if (box.rows >= box.columns) {
    const fl::Index half = box.rows / 2;
    turn(box.part(0, 0, half, box.columns)), turn(box.part(half, 0, box.rows - half, box.columns));
  } else {
    const fl::Index half = box.columns / 2;
    turn(box.part(0, 0, box.rows, half)), turn(box.part(0, half, box.rows, box.columns - half));
  }
}

void step(transpose::State& s, fl::Index) {
  transpose::whole(s, [](const auto& box) { turn(box); });
}

}  // namespace

FL_VARIANT(transpose, step)
