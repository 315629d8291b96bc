// Products on a device, in blocks of threads: compressed rows whose products a block's threads take side by side (CSR-stream, Greathouse and
// Daga 2014), and SELL, a thread a row. Rows are added up in their order, except for those that are longer than a block has room for.
// `Machine` is where that runs: Memory<T>; launch(kernel, blocks), a thread of which is kernel(block, shared); finish().
#pragma once

#include <vector>

#include "csr.hpp"
#include "firstlight/block.hpp"
#include "firstlight/variant.hpp"
#include "lanes.hpp"

namespace spmv {

inline constexpr int block_threads = 128;
inline constexpr int room = 1024;  // products that a block keeps

// Block b has rows rows[b] to rows[b + 1]: as many as its threads, whose products it keeps, or one that is longer.
struct RowsByBlock {
  struct Shared {
    double product[room], sum[block_threads];
  };
  const int *rows = nullptr, *start = nullptr, *column = nullptr;
  const double *value = nullptr, *x = nullptr;
  double* y = nullptr;
  double scale = 1;

  template <class B>
  FL_DEVICE void operator()(const B& block, Shared& shared) const {
    const int me = block.number(), first = rows[block.place.x], end = rows[block.place.x + 1], begin = start[first];
    const int entries = start[end] - begin;
    if (entries > room) {
      double mine = 0;
      for (int k = begin + me; k < begin + entries; k += block_threads) mine += value[k] * x[column[k]];
      const double sum = fl::sum_of_block<block_threads>(block, shared.sum, mine);
      if (me == 0) y[first] = scale * sum;
      return;
    }
    for (int k = me; k < entries; k += block_threads) shared.product[k] = value[begin + k] * x[column[begin + k]];
    block.barrier();
    if (const int row = first + me; row < end) {
      double sum = 0;
      for (int k = start[row]; k < start[row + 1]; ++k) sum += shared.product[k - begin];
      y[row] = scale * sum;
    }
  }
};

inline std::vector<int> rows_by_block(const Csr& a) {
  std::vector<int> rows{0};
  for (int i = 0; i < a.rows; ++i)
    if (i > rows.back() && (i - rows.back() == block_threads || a.start[i + 1] - a.start[rows.back()] > room)) rows.push_back(i);
  rows.push_back(static_cast<int>(a.rows));
  return rows;
}

struct LaneByThread {
  struct Shared {};
  const int *order = nullptr, *start = nullptr, *column = nullptr;
  const double *value = nullptr, *x = nullptr;
  double* y = nullptr;
  fl::Index rows = 0;
  double scale = 1;

  template <class B>
  FL_DEVICE void operator()(const B& block, Shared&) const {
    const fl::Index place = fl::Index{block.place.x} * block_threads + block.number();
    if (place >= rows) return;
    double sum = 0;
    for (fl::Index k = start[place / chunk]; k < start[place / chunk + 1]; ++k) {
      const fl::Index at = k * chunk + place % chunk;
      sum += value[at] * x[column[at]];
    }
    y[order[place]] = scale * sum;
  }
};

// x and y on the device, and copies of what a format stores.
template <class Machine>
class OnDevice {
 public:
  void close(State& s) { s.upload = s.download = {}; }

 protected:
  template <class T>
  using Memory = typename Machine::template Memory<T>;

  template <class T>
  static const T* copy(Memory<T>& to, const T* from, fl::Index size) {
    to.allocate(size);
    to.from(from);
    return to.data();
  }
  template <class Kernel>
  void take(State& s, Kernel& kernel) {
    x_.allocate(s.x.size());
    y_.allocate(s.y.size());
    s.upload = [this, &s] {
      x_.from(s.x.data());
      y_.from(s.y.data());
    };
    s.download = [this, &s] { y_.to(s.y.data()); };
    s.upload();
    kernel.x = x_.data();
    kernel.y = y_.data();
  }
  template <class Kernel>
  void run(Kernel& kernel, double scale, fl::Index blocks) {
    kernel.scale = scale;
    machine_.launch(kernel, static_cast<int>(blocks));
    machine_.finish();
  }

  Memory<int> order_, start_, column_;
  Memory<double> value_;

 private:
  Machine machine_;
  Memory<double> x_, y_;
};

template <class Machine>
class CsrOnDevice : public OnDevice<Machine> {
 public:
  void open(State& s) {
    const Csr a(s);
    const std::vector<int> rows = rows_by_block(a);
    blocks_ = static_cast<fl::Index>(rows.size()) - 1;
    kernel_.rows = this->copy(this->order_, rows.data(), blocks_ + 1);
    kernel_.start = this->copy(this->start_, a.start.data(), a.start.size());
    kernel_.column = this->copy(this->column_, a.column.data(), a.column.size());
    kernel_.value = this->copy(this->value_, a.value.data(), a.value.size());
    this->take(s, kernel_);
  }
  void step(State& s, fl::Index) { this->run(kernel_, s.scale, blocks_); }

 private:
  RowsByBlock kernel_;
  fl::Index blocks_ = 0;
};

template <class Machine>
class SellOnDevice : public OnDevice<Machine> {
 public:
  void open(State& s) {
    Sell a{Csr(s)};
    kernel_.rows = s.own.size();
    kernel_.order = this->copy(this->order_, a.order().data(), a.order().size());
    kernel_.start = this->copy(this->start_, a.start().data(), a.start().size());
    kernel_.column = this->copy(this->column_, a.column().data(), a.column().size());
    kernel_.value = this->copy(this->value_, a.value().data(), a.value().size());
    this->take(s, kernel_);
  }
  void step(State& s, fl::Index) { this->run(kernel_, s.scale, pieces(kernel_.rows, block_threads)); }

 private:
  LaneByThread kernel_;
};

template <class Machine>
struct DeviceFormats {
  using csr = CsrOnDevice<Machine>;
  using sell = SellOnDevice<Machine>;
  static constexpr fl::Kernel table[] = {FL_KERNEL(spmv, csr), FL_KERNEL(spmv, sell)};
};

}  // namespace spmv
