// A panel: rows of A, up to 256 columns of them, in memory of their own. It is factored by halves (S. Toledo, SIAM J. Matrix Anal. Appl. 18 (1997)
// 1065), of which the last are eight columns, by vectors that run down the rows. Rows that were chosen stand in `top`, for all who have a part
// of the panel: so what is done to a row does not depend on where it is.
#pragma once

#include <algorithm>

#include "product.hpp"

namespace lu {

// The largest of elements begin <= i < end of a column, of several the first: it is looked for in parts, so that what is found needs no second look
// at all of them.
inline Index largest(const double* column, Index begin, Index end) {
  using Vector = fl::simd::native<double>;
  constexpr int lanes = fl::simd::width<double>;
  constexpr Index part = 16 * lanes;
  double most = -1;
  Index in = begin;
  for (Index first = begin; first < end; first += part) {
    const Index last = std::min(first + part, end);
    Vector sizes{};
    double here = 0;
    Index i = first;
    for (; i + lanes <= last; i += lanes) {
      const Vector x = fl::simd::load<Vector>(column + i), size = x < 0 ? -x : x;
      sizes = size > sizes ? size : sizes;
    }
    for (; i < last; ++i) here = std::max(here, std::fabs(column[i]));
    for (int lane = 0; lane < lanes; ++lane) here = std::max(here, sizes[lane]);
    if (here > most) most = here, in = first;
  }
  for (Index i = in; i < std::min(in + part, end); ++i)
    if (std::fabs(column[i]) == most) return i;
  return begin;
}

// What a part of a panel has to offer as the next row: how large, where it is, the row, and the one that yields to it.
struct Offer {
  double size = -1;  // none
  double at = 0;
  double row[widest], giving[widest];
};

// The choice among the offers of several parts: the largest, and of several such the highest. `mine` is true if this part's offer is
// chosen.
struct Decision {
  const Offer *chosen, *giving;
  bool mine;
};

// One part has all rows; the largest of a column is taken.
struct Largest {
  Index pick(Index, const double* column, Index begin, Index end) const { return largest(column, begin, end); }
  Decision decide(const Offer& mine) const { return {&mine, &mine, true}; }
};

// Rows stay where they are.
struct AsTheyStand : Largest {
  Index pick(Index, const double*, Index begin, Index) const { return begin; }
};

template <class Product>
class Panel {
 public:
  // `at`: where each row is in A. The first `own` of them, all `width` or none, are those that others change places with.
  void open(Index width, Index own, std::vector<Index> at) {
    width_ = width, own_ = own, at_ = std::move(at);
    const Index room = rows() + fl::packed::tile_rows;
    if (memory_.size() < room * panel_stride) memory_ = fl::Array<double>(room * panel_stride);
    if (top_.size() == 0) top_ = fl::Array<double>((widest + fl::packed::tile_rows) * panel_stride);
    if (strips_.size() < room * few) strips_ = fl::Array<double>((room + 2 * lanes) * few);
    places_.assign(static_cast<std::size_t>(width), 0);
  }

  Index room() const { return memory_.size() / panel_stride - fl::packed::tile_rows; }  // for rows, without new memory
  Index rows() const { return static_cast<Index>(at_.size()); }
  Index width() const { return width_; }
  double* row(Index i) { return memory_.data() + i * panel_stride; }
  const double* row(Index i) const { return memory_.data() + i * panel_stride; }
  double* top(Index j) { return top_.data() + j * panel_stride; }
  const double* top(Index j) const { return top_.data() + j * panel_stride; }
  Index at(Index i) const { return at_[static_cast<std::size_t>(i)]; }
  Index place(Index j) const { return places_[static_cast<std::size_t>(j)]; }  // of the row that row j changed places with

  template <class Pivots>
  void factor(Pivots& pivots, Product& product) {
    if (width_ > 0) halves(0, width_, pivots, product);  // a group of a tournament may have no rows
    for (Index j = 0; j < own_; ++j) std::copy_n(top(j), width_, row(j));
  }

 private:
  using Vector = fl::simd::native<double>;
  static constexpr int lanes = fl::simd::width<double>;
  static constexpr Index few = 8;  // columns

  Index first_row(Index column) const { return own_ > 0 ? column : 0; }  // of those that were not chosen before this column

  template <class Pivots>
  void halves(Index begin, Index end, Pivots& pivots, Product& product) {
    if (end - begin <= few) return columns(begin, end, pivots);
    const Index middle = begin + ((end - begin) / 2 + few - 1) / few * few;
    halves(begin, middle, pivots, product);
    const Index active = first_row(middle);
    product({top(begin) + begin, top(begin) + middle, panel_stride, middle - begin, end - middle, row(active) + begin, row(active) + middle,
             panel_stride, rows() - active});
    halves(middle, end, pivots, product);
  }

  // A column of these, from row skip_ on.
  double* strip(Index column) { return strips_.data() + (column - begin_) * height_; }

  // Each column sees those before it when its turn has come: so it is written once.
  template <class Pivots>
  void columns(Index begin, Index end, Pivots& pivots) {
    begin_ = begin, end_ = end, skip_ = first_row(begin);
    const Index count = rows() - skip_;
    height_ = (count + lanes - 1) / lanes * lanes;
    into_strips(count);
    for (Index j = begin; j < end; ++j) {
      fl::simd::unroll<few>([&](auto before) {
        if (j - begin == before) after<before>(j);
      });
      choose(j, pivots);
    }
    const Vector inverse = inverse_of(end - 1);
    for (Index i = 0; i < height_; i += lanes) fl::simd::store(strip(end - 1) + i, fl::simd::load<Vector>(strip(end - 1) + i) * inverse);
    out_of_strips(count);
  }

  template <class Pivots>
  void choose(Index j, Pivots& pivots) {
    const Index least = first_row(j);
    Offer& mine = offer_;
    mine.size = -1;
    Index best = least;
    if (least < rows()) {
      best = skip_ + pivots.pick(j, strip(j), least - skip_, rows() - skip_);
      mine.size = std::fabs(strip(j)[best - skip_]), mine.at = static_cast<double>(at(best));
      read(best, mine.row);
    }
    if (own_ > 0) read(j, mine.giving);
    const Decision decision = pivots.decide(mine);
    const bool moved = decision.mine && !(own_ > 0 && best == j);
    std::copy_n(decision.chosen->row, width_, top(j));
    for (Index q = begin_; q < j; ++q)
      for (Index t = j + 1; t < end_; ++t) top(j)[t] -= top(j)[q] * top(q)[t];
    places_[static_cast<std::size_t>(j)] = static_cast<Index>(decision.chosen->at);
    if (moved) write(best, decision.giving->giving);
    if (own_ > 0)
      for (Index t = begin_; t < end_; ++t) strip(t)[j - skip_] = 0;  // it is in top; here it is chosen no more
  }

  void read(Index i, double* to) {
    std::copy_n(row(i), width_, to);
    for (Index t = begin_; t < end_; ++t) to[t] = strip(t)[i - skip_];
  }
  void write(Index i, const double* from) {
    std::copy_n(from, width_, row(i));
    for (Index t = begin_; t < end_; ++t) strip(t)[i - skip_] = from[t];
  }

  // Returns the inverse of a pivot. What is at most as large as the pivot becomes 1 at most, for rounding 1/p and the product adds half a
  // digit of 1's last at most.
  Vector inverse_of(Index j) const { return 1 / top(j)[j] - Vector{}; }

  // Column j after the `before` columns to its left, of which the last has not been divided by its pivot.
  template <int before>
  void after(Index j) {
    if constexpr (before > 0) {
      Vector above[before];
      fl::simd::unroll<before>([&](auto q) { above[q] = top(begin_ + q)[j] - Vector{}; });
      const Vector inverse = inverse_of(j - 1);
      double *left = strips_.data(), *last = strip(j - 1), *own = strip(j);
      for (Index i = 0; i < height_; i += lanes) {
        Vector x = fl::simd::load<Vector>(own + i);
        fl::simd::unroll<before - 1>([&](auto q) { x -= fl::simd::load<Vector>(left + q * height_ + i) * above[q]; });
        const Vector l = fl::simd::load<Vector>(last + i) * inverse;
        fl::simd::store(last + i, l);
        fl::simd::store(own + i, x - l * above[before - 1]);
      }
    }
  }

  // Squares of `lanes` rows and columns are turned; what is left over, element by element.
  void into_strips(Index count) {
    Index i = 0;
    if (end_ - begin_ == few)
      for (; i + lanes <= count; i += lanes)
        for (Index j = begin_; j < end_; j += lanes) turn(row(skip_ + i) + j, panel_stride, strip(j) + i, height_);
    for (; i < height_; ++i)
      for (Index j = begin_; j < end_; ++j) strip(j)[i] = i < count ? row(skip_ + i)[j] : 0;
  }
  void out_of_strips(Index count) {
    Index i = 0;
    if (end_ - begin_ == few)
      for (; i + lanes <= count; i += lanes)
        for (Index j = begin_; j < end_; j += lanes) turn(strip(j) + i, height_, row(skip_ + i) + j, panel_stride);
    for (; i < count; ++i)
      for (Index j = begin_; j < end_; ++j) row(skip_ + i)[j] = strip(j)[i];
  }
  static void turn(const double* from, Index ld_from, double* to, Index ld_to) {
    Vector rows[lanes];
    fl::simd::unroll<lanes>([&](auto r) { rows[r] = fl::simd::load<Vector>(from + r * ld_from); });
    fl::simd::transpose(rows);
    fl::simd::unroll<lanes>([&](auto r) { fl::simd::store(to + r * ld_to, rows[r]); });
  }

  Index width_ = 0, own_ = 0;
  std::vector<Index> at_, places_;
  fl::Array<double> memory_, top_, strips_;
  Index begin_ = 0, end_ = 0, skip_ = 0, height_ = 0;  // of the columns in strips_
  Offer offer_;
};

}  // namespace lu
