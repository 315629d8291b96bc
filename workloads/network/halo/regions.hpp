// Where words lie: the process grid, the eight directions, the regions that go and come, and how they are copied.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "firstlight/split.hpp"
#include "firstlight/workload.hpp"

namespace halo {

// --- processes -----------------------------------------------------------------------------------------------------------

// Sides first, two a phase; an even number and the odd one after it are opposite.
enum Direction { north, south, west, east, north_west, south_east, north_east, south_west };
inline constexpr int sides = 4, directions = 8;
inline constexpr const char* direction_name[directions] = {"north",      "south",      "west",       "east",
                                                           "north-west", "south-east", "north-east", "south-west"};
inline constexpr int row_step[directions] = {-1, 1, 0, 0, -1, 1, -1, 1};
inline constexpr int column_step[directions] = {0, 0, -1, 1, -1, 1, 1, -1};
inline constexpr Direction opposite(int d) { return static_cast<Direction>(d ^ 1); }

// Periodic in both dimensions; party r is in row r / columns and column r % columns.
struct Grid {
  int rows = 1, columns = 1;
  int neighbour(int party, int d) const {
    const int row = (party / columns + row_step[d] + rows) % rows, column = (party % columns + column_step[d] + columns) % columns;
    return row * columns + column;
  }
};

// As square as possible with rows <= columns, unless the rows are given; those must divide the number of parties.
inline Grid grid_of(int parties, fl::Index rows) {
  if (rows > 0) return {static_cast<int>(rows), parties / static_cast<int>(rows)};
  const auto [columns, fewer] = fl::process_grid<2>(parties, {parties, parties})->count;  // the larger count comes first
  return {static_cast<int>(fewer), static_cast<int>(columns)};
}

// --- words of one sub-domain -----------------------------------------------------------------------------------------------

// A sub-domain of n x n words with its halo: rows of `pitch` words, one behind the other.
struct Shape {
  fl::Index n = 0, width = 0, pitch = 0;  // in words
  int word = 8;                           // bytes
};

// In words; row 0 and column 0 are the outermost of the halo.
struct Region {
  fl::Index row = 0, column = 0, rows = 0, columns = 0;
  fl::Index words() const { return rows * columns; }
};

// First index and length along one dimension of what goes (step -1, 0, 1) that way, or of the halo that is there.
struct Span {
  fl::Index first, count;
};
inline Span going(const Shape& s, int step) {
  return step < 0 ? Span{s.width, s.width} : step > 0 ? Span{s.n, s.width} : Span{s.width, s.n};
}
inline Span lying(const Shape& s, int step) {
  return step < 0 ? Span{0, s.width} : step > 0 ? Span{s.width + s.n, s.width} : Span{s.width, s.n};
}

// Interior words that a neighbour needs; without corners for sides.
inline Region boundary(const Shape& s, int d) {
  const Span row = going(s, row_step[d]), column = going(s, column_step[d]);
  return {row.first, column.first, row.count, column.count};
}

// The part of the halo that a neighbour's words belong to.
inline Region ghost(const Shape& s, int d) {
  const Span row = lying(s, row_step[d]), column = lying(s, column_step[d]);
  return {row.first, column.first, row.count, column.count};
}

// The same with the corners above and below: what the second of two phases moves, so that corners arrive over two processes.
inline Region tall(const Shape& s, Region r) { return {0, r.column, s.pitch, r.columns}; }
inline Region outgoing(const Shape& s, int d) { return d >= west && d < sides ? tall(s, boundary(s, d)) : boundary(s, d); }
inline Region incoming(const Shape& s, int d) { return d >= west && d < sides ? tall(s, ghost(s, d)) : ghost(s, d); }

inline fl::Index offset(const Shape& s, const Region& r) { return (r.row * s.pitch + r.column) * s.word; }  // in bytes
inline fl::Index bytes(const Shape& s, const Region& r) { return r.words() * s.word; }

// --- copies ----------------------------------------------------------------------------------------------------------------

// `from_pitch` and `to_pitch` in words. Columns of one word are the common case, and rows are copied whole.
template <class Word>
inline void copy_words(unsigned char* to_bytes, fl::Index to_pitch, const unsigned char* from_bytes, fl::Index from_pitch, fl::Index rows,
                       fl::Index columns) {
  Word* to = reinterpret_cast<Word*>(to_bytes);
  const Word* from = reinterpret_cast<const Word*>(from_bytes);
  if (columns == 1) {
    for (fl::Index r = 0; r < rows; ++r) to[r * to_pitch] = from[r * from_pitch];
  } else if (columns <= 4) {
    for (fl::Index r = 0; r < rows; ++r)
      for (fl::Index c = 0; c < columns; ++c) to[r * to_pitch + c] = from[r * from_pitch + c];
  } else {
    for (fl::Index r = 0; r < rows; ++r)
      std::memcpy(to + r * to_pitch, from + r * from_pitch, static_cast<std::size_t>(columns) * sizeof(Word));
  }
}

inline void copy(const Shape& s, unsigned char* to, fl::Index to_pitch, const unsigned char* from, fl::Index from_pitch, fl::Index rows,
                 fl::Index columns) {
  if (s.word == 8)
    copy_words<std::uint64_t>(to, to_pitch, from, from_pitch, rows, columns);
  else
    copy_words<std::uint32_t>(to, to_pitch, from, from_pitch, rows, columns);
}

// A region of a field into contiguous memory, row by row, and back.
inline void pack(const Shape& s, const unsigned char* field, const Region& r, unsigned char* to) {
  copy(s, to, r.columns, field + offset(s, r), s.pitch, r.rows, r.columns);
}
inline void unpack(const Shape& s, const unsigned char* from, unsigned char* field, const Region& r) {
  copy(s, field + offset(s, r), s.pitch, from, r.columns, r.rows, r.columns);
}

// A region of one field into a region of the same extent, of the same field or another.
inline void copy(const Shape& s, const unsigned char* from, const Region& out, unsigned char* to, const Region& in) {
  copy(s, to + offset(s, in), s.pitch, from + offset(s, out), s.pitch, out.rows, out.columns);
}

}  // namespace halo
