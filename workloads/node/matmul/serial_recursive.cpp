// Halves the longest side until a box is small: fits every cache without knowing one (M. Frigo, C. Leiserson, H. Prokop, S. Ramachandran,
// FOCS 1999).
#include "kernels/rows.hpp"

#include "firstlight/variant.hpp"

namespace {

constexpr fl::Index small = 64;

template <class T>
void add(const matmul::Operands<T>& o, fl::Part rows, fl::Part sums, fl::Part columns) {
  const fl::Index longest = std::max({rows.size(), sums.size(), columns.size()});
  if (longest <= small) return matmul::add_box(o, rows, sums, columns);
  const auto halve = [](fl::Part side, auto both) {
    const fl::Index middle = side.begin + side.size() / 2;
    both({side.begin, middle}), both({middle, side.end});
  };
  if (rows.size() == longest)
    halve(rows, [&](fl::Part half) { add(o, half, sums, columns); });
  else if (columns.size() == longest)
    halve(columns, [&](fl::Part half) { add(o, rows, sums, half); });
  else
    halve(sums, [&](fl::Part half) { add(o, rows, half, columns); });
}

void step(matmul::State& s, fl::Index) {
  matmul::from_zero(s, [](const auto& o) { add(o, {0, o.n}, {0, o.n}, {0, o.n}); });
}

}  // namespace

FL_VARIANT(matmul, step)
