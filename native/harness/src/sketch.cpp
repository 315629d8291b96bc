#include "sketch.hpp"

#include <algorithm>
#include <cmath>

#include "comm.hpp"
#include "observed.hpp"

namespace fl {
namespace {

constexpr Index most_cells = Index{1} << 40;  // either way: the number of a cell times that of boxes stays an Index

[[noreturn]] void cannot_draw(const std::string& name, const char* why) {
  abort_all(text("the picture of %s cannot be drawn: %s", name.c_str(), why));
}

// The box of cell k of `cells`.
Index box_of(Index k, Index boxes, Index cells) { return k * boxes / cells; }
// How many cells are in a box: those whose k * boxes / cells is it.
Index cells_in(Index box, Index boxes, Index cells) { return ((box + 1) * cells + boxes - 1) / boxes - (box * cells + boxes - 1) / boxes; }

}  // namespace

void Sketch::of(const char* name, const char* unit, Index rows, Index columns) {
  expect_name(name);
  if (begun()) cannot_draw(name, "the picture already exists");
  if (std::min(rows, columns) < 1 || std::max(rows, columns) > most_cells) cannot_draw(name, "its size is impossible");
  name_ = name, unit_ = unit, rows_ = rows, columns_ = columns;
  high_ = std::min(rows, most), wide_ = std::min(columns, most);
  sums_.assign(static_cast<std::size_t>(2 * high_ * wide_), 0);
}

void Sketch::row(Index row, Index column, const double* values, Index count) { add(row, column, values, count); }
void Sketch::row(Index row, Index column, const float* values, Index count) { add(row, column, values, count); }

template <class T>
void Sketch::add(Index row, Index column, const T* values, Index count) {
  if (row < 0 || row >= rows_ || column < 0 || count < 0 || column + count > columns_) cannot_draw(name_, "a cell is outside the picture");
  double* sums = sums_.data() + box_of(row, high_, rows_) * wide_;
  double* cells = sums + high_ * wide_;
  for (Index k = 0; k < count; ++k) {
    const Index box = box_of(column + k, wide_, columns_);
    sums[box] += static_cast<double>(values[k]);
    cells[box] += 1;
  }
}

Sketch::Reduced Sketch::reduced() const {
  double sizes[4] = {static_cast<double>(rows_), static_cast<double>(columns_), -static_cast<double>(rows_),
                     -static_cast<double>(columns_)};
  comm::maximum(sizes, 4);
  if (sizes[0] != -sizes[2] || sizes[1] != -sizes[3]) cannot_draw(name_, "the ranks draw fields of different sizes");
  std::vector<double> all = sums_;
  comm::add_up(all.data(), static_cast<int>(all.size()));
  Reduced drawn;
  const std::size_t boxes = all.size() / 2;
  for (std::size_t k = 0; k < boxes; ++k) {
    const Index i = static_cast<Index>(k) / wide_, j = static_cast<Index>(k) % wide_;
    if (all[boxes + k] != static_cast<double>(cells_in(i, high_, rows_) * cells_in(j, wide_, columns_)))
      cannot_draw(name_, "cells were set twice or not at all");
    all[k] /= all[boxes + k];
  }
  all.resize(boxes);
  const bool finite = std::all_of(all.begin(), all.end(), [](double x) { return std::isfinite(x); });
  for (const double x : all) drawn.largest = finite ? std::max(drawn.largest, std::fabs(x)) : 0;
  for (Index i = 0; i < high_; ++i) {
    drawn.values.emplace_back();
    for (Index j = 0; j < wide_; ++j) {
      const double x = all[static_cast<std::size_t>(i * wide_ + j)];
      drawn.values.back().push_back(drawn.largest > 0 ? std::llround(static_cast<double>(finest) * (x / drawn.largest)) : 0);
    }
  }
  return drawn;
}

}  // namespace fl
