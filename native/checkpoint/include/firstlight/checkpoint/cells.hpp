// Cells of a field as contiguous bytes, row by row.
#pragma once

#include <cstring>

#include "firstlight/checkpoint/manifest.hpp"
#include "firstlight/grid/grid.hpp"

namespace fl::checkpoints::inline FL_ROLE {

// visit(cell, bytes) for each run of a box that is contiguous in the field, in memory order of the box.
template <class Field, class Visit>
void each_run(Field& field, const Box3& local, const Visit& visit) {
  grid::each_row(local, [&](const Point3& p, Index count) {
    field.layout().each_strip({p, {p[0] + 1, p[1] + 1, p[2] + count}}, [&](const Box3& run, Index) {
      visit(&field[run.lower], static_cast<std::size_t>(run.size(2)) * sizeof field[run.lower]);
    });
  });
}

template <class T>
void copy_out(const grid::Field<T, 3>& field, const Box3& local, unsigned char* to) {
  each_run(field, local, [&](const T* from, std::size_t bytes) { std::memcpy(to, from, bytes), to += bytes; });
}
template <class T>
void copy_in(grid::Field<T, 3>& field, const Box3& local, const unsigned char* from) {
  each_run(field, local, [&](T* to, std::size_t bytes) { std::memcpy(static_cast<void*>(to), from, bytes), from += bytes; });
}

// Copies a box, in global coordinates, out of the bytes of a larger box.
inline void cut_out(const unsigned char* from, const Box3& whole, const Box3& box, std::size_t element, unsigned char* to) {
  grid::each_row(box, [&](const Point3& p, Index count) {
    const Point3 at = grid::minus<3>(p, whole.lower);
    const auto first = static_cast<std::size_t>((at[0] * whole.size(1) + at[1]) * whole.size(2) + at[2]);
    std::memcpy(to, from + first * element, static_cast<std::size_t>(count) * element);
    to += static_cast<std::size_t>(count) * element;
  });
}

}  // namespace fl::checkpoints::inline FL_ROLE
