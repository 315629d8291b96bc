// Boxes of cells copied between memories of different strides: the bodies of packing and unpacking, for processors and devices.
//
// Strides are in elements, the last one is 1. A kernel of a device calls copy_cell for each cell with a thread of its own.
#pragma once

#include <cstdint>
#include <cstring>

#include "firstlight/host_device.hpp"
#include "firstlight/role.hpp"
#include "firstlight/split.hpp"

namespace fl::grid::inline FL_ROLE {

// Whole elements with what pads them.
template <class T>
FL_DEVICE void copy_element(T* to, const T* from) {
  std::memcpy(static_cast<void*>(to), static_cast<const void*>(from), sizeof(T));
}

// `rows` rows of `columns` elements. Columns of a few are the common case, and longer rows are copied whole.
template <class T>
inline void copy_rows(T* to, Index to_pitch, const T* from, Index from_pitch, Index rows, Index columns) {
  if (columns == 1) {
    for (Index r = 0; r < rows; ++r) copy_element(to + r * to_pitch, from + r * from_pitch);
  } else if (columns <= 4) {
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < columns; ++c) copy_element(to + r * to_pitch + c, from + r * from_pitch + c);
  } else {
    for (Index r = 0; r < rows; ++r)
      std::memcpy(static_cast<void*>(to + r * to_pitch), static_cast<const void*>(from + r * from_pitch),
                  static_cast<std::size_t>(columns) * sizeof(T));
  }
}

// A box of so many cells, given its first element on either side.
template <std::size_t D, class T>
inline void copy_cells(T* to, const Index* to_stride, const T* from, const Index* from_stride, const Index* size) {
  if constexpr (D == 1) {
    copy_rows(to, 0, from, 0, 1, size[0]);
  } else if constexpr (D == 2) {
    copy_rows(to, to_stride[0], from, from_stride[0], size[0], size[1]);
  } else {
    for (Index i = 0; i < size[0]; ++i)
      copy_cells<D - 1>(to + i * to_stride[0], to_stride + 1, from + i * from_stride[0], from_stride + 1, size + 1);
  }
}

// Cell k of that box, 0 <= k < the product of `size`, counted in memory order.
template <std::size_t D, class T>
FL_DEVICE void copy_cell(T* to, const Index* to_stride, const T* from, const Index* from_stride, const Index* size, Index k) {
  for (std::size_t d = D; d-- > 0; k /= size[d]) {
    to += k % size[d] * to_stride[d];
    from += k % size[d] * from_stride[d];
  }
  copy_element(to, from);
}

}  // namespace fl::grid::inline FL_ROLE
