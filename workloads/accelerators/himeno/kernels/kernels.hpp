// The sweep by the threads of a device, in three ways: one body for the device and, by fibers, for a processor (firstlight/block.hpp).
// Neighbouring threads work on neighbouring points of a row, whose numbers are side by side.
#pragma once

#include "firstlight/block.hpp"
#include "firstlight/grid/field.hpp"
#include "point.hpp"

namespace himeno::device {

using fl::Extent;
using fl::Index;

// The points `lower` to `upper`, in local coordinates, of one sweep.
struct Job {
  Coefficients coefficients;
  Index stride[3] = {};  // of coefficients; that of p and next is theirs
  fl::grid::View<const float, 3> p;
  fl::grid::View<float, 3> next;
  int lower[3] = {}, upper[3] = {};
  double* gosa = nullptr;  // the sum of the squares is added

  FL_DEVICE Index coefficient(Index i, Index j, Index k) const { return i * stride[0] + j * stride[1] + k; }
  int size(int d) const { return upper[d] - lower[d]; }
};

inline fl::grid::View<const float, 3> constant(const fl::grid::View<float, 3>& v) {
  return {v.origin, {v.stride[0], v.stride[1], v.stride[2]}};
}

inline int blocks_of(int points, int each) { return (points + each - 1) / each; }

// A number that is read once, and one that neighbouring threads read again.
FL_DEVICE float once(const float* x) {
#if defined(__CUDA_ARCH__)
  return __ldcs(x);
#else
  return *x;
#endif
}
FL_DEVICE float again(const float* x) {
#if defined(__CUDA_ARCH__)
  return __ldg(x);
#else
  return *x;
#endif
}

// Returns the new value of a point whose neighbours p(di, dj, dk) returns, and the square of the change before relaxation.
template <class Read, class P>
FL_DEVICE double update(const Job& job, Index i, Index j, Index k, Read read, P p) {
  const float ss = residual<float>(job.coefficients, job.coefficient(i, j, k), read, p);
  job.next(i, j, k) = p(0, 0, 0) + omega * ss;
  return static_cast<double>(ss) * static_cast<double>(ss);
}

template <int threads, class B>
FL_DEVICE void add_up(const B& block, double (&shared)[threads], const Job& job, double mine) {
  const double all = fl::sum_of_block(block, shared, mine);
  if (block.number() == 0) fl::add(job.gosa, all);
}

// A thread a point, as the loops would be written.
struct Naive {
  static constexpr int wide = 32, high = 4;
  static constexpr Extent threads{wide, high, 1};
  struct Shared {
    double sums[wide * high];
  };
  static Extent blocks(const Job& job) { return {blocks_of(job.size(2), wide), blocks_of(job.size(1), high), job.size(0)}; }

  template <class B>
  FL_DEVICE static void run(const B& block, Shared& shared, const Job& job) {
    const int i = job.lower[0] + block.place.z;
    const int j = job.lower[1] + block.place.y * high + block.thread.y, k = job.lower[2] + block.place.x * wide + block.thread.x;
    double mine = 0;
    if (j < job.upper[1] && k < job.upper[2])
      mine = update(job, i, j, k, [](const float* x) { return *x; }, [&](int di, int dj, int dk) { return job.p(i + di, j + dj, k + dk); });
    add_up(block, shared.sums, job, mine);
  }
};

// A block of threads marches along i through a column of points, `deep` planes of it.
struct Columns {
  static constexpr int wide = 32, high = 8, deep = 16;
  static constexpr Extent threads{wide, high, 1};
  static Extent blocks(const Job& job) {
    return {blocks_of(job.size(2), wide), blocks_of(job.size(1), high), blocks_of(job.size(0), deep)};
  }
};

// The threads of a block bring what they need of each plane to shared memory, the neighbours at the rim with it. The planes before, here and
// behind stay there, and the one after that is on its way: so one barrier a plane is enough.
struct Planes : Columns {
  static constexpr int kept = 4;
  struct Shared {
    float p[kept][high + 2][wide + 2];
    double sums[wide * high];
  };

  template <class B>
  FL_DEVICE static void run(const B& block, Shared& shared, const Job& job) {
    const int first = job.lower[0] + block.place.z * deep, end = first + deep < job.upper[0] ? first + deep : job.upper[0];
    const int j0 = job.lower[1] + block.place.y * high - 1, k0 = job.lower[2] + block.place.x * wide - 1;
    const int y = block.thread.y + 1, x = block.thread.x + 1, j = j0 + y, k = k0 + x;
    const bool mine = j < job.upper[1] && k < job.upper[2];
    const auto bring = [&](int i) {
      for (int c = block.number(); c < (high + 2) * (wide + 2); c += wide * high) {
        const int row = c / (wide + 2), column = c % (wide + 2);
        if (j0 + row <= job.upper[1] && k0 + column <= job.upper[2])
          shared.p[(i - first + 1) % kept][row][column] = job.p(i, j0 + row, k0 + column);
      }
    };
    double sum = 0;
    bring(first - 1);
    bring(first);
    for (int i = first; i < end; ++i) {
      bring(i + 1);
      block.barrier();
      if (!mine) continue;
      sum += update(
          job, i, j, k, [](const float* c) { return *c; },
          [&](int di, int dj, int dk) { return shared.p[(i - first + 1 + di) % kept][y + dj][x + dk]; });
    }
    add_up(block, shared.sums, job, sum);
  }
};

// A thread marches along i with the nine values of each of three planes around it in registers: of every plane nine numbers are read,
// from the cache that the block shares, and each coefficient once, past it. No thread waits at a barrier.
struct Registers : Columns {
  struct Shared {
    double sums[wide * high];
  };

  template <class B>
  FL_DEVICE static void run(const B& block, Shared& shared, const Job& job) {
    const int first = job.lower[0] + block.place.z * deep, end = first + deep < job.upper[0] ? first + deep : job.upper[0];
    const int j = job.lower[1] + block.place.y * high + block.thread.y, k = job.lower[2] + block.place.x * wide + block.thread.x;
    double sum = 0;
    if (j < job.upper[1] && k < job.upper[2]) sum = march(job, first, end, j, k);
    add_up(block, shared.sums, job, sum);
  }

 private:
  FL_DEVICE static double march(const Job& job, int first, int end, int j, int k) {
    float w[3][3][3];
    const auto bring = [&](float(&plane)[3][3], int i) {
      FL_UNROLL
      for (int dj = 0; dj < 3; ++dj) {
        FL_UNROLL
        for (int dk = 0; dk < 3; ++dk) plane[dj][dk] = again(&job.p(i, j + dj - 1, k + dk - 1));
      }
    };
    double sum = 0;
    bring(w[1], first - 1);
    bring(w[2], first);
    for (int i = first; i < end; ++i) {
      FL_UNROLL
      for (int dj = 0; dj < 3; ++dj) {
        FL_UNROLL
        for (int dk = 0; dk < 3; ++dk) w[0][dj][dk] = w[1][dj][dk], w[1][dj][dk] = w[2][dj][dk];
      }
      bring(w[2], i + 1);
      sum +=
          update(job, i, j, k, [](const float* c) { return once(c); }, [&](int di, int dj, int dk) { return w[di + 1][dj + 1][dk + 1]; });
    }
    return sum;
  }
};

}  // namespace himeno::device
