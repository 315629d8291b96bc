// One value a cell of a block with its halo: rows along the last dimension, which is contiguous; each row starts aligned. Long rows may be cut
// into strips: so many columns of all rows are together, with halo columns of their own, as if another process had them.
#pragma once

#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>

#include "firstlight/grid/blocks.hpp"
#include "firstlight/grid/copy.hpp"
#include "firstlight/workload.hpp"

namespace fl::grid::inline FL_ROLE {

// Where the elements of a field lie; element numbers count from the first one in memory.
template <std::size_t D>
struct Layout {
  Point<D> size{}, halo{};
  Point<D> stride{};   // elements from a cell to the next one; the last is 1
  Index lead = 0;      // elements from the start of a row in memory to local coordinate 0
  Index pitch = 0;     // elements from the start of a row to the start of the next
  Index first = 0;     // own cell (0, ..., 0)
  Index elements = 0;  // in all
  Index strips = 1;    // one behind the other; lead, pitch and strides are those of each
  Index width = 0;     // columns of a strip; the last one may have fewer
  Index jump = 0;      // elements from where a strip's cells would be, if strides held across strips, to where those of the next one do

  Layout() = default;
  // Own cell 0 of every row, and of every strip's, is at a multiple of so many elements. Strips of about `most` columns; 0: one.
  Layout(const Point<D>& size, const Point<D>& halo, Index multiple, Index most = 0) : size(size), halo(halo), width(size[D - 1]) {
    const auto whole = [&](Index n) { return (n + multiple - 1) / multiple * multiple; };
    if (most > 0 && width > most) {
      const auto parts = [&](Index of) { return (size[D - 1] + of - 1) / of; };
      width = whole(std::max(parts(parts(most)), halo[D - 1]));
      strips = parts(width);
    }
    lead = whole(halo[D - 1]);
    pitch = whole(lead + width + halo[D - 1]);
    Index step = 1;
    first = lead;
    for (std::size_t d = D; d-- > 0;) {
      stride[d] = step;
      step *= d == D - 1 ? pitch : size[d] + 2 * halo[d];
      if (d < D - 1) first += halo[d] * stride[d];
    }
    elements = strips * step;
    jump = strips > 1 ? step - width : 0;
  }

  Index operator()(const Point<D>& local) const { return first + distance(local) + strip(local[D - 1]) * jump; }
  // Which one a column belongs to; halo columns to the adjacent one.
  Index strip(Index column) const { return strips == 1 ? 0 : std::clamp<Index>(column / width, 0, strips - 1); }
  // visit(part, n): what of a box is in strip n, for each that has something of it.
  template <class Visit>
  void each_strip(const Box<D>& box, const Visit& visit) const {
    if (box.empty()) return;
    for (Index n = strip(box.lower[D - 1]); n <= strip(box.upper[D - 1] - 1); ++n) {
      Box<D> mine = box;
      if (n > 0) mine.lower[D - 1] = std::max(box.lower[D - 1], n * width);
      if (n < strips - 1) mine.upper[D - 1] = std::min(box.upper[D - 1], (n + 1) * width);
      visit(static_cast<const Box<D>&>(mine), n);
    }
  }
  Index distance(const Point<D>& offset) const {
    Index n = 0;
    for (std::size_t d = 0; d < D; ++d) n += offset[d] * stride[d];
    return n;
  }
  Box<D> owned() const { return {{}, size}; }
  Box<D> with_halo() const { return owned().grown(halo); }
};

// What a kernel needs of a field, on processors and devices: the address of own cell (0, ..., 0) and strides. u(i, j, k) is a cell in
// local coordinates, halo cells included.
template <class T, std::size_t D>
struct View {
  T* origin = nullptr;
  Index stride[D] = {};  // in elements, the last is 1

  template <class... I>
  FL_DEVICE T& operator()(I... at) const {
    static_assert(sizeof...(I) == D);
    const Index x[D] = {static_cast<Index>(at)...};
    Index n = 0;
    for (std::size_t d = 0; d < D; ++d) n += x[d] * stride[d];
    return origin[n];
  }
};

inline constexpr Index cache_line = 64;  // bytes

// `alignment`, in bytes, divides a cache line; own cell 0 of every row is aligned to it. Guard bytes are before and behind. Elements are
// anything that can be copied byte by byte; memory is not initialised, so that threads can be the first to touch what they work on.
template <class T, std::size_t D>
class Field {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr Index guard = 2 * cache_line;  // bytes

  Field() = default;
  Field(const Point<D>& size, const Point<D>& halo, Index alignment = cache_line, Index strip = 0)
      : layout_(size, halo, multiple_of(alignment), strip), memory_(2 * guard + layout_.elements * static_cast<Index>(sizeof(T))) {}

  const Layout<D>& layout() const { return layout_; }
  const Point<D>& size() const { return layout_.size; }
  const Point<D>& halo() const { return layout_.halo; }

  // Element 0; layout().elements of them. Null where a field has none.
  T* data() { return memory_.size() > 0 ? elements() : nullptr; }
  const T* data() const { return memory_.size() > 0 ? elements() : nullptr; }
  // A cell in local coordinates, halo cells included.
  T& operator[](const Point<D>& local) { return elements()[layout_(local)]; }
  const T& operator[](const Point<D>& local) const { return elements()[layout_(local)]; }
  // Where there are strips, only that of the first one: what it tells of the columns of strip n and the halo columns beside them, in coordinates of
  // the whole field, is n * layout().jump elements behind.
  View<T, D> view() { return make_view(data() + layout_.first); }
  View<const T, D> view() const { return make_view(data() + layout_.first); }
  // The same of a copy of all elements elsewhere, as on a device.
  View<T, D> view(T* copy) const { return make_view(copy + layout_.first); }

  // Brings to halo columns between strips what is in the columns they are of, in all rows, those of halos, too; this share of it. What it
  // copies has arrived; all shares are done before any thread reads halo columns of strips.
  void join(Index share = 0, Index shares = 1) {
    const Index halo = layout_.halo[D - 1];
    for (Index n = 1; n < layout_.strips; ++n) {
      Box<D> box = layout_.with_halo();
      box.lower[D - 1] = n * layout_.width, box.upper[D - 1] = box.lower[D - 1] + 1;
      each_row(share_of(box, share, shares), [&](const Point<D>& p, Index) {
        T* const before = data() + layout_.first + layout_.distance(p) + (n - 1) * layout_.jump;
        T* const here = before + layout_.jump;
        for (Index c = 0; c < halo; ++c) copy_element(before + c, here + c), copy_element(here - 1 - c, before - 1 - c);
      });
    }
  }

  // The memory as it is, guards included.
  Array<unsigned char>& memory() { return memory_; }
  const Array<unsigned char>& memory() const { return memory_; }

 private:
  T* elements() { return reinterpret_cast<T*>(memory_.data() + guard); }
  const T* elements() const { return reinterpret_cast<const T*>(memory_.data() + guard); }
  static Index multiple_of(Index alignment) {
    static_assert(cache_line == 64);  // of which the message speaks; one more number in it, and GCC 12 warns of an overflow that is none
    require(alignment >= 1 && cache_line % alignment == 0,
            "the alignment of a field must divide 64 bytes, not " + std::to_string(alignment));
    return alignment / std::gcd(alignment, static_cast<Index>(sizeof(T)));
  }
  template <class Element>
  View<Element, D> make_view(Element* origin) const {
    View<Element, D> v;
    v.origin = origin;
    for (std::size_t d = 0; d < D; ++d) v.stride[d] = layout_.stride[d];
    return v;
  }

  Layout<D> layout_;
  Array<unsigned char> memory_;
};

// Zeros what thread `share` of `shares` computes on, by share_of(block.cells(), ...), with the halo next to it: between allocation and
// filling, by every thread of the team that computes, so that pages are near them.
template <class T, std::size_t D>
void first_touch(Field<T, D>& field, Index share, Index shares) {
  const Layout<D>& layout = field.layout();
  Box<D> mine = share_of(layout.owned(), share, shares);
  if (mine.empty()) return;
  for (std::size_t d = 0; d < D; ++d) {
    if (mine.lower[d] == 0) mine.lower[d] -= layout.halo[d];
    if (mine.upper[d] == layout.size[d]) mine.upper[d] += layout.halo[d];
  }
  layout.each_strip(mine, [&](const Box<D>& part, Index) {
    each_row(part, [&](const Point<D>& p, Index count) {
      std::memset(static_cast<void*>(&field[p]), 0, static_cast<std::size_t>(count) * sizeof(T));
    });
  });
}

}  // namespace fl::grid::inline FL_ROLE
