// Tiles of spmv, with sides that a small matrix has many of, as functions that Python can call.
#include "../../support/heap.hpp"
#include "workloads/sparse/spmv/kernels/tiled.hpp"

namespace {

constexpr fl::Index side = 8;

spmv::State with(int rows, const int* start, const int* column, const double* value, int threads) {
  sparse::Entries entries;
  entries.start.assign(start, start + rows + 1);
  entries.column.assign(column, column + start[rows]);
  entries.value.assign(value, value + start[rows]);
  spmv::State s;
  s.matrix = spmv::Matrix(std::move(entries));
  s.own = {0, rows};
  s.team.threads = threads;
  return s;
}

}  // namespace

extern "C" {
// y = scale A x, by so many blocks of rows one after the other; how many there are.
int multiply(int rows, const int* start, const int* column, const double* value, int threads, const double* x, double* y, double scale) {
  const spmv::Tiled<side> a{spmv::Csr(with(rows, start, column, value, threads))};
  for (fl::Index u = 0; u < a.units(); ++u) a.multiply(x, y, scale, {u, u + 1});
  return static_cast<int>(a.units());
}
double stored(int rows, const int* start, const int* column, const double* value, int threads) {
  return static_cast<double>(spmv::in_tiles(with(rows, start, column, value, threads).matrix, {0, rows}, threads, side));
}
}
