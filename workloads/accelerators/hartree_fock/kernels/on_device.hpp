// The builder of variants in CUDA: pairs are made on the host once for a geometry and sent; a matrix sends a density and fetches sums.
#pragma once

#include "firstlight/cuda.hpp"
#include "meetings.hpp"
#include "run.hpp"

namespace hartree_fock {

template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads) on_device(Meeting m) {
  __shared__ typename Kernel::Shared shared;
  fl::device::note();
  Kernel::body(fl::here(), shared, m);
}

// Memory of the device with a copy of what is here.
template <class T>
struct Sent {
  fl::cuda::Memory<T> memory;
  const T* send(const T* from, std::ptrdiff_t size) {
    if (memory.size() != size) memory.allocate(size);
    if (size > 0) memory.from(from);
    return memory.data();
  }
  const T* send(const std::vector<T>& from) { return send(from.data(), static_cast<std::ptrdiff_t>(from.size())); }
};

template <class Way>
struct OnDevice {
  void prepare(State& s) {
    n_ = static_cast<int>(s.n);
    pairs_ = Pairs::of(s.shells);
    meetings_.make(pairs_, s.shells, n_, s.p.tau, Way::stores);
    const PairsView here = pairs_.view();
    const std::ptrdiff_t pairs = pairs_.pairs_size();
    base_.pairs = {data_.send(here.data, pairs_.data_size()), bound_.send(here.bound, pairs), weight_.send(here.weight, pairs),
                   i_.send(here.i, pairs), j_.send(here.j, pairs)};
    base_.starts = starts_.send(meetings_.starts);
    base_.shelves = {{shells_[0].send(meetings_.shells[0]), shells_[1].send(meetings_.shells[1])},
                     {static_cast<int>(meetings_.shells[0].size()), static_cast<int>(meetings_.shells[1].size())},
                     places_.send(meetings_.places)};
    if (Way::stores && stored_.size() < meetings_.stored) stored_.allocate(meetings_.stored);
    base_.stored = stored_.data();
    rows_.send(Boys::table().row[0][0], (Boys::most + 1) * Boys::rows * Boys::terms);
  }

  void build(const double* density, double* g) {
    begin(density);
    for (int of = 0; of < class_count; ++of) {
      const fl::In in(class_phases[of]);
      start(of);
      fl::cuda::finished();
    }
    const fl::In in(phases("sums"));
    fetch();
    finish(pairs_, n_, sums_, g);
  }
  std::array<fl::Index, class_count> quartets() const { return meetings_.quartets; }

  // Launches a kernel for a Way.
  template <class Kernel>
  void kernel(int blocks, const Meeting& m) const {
    on_device<Kernel><<<static_cast<unsigned>(blocks), Kernel::threads>>>(m);
  }

 protected:
  void begin(const double* density) {
    density_.take(pairs_, n_, density);
    sums_.reset(pairs_, n_);
    const Digest here = density_.into(sums_);
    const std::ptrdiff_t square = static_cast<std::ptrdiff_t>(n_) * n_;
    sums_device_.send(sums_.of);
    double* const there = sums_device_.memory.data();
    base_.to = {n_, density_device_.send(density, square), pair_density_.send(here.pair_density, pairs_.density_size()), there,
                there + square};
  }

  // The sums, once all that was started has ended.
  void fetch() {
    fl::cuda::finished();
    sums_device_.memory.to(sums_.of.data());
  }

  // All kernels of a class, which go on by themselves.
  void start(int of) {
    for (const Planned& plan : meetings_.planned)
      if (plan.of == of)
        with_class(of, [&](auto bra, auto ket) {
          base_.rows = rows_.memory.data() + (bra + ket) * Boys::rows * Boys::terms;
          Way::template run<bra, ket>(*this, meetings_.meeting(pairs_, plan, base_));
        });
  }

  int n_ = 0;
  Pairs pairs_;
  Meetings meetings_;
  Density density_;
  Sums sums_;
  Meeting base_{};

 private:
  Sent<double> data_, bound_, weight_, rows_, density_device_, pair_density_, sums_device_;
  Sent<int> i_, j_, shells_[2], places_;
  Sent<long long> starts_;
  fl::cuda::Memory<double> stored_;
};

}  // namespace hartree_fock
