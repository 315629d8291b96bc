// A run on a device, for which a machine defines how memory is allocated there and kernels are started: CUDA (cuda_machine.hpp), or a
// processor that emulates one (emulated_machine.hpp), so that all of this is tested where no GPU is.
#pragma once

#include "firstlight/variant.hpp"
#include "kernels.hpp"
#include "run.hpp"

namespace himeno::device {

// One device has no halos to exchange, and its GOSA is that of all.
struct Alone {
  void open(const State&) {}
  void start(const grid::View<float, 3>&) {}
  void send() {}
  void finish() {}
  double over_ranks(double mine) { return mine; }
};

// Fields lie on the device from open() on; sweep t is done by kernel t of `Kernels`, over and over.
template <class Machine, class Halo, class... Kernels>
class Run {
 public:
  void open(State& s) {
    each_coefficient(s, [&](Field& field, Coefficient which) { send(coefficients_[static_cast<int>(which)], field); });
    p_.allocate(s.p.layout().elements);
    next_.allocate(s.next.layout().elements);
    gosa_.allocate(1);
    s.upload = [this, &s] {
      p_.from(s.p.data());
      next_.from(s.next.data());
      wrk1().from(s.wrk1.data());
    };
    s.download = [this, &s] { p_.to(s.p.data()); };
    split_ = grid::split(s.block, s.block.domain.halo);
    halo_.open(s);
  }

  void step(State& s, Index) {
    for (Index t = 0; t < s.params.sweeps; ++t) {
      Machine::zero(gosa_);
      halo_.start(s.p.view(p_.data()));
      sweep(s, split_.inner, t);
      halo_.send();
      halo_.finish();
      for (const grid::Box<3>& box : split_.rim) sweep(s, box, t);
      std::swap(p_, next_);
    }
    double mine = 0;
    gosa_.to(&mine);
    s.gosa = halo_.over_ranks(mine);
    Machine::finish();
  }

 private:
  using Floats = typename Machine::template Memory<float>;

  static void send(Floats& there, const Field& field) {
    there.allocate(field.layout().elements);
    there.from(field.data());
  }
  Floats& wrk1() { return coefficients_[static_cast<int>(Coefficient::wrk1)]; }

  void sweep(State& s, const grid::Box<3>& box, Index t) {
    if (box.empty()) return;
    const grid::Layout<3>& layout = s.bnd.layout();
    const auto of = [&](Coefficient which) { return s.bnd.view(coefficients_[static_cast<int>(which)].data()).origin; };
    using enum Coefficient;
    Job job;
    job.coefficients = {{of(a0), of(a1), of(a2), of(a3)}, {of(b0), of(b1), of(b2)}, {of(c0), of(c1), of(c2)}, of(bnd), of(wrk1)};
    for (std::size_t d = 0; d < 3; ++d) {
      job.stride[d] = layout.stride[d];
      job.lower[d] = static_cast<int>(box.lower[d]);
      job.upper[d] = static_cast<int>(box.upper[d]);
    }
    job.p = constant(s.p.view(p_.data()));
    job.next = s.next.view(next_.data());
    job.gosa = gosa_.data();
    Index kernel = 0;
    ((kernel++ == t % static_cast<Index>(sizeof...(Kernels)) ? Machine::template launch<Kernels>(job) : void()), ...);
  }

  Floats coefficients_[12], p_, next_;
  typename Machine::template Memory<double> gosa_;
  Halo halo_;
  grid::Split<3> split_;
};

}  // namespace himeno::device
