// The two solvers whose sweeps fit a device: red-black relaxation, a launch a colour, and Stone's by hyperplanes i + j + k, a launch each.
// The system and x lie on the device; between steps the harness's inputs go there, and what a step found comes back before it is checked.
#pragma once

#include "../cell_work.hpp"
#include "cfd_solver.hpp"

#include "firstlight/variant.hpp"

namespace cfd_solver {

template <class Machine>
class OnDevice {
 public:
  void open(State& s) {
    const Index elements = s.x.layout().elements;
    for (Memory& memory : a_) memory.allocate(elements);
    for (Memory* memory : {&b_, &x_}) memory->allocate(elements);
    s.upload = [this, &s] {
      for (std::size_t place = cfd::P; place <= cfd::T; ++place) a_[place].from(s.system.a[place].data());
      b_.from(s.system.b.data());
      x_.from(s.x.data());
    };
    s.download = [this, &s] { x_.to(s.x.data()); };
    const auto& layout = s.x.layout();
    const auto here = [&](Memory& memory) { return memory.data() + layout.first; };
    for (std::size_t place = cfd::P; place <= cfd::T; ++place) cells_.a[place] = here(a_[place]);
    cells_.b = here(b_);
    cells_.x = here(x_);
    cells_.bottom = layout.stride[0];
    cells_.south = layout.stride[1];
    for (std::size_t d = 0; d < 3; ++d) cells_.size[d] = layout.size[d];
  }
  void close(State& s) { s.upload = s.download = {}; }

 protected:
  using Memory = typename Machine::Memory;

  Machine machine_;
  cfd::Cells cells_;

 private:
  Memory a_[7], b_, x_;
};

template <class Machine>
struct RedBlackOnDevice : OnDevice<Machine> {
  void step(State& s, Index) {
    const cfd::RelaxColour red{this->cells_, 0}, black{this->cells_, 1};
    this->machine_.zero();
    this->machine_.each(cfd::NormOfB{this->cells_});
    double rest = this->machine_.sum();
    while (!s.outcome.ends_unseen(s.params)) {
      const fl::In in(phases("sweep"));
      this->machine_.each(red);
      const double of_red = this->machine_.sum();
      if (s.outcome.iterations > 0) rest = of_red;  // black cells have no residual then
      if (!s.outcome.goes_on(s.params, rest)) break;
      ++s.outcome.iterations;
      this->machine_.each(black);
      this->machine_.zero();
    }
    this->machine_.finish();
  }
};

template <class Machine>
class StoneOnDevice : public OnDevice<Machine> {
 public:
  void open(State& s) {
    OnDevice<Machine>::open(s);
    const auto& layout = s.x.layout();
    const std::vector<double> zeros(static_cast<std::size_t>(layout.elements));  // beyond the block nothing is coupled
    for (auto& memory : f_) {
      memory.allocate(layout.elements);
      memory.from(zeros.data());
    }
    const auto here = [&](int n) { return f_[n].data() + layout.first; };
    factor_ = {here(0), here(1), here(2), here(3), here(4), here(5), here(6)};
    q_ = here(7);
  }
  void step(State& s, Index) {
    auto& machine = this->machine_;
    const cfd::Cells& cells = this->cells_;
    fl::during(phases("factor"), [&] {
      upwards(cfd::SipFactorCell{cells, factor_, s.params.alpha});
      machine.finish();
    });
    machine.zero();
    while (!s.outcome.ends_unseen(s.params)) {
      const fl::In in(phases("sweep"));
      upwards(cfd::SipForwardCell{cells, factor_, q_});
      if (!s.outcome.goes_on(s.params, machine.sum())) break;
      ++s.outcome.iterations;
      downwards(cfd::SipBackwardCell{cells, factor_, q_});
      machine.each(cfd::SipCorrectCell{cells, q_});
    }
    machine.finish();
  }

 private:
  Index planes() const {
    const auto& size = this->cells_.size;
    return size[0] + size[1] + size[2] - 2;
  }
  template <class Cell>
  void upwards(const Cell& cell) {
    for (Index plane = 0; plane < planes(); ++plane) this->machine_.each(cfd::Hyperplane<Cell>{cell, plane});
  }
  template <class Cell>
  void downwards(const Cell& cell) {
    for (Index plane = planes(); plane-- > 0;) this->machine_.each(cfd::Hyperplane<Cell>{cell, plane});
  }

  typename Machine::Memory f_[8];
  cfd::SipFactor::View factor_{};
  double* q_ = nullptr;
};

template <class Machine>
struct DeviceSolvers {
  using sip = StoneOnDevice<Machine>;
  using red_black = RedBlackOnDevice<Machine>;

  static constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, sip), FL_KERNEL(cfd_solver, red_black)};
};

}  // namespace cfd_solver
