// The hopping term of virtual_nodes.hpp for a solver: on one whole lattice, with threads where the file is compiled with OpenMP.
#pragma once

#include "algebra.hpp"
#include "virtual_nodes.hpp"

namespace lqcd {

template <class T>
class VectorHop {
 public:
  static constexpr int lanes = lqcd::lanes<T>;
  static constexpr Reduce reduce = nullptr;

  VectorHop(const Layout& layout, int threads) : layout_(layout), threads_(threads) {
    for (int p = 0; p < 2; ++p) runs_[p] = runs(layout, 1 << p, everything, bytes_in_order(threads, sizeof(T)));
  }

  void apply(int target, const T* links, const T* psi, const T* centre, T* out, T a, T b) const {
    Hop<T> job{&layout_, links, {psi, psi}, {centre, centre}, {out, out}, {}, a, b};
    if (centre == nullptr)
      work<false>(job, runs_[target]);
    else
      work<true>(job, runs_[target]);
  }

 private:
  template <bool with_centre>
  void work(const Hop<T>& job, const std::vector<Run>& list) const {
#ifdef _OPENMP
    const auto count = static_cast<Index>(list.size());
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1)
    for (Index k = 0; k < count; ++k) hop<with_centre>(job, list.data() + k, list.data() + k + 1);
#else
    hop<with_centre>(job, list);
#endif
  }

  const Layout& layout_;
  int threads_;
  std::vector<Run> runs_[2];
};

}  // namespace lqcd
