// Whether an exchange was right: every cell contains a value that follows from its place in the whole domain, its field and an iteration,
// so a value that is missing, old, or from anywhere else is found. Poison is wherever nothing may be written.
#pragma once

#include <cstring>
#include <string>

#include "firstlight/grid/field.hpp"
#include "firstlight/grid/plan.hpp"

namespace fl::grid::inline FL_ROLE {

inline constexpr unsigned char poison_byte = 0xFF;  // of a NaN, in float and double

// The value of a cell, by its number in the domain (Block::number).
template <class T>
T mark(std::uint64_t cell, std::uint64_t field, Index iteration) {
  std::uint64_t code = hash(cell + hash(field ^ hash(static_cast<std::uint64_t>(iteration))));
  unsigned char bytes[sizeof(T)];
  for (std::size_t i = 0; i < sizeof(T); i += 8) {
    std::memcpy(bytes + i, &code, std::min<std::size_t>(8, sizeof(T) - i));
    code = hash(code);
  }
  T value;
  std::memcpy(static_cast<void*>(&value), bytes, sizeof(T));
  if constexpr (std::is_floating_point_v<T>) {
    // Finite, so that no instruction may change it on its way: one bit of the exponent stays 0.
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    static_assert(sizeof(T) == sizeof(Bits));
    Bits bits;
    std::memcpy(&bits, &value, sizeof(T));
    bits &= ~(Bits{1} << (8 * sizeof(T) - 2));
    std::memcpy(&value, &bits, sizeof(T));
  }
  return value;
}

// Halo cells, padding and guards; own cells stay.
template <class T, std::size_t D>
void poison_halo(Field<T, D>& field) {
  const Layout<D>& layout = field.layout();
  unsigned char* const begin = field.memory().data();
  unsigned char* from = begin;
  const auto up_to = [&](unsigned char* end) { std::memset(from, poison_byte, static_cast<std::size_t>(end - from)); };
  layout.each_strip(layout.owned(), [&](const Box<D>& part, Index) {
    each_row(part, [&](const Point<D>& p, Index count) {
      auto* row = reinterpret_cast<unsigned char*>(&field[p]);
      up_to(row);
      from = row + count * static_cast<Index>(sizeof(T));
    });
  });
  up_to(begin + field.memory().size());
}

// Marks in all own cells, poison elsewhere.
template <class T, std::size_t D>
void put_marks(Field<T, D>& field, const Block<D>& block, std::uint64_t number, Index iteration) {
  poison_halo(field);
  each_cell(block.cells(), [&](const Point<D>& p) {
    const T value = mark<T>(block.number(block.global(p)), number, iteration);
    copy_element(&field[p], &value);
  });
}

struct Damage {
  Index values = 0;   // that are not what they should be; each guard counts as one
  std::string first;  // where, in words
};

// Every byte of a field after an exchange of marks: own cells and the halo cells that the options bring are marks of that iteration,
// everything else is poison. Not looked at: halo columns of adjacent strips, which an exchange leaves alone.
template <class T, std::size_t D>
void inspect(const Field<T, D>& field, const Block<D>& block, const Options& options, std::uint64_t number, Index iteration,
             Damage& damage) {
  const Layout<D>& layout = field.layout();
  unsigned char nothing[sizeof(T)];
  std::memset(nothing, poison_byte, sizeof(T));
  const auto found = [&](bool right, const std::string& what, const Point<D>& p) {
    if (right) return;
    if (damage.values++ == 0)
      damage.first = "rank " + std::to_string(block.rank) + ", field " + std::to_string(number) + ": " + what + " (" + words<D>(p) +
                     ") of a block of " + words<D>(block.size()) + " is wrong";
  };
  const Point<D> row_only = [&] {
    Point<D> p = layout.halo;
    p[D - 1] = 0;
    return p;
  }();
  each_row(layout.owned().grown(row_only), [&](Point<D> p, Index) {
    for (p[D - 1] = -layout.lead; p[D - 1] < (layout.strips - 1) * layout.width + layout.pitch - layout.lead; ++p[D - 1]) {
      Point<D> offset{};
      for (std::size_t d = 0; d < D; ++d) offset[d] = p[d] < 0 ? -1 : p[d] >= layout.size[d] ? 1 : 0;
      const bool own = dimensions_apart<D>(offset) == 0, padding = !layout.with_halo().contains(p);
      const bool brought = !own && !padding && within<D>(options.brings(), offset) && block.neighbour(offset) != Block<D>::none;
      T value;
      if (own || brought)
        value = mark<T>(block.number(block.global(p)), number, iteration);
      else
        std::memcpy(static_cast<void*>(&value), nothing, sizeof(T));
      if (std::memcmp(&value, &field[p], sizeof(T)) != 0) found(false, own ? "own cell" : padding ? "padding" : "halo cell", p);
    }
  });
  const Array<unsigned char>& memory = field.memory();
  for (const bool behind : {false, true}) {
    bool whole = true;
    for (Index i = 0; i < field.guard; ++i) whole = whole && memory[behind ? memory.size() - 1 - i : i] == poison_byte;
    found(whole, behind ? "the guard after the last cell" : "the guard before the first cell", {});
  }
}

}  // namespace fl::grid::inline FL_ROLE
