// What the loops work on: vectors of n = m * m elements, which loops over two dimensions take for m rows of m.
#pragma once

#include "firstlight/input_mutator.hpp"
#include "firstlight/workload.hpp"

namespace vectorise {

// All inputs are whole numbers, so that every sum is exact in any order.
struct State {
  fl::Index m = 0, n = 0;
  std::string kernel;
  fl::Index stride = 1;  // always; known at run time only
  double k = 2;
  fl::Array<double> a, b, c;     // -8 ... 8, never written
  fl::Array<double> d;           // 1 or -1
  fl::Array<double> x, y;        // written; the result of every loop is x
  fl::Array<double> x0, y0;      // what x and y are before a step
  fl::Array<int> p, inverse, q;  // a permutation, its inverse, and p / 4, which has each number four times
  fl::Array<int> rank;           // how many of a before element i are positive
  fl::Array<double> packed;      // the positive elements of a, then x0
  fl::Array<double> right;       // what x shall be
  fl::InputMutator changing;     // elements of a
};

}  // namespace vectorise
