// Matrices whose rows are divided among the processes of a group, transposed: their columns become lines, divided alike. And lines
// transformed.
#pragma once

#include <algorithm>

#include "exchange.hpp"
#include "firstlight/split.hpp"

namespace spectral {

// A transpose of so many rows at once writes two lines of a cache in one go, and reads as many places that may be all in one of its sets.
inline constexpr Index block_rows = 8;

// Rows, one behind the other at a distance.
struct Rows {
  const Complex* at;
  Index stride;
};

struct Columns {
  Complex* at;
  Index stride;
};

// Columns of `count` rows behind each other; as many as are known when this is compiled, or 0.
template <Index known>
inline void turn(const Rows& from, Index columns, Index count, const Columns& to) {
  for (Index j = 0; j < columns; ++j)
    for (Index k = 0; k < (known != 0 ? known : count); ++k) to.at[j * to.stride + k] = from.at[k * from.stride + j];
}
inline void turn(const Rows& from, Index columns, Index count, const Columns& to) {
  count == block_rows ? turn<block_rows>(from, columns, count, to) : turn<0>(from, columns, count, to);
}

// What comes first: all blocks of a matrix, or a block of each.
enum class First { matrices, rows };

// `batch` matrices of `rows` x `columns`. They come in blocks of rows, which are packed at once, so that a row that was just transformed is
// still in a cache; lines are put together from what came when they are requested. So nothing is written only to be transposed.
template <class Group>
class Transposed {
 public:
  static constexpr Index high = block_rows;

  Transposed(Group group, Index batch, Index rows, Index columns, First first = First::matrices)
      : group_(std::move(group)),
        batch_(batch),
        rows_(rows),
        columns_(columns),
        by_batch_(first == First::matrices && batch >= group_.slices) {
    const int me = group_.rank, ranks = group_.ranks;
    buffers_.to = buffers_.from = Parts(ranks);
    const Index longest = batch * longest_part(rows) * longest_part(columns);
    for (int s = 0; s < group_.slices; ++s)
      for (int q = 0; q < ranks; ++q) {
        const Index matrices = batch_in(s).size();
        buffers_.to.add(group_.even ? longest : q == me ? 0 : matrices * rows_in(me, s).size() * part_of(columns, q).size());
        buffers_.from.add(group_.even ? longest : matrices * rows_in(q, s).size() * part_of(columns, me).size());
      }
    buffers_.out = fl::Array<Complex>(buffers_.to.total());
    buffers_.in = fl::Array<Complex>(buffers_.from.total());
    exchange_ = group_.exchange(buffers_);
  }
  Transposed(const Transposed&) = delete;
  Transposed& operator=(const Transposed&) = delete;

  // rows(b, i, count) returns `count` rows of matrix b, from row i of this process on, for one block after the other.
  template <class GetRows>
  void operator()(GetRows rows) {
    travel(rows, [&](int slice, Index b) {
      const int me = group_.rank;
      Complex* part =
          group_.even ? buffers_.out.data() + buffers_.to.begin(slice, me) : buffers_.in.data() + buffers_.from.begin(slice, me);
      const Index height = rows_in(me, slice).size();
      return Columns{part + (b - batch_in(slice).begin) * height * width(), height};
    });
  }

  // Does the same for one matrix. Its lines end up behind each other in `result`; what stays in the process is written there directly.
  template <class GetRows>
  void into(Complex* result, GetRows rows) {
    const Index before = part_of(rows_, group_.rank).begin;
    travel(rows, [&](int slice, Index) { return Columns{result + before + rows_in(group_.rank, slice).begin, rows_}; });
    const fl::In in(phases("reorder"));
    for (Index j = 0; j < width(); ++j) collect(0, j, result + j * rows_, group_.rank);
  }

  // Line j of this process of matrix b.
  void line(Index b, Index j, Complex* to) const { collect(b, j, to, nobody); }

 private:
  static constexpr int nobody = -1;

  fl::Part part_of(Index n, int q) const { return fl::part(n, group_.ranks, q); }
  Index longest_part(Index n) const { return (n + group_.ranks - 1) / group_.ranks; }
  Index width() const { return part_of(columns_, group_.rank).size(); }
  // What a slice has: of several matrices some, else some rows of each process, which are counted from its first.
  fl::Part batch_in(int slice) const { return by_batch_ ? fl::part(batch_, group_.slices, slice) : fl::Part{0, batch_}; }
  fl::Part rows_in(int q, int slice) const {
    const Index all = part_of(rows_, q).size();
    return by_batch_ ? fl::Part{0, all} : fl::part(all, group_.slices, slice);
  }

  template <class GetRows, class Own>
  void travel(GetRows rows, Own own) {
    for (int slice = 0; slice < group_.slices; ++slice) {
      const fl::Part mine = rows_in(group_.rank, slice), matrices = batch_in(slice);
      const auto block = [&](Index b, Index i) {
        const Index count = std::min(high, mine.end - i);
        const Rows source_rows = rows(b, i, count);
        const fl::In in(phases("reorder"));
        pack(slice, b, i - mine.begin, count, source_rows, own(slice, b));
      };
      if (by_batch_)
        for (Index b = matrices.begin; b < matrices.end; ++b)
          for (Index i = mine.begin; i < mine.end; i += high) block(b, i);
      else
        for (Index i = mine.begin; i < mine.end; i += high)
          for (Index b = matrices.begin; b < matrices.end; ++b) block(b, i);
      if (exchange_ == nullptr) continue;
      const fl::In in(phases("exchange"));
      exchange_->start(slice);
    }
    if (exchange_ == nullptr) return;
    const fl::In in(phases("exchange"));
    exchange_->finish();
  }

  void pack(int slice, Index b, Index i, Index count, const Rows& block, const Columns& own) {
    const Index height = rows_in(group_.rank, slice).size(), matrix = b - batch_in(slice).begin;
    for (int q = 0; q < group_.ranks; ++q) {
      const fl::Part columns = part_of(columns_, q);
      Columns to = own;
      if (q != group_.rank) to = {buffers_.out.data() + buffers_.to.begin(slice, q) + matrix * height * columns.size(), height};
      turn({block.at + columns.begin, block.stride}, columns.size(), count, {to.at + i, to.stride});
    }
  }

  void collect(Index b, Index j, Complex* to, int but_of) const {
    for (int slice = 0; slice < group_.slices; ++slice) {
      const fl::Part matrices = batch_in(slice);
      if (b < matrices.begin || b >= matrices.end) continue;
      for (int q = 0; q < group_.ranks; ++q) {
        if (q == but_of) continue;
        const fl::Part rows = rows_in(q, slice);
        const Complex* from = buffers_.in.data() + buffers_.from.begin(slice, q) + ((b - matrices.begin) * width() + j) * rows.size();
        std::copy_n(from, rows.size(), to + part_of(rows_, q).begin + rows.begin);
      }
    }
  }

  Group group_;
  Index batch_, rows_, columns_;
  bool by_batch_;
  Buffers buffers_;
  std::unique_ptr<Exchange> exchange_;
};

struct AsItIs {};

// Lines of one length, a few at a time.
template <class Fourier>
class Lines {
 public:
  Lines(Index length, bool back)
      : fourier_(length),
        length_(length),
        stride_(length + 8),
        back_(back),
        gathered_(block_rows * stride_),
        transformed_(block_rows * stride_) {}

  // take(k, to) writes line k of `count`; factor(k, i, value) is what becomes of point i of its transform. The lines lie here until the
  // next call.
  template <class Take, class Factor>
  Rows operator()(Index count, Take take, Factor factor) {
    gather(count, take);
    return of({gathered_.data(), stride_}, count, factor);
  }
  // The same to lines behind each other.
  template <class Take, class Factor>
  void to(Complex* result, Index count, Take take, Factor factor) {
    gather(count, take);
    transform({gathered_.data(), stride_}, count, factor, result, length_);
  }
  // Transforms lines that are stored somewhere else.
  template <class Factor>
  Rows of(const Rows& from, Index count, Factor factor) {
    transform(from, count, factor, transformed_.data(), stride_);
    return {transformed_.data(), stride_};
  }

 private:
  template <class Take>
  void gather(Index count, Take take) {
    const fl::In in(phases("reorder"));
    for (Index k = 0; k < count; ++k) take(k, gathered_.data() + k * stride_);
  }
  template <class Factor>
  void transform(const Rows& from, Index count, Factor factor, Complex* to, Index stride) {
    const fl::In in(phases("transforms"));
    for (Index k = 0; k < count; ++k, to += stride) {
      const Complex* line = from.at + k * from.stride;
      back_ ? fourier_.backward(line, to) : fourier_.forward(line, to);
      if constexpr (!std::is_same_v<Factor, AsItIs>)
        for (Index i = 0; i < length_; ++i) to[i] = factor(k, i, to[i]);
    }
  }

  Fourier fourier_;
  Index length_, stride_;
  bool back_;
  fl::Array<Complex> gathered_, transformed_;
};

}  // namespace spectral
