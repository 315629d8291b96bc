// Products of tall matrices by small ones, rows of both contiguous; whole packs of columns.
#pragma once

#include "stencil.hpp"

namespace rsdft {

// Columns of a matrix: the first element, and elements from a row to the next.
template <class T>
struct Columns {
  T* first;
  Index stride;
};

struct PlainProducts {
  // c (m x n) += a^T b over so many rows
  static void inner(Index rows, Index m, Index n, Columns<const double> a, Columns<const double> b, Columns<double> c) {
    for (Index k = 0; k < rows; ++k)
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < n; ++j) c.first[i * c.stride + j] += a.first[k * a.stride + i] * b.first[k * b.stride + j];
  }
  // c (rows x n) += alpha a (rows x m) b (m x n)
  static void outer(Index rows, Index m, Index n, double alpha, Columns<const double> a, Columns<const double> b, Columns<double> c) {
    for (Index k = 0; k < rows; ++k)
      for (Index i = 0; i < m; ++i) {
        const double left = alpha * a.first[k * a.stride + i];
        for (Index j = 0; j < n; ++j) c.first[k * c.stride + j] += left * b.first[i * b.stride + j];
      }
  }
};

}  // namespace rsdft
