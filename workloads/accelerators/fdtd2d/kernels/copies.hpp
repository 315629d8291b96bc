// All numbers of a run on a device: they are there from set-up on, and no copy to it or from it is timed. `Machine` has Memory<T>, of a
// size, copied from and to the host.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "fdtd2d.hpp"

namespace fdtd2d {

// The numbers of one precision on the device. What a fused kernel reads and writes is there twice.
template <class Machine, class T>
class Copies {
 public:
  void open(Numbers<T>& a, bool twice) {
    copies_.clear();
    for (auto* each : {&a.ez, &a.hx, &a.hy, &a.psi_ex, &a.psi_ey}) add(each, each->data(), each->layout().elements, twice ? 2 : 1);
    for (auto* each : {&a.ca, &a.cb, &a.psi_hx, &a.psi_hy}) add(each, each->data(), each->layout().elements, 1);
    for (auto* each : {&a.be, &a.ce, &a.bh, &a.ch, &a.pulse}) add(each, each->data(), each->size(), 1);
  }
  void upload() {
    for (Copy& copy : copies_)
      for (std::size_t k = 0; k < copy.sets; ++k) copy.there[k].from(copy.here);
  }
  void download(Numbers<T>& a, std::size_t set) {
    for (auto* each : {&a.ez, &a.hx, &a.hy}) find(each).there[set].to(each->data());
  }
  // What job_of() needs: where a field or an array begins, in that set.
  auto set(std::size_t number) {
    return [this, number](const auto& each) {
      Copy& copy = find(&each);
      return copy.there[std::min(number, copy.sets - 1)].data();
    };
  }

 private:
  using Memory = typename Machine::template Memory<T>;
  struct Copy {
    const void* what;  // a member of Numbers
    T* here;
    std::size_t sets;
    std::unique_ptr<Memory[]> there;
  };
  void add(const void* what, T* here, Index size, std::size_t sets) {
    if (size == 0) return;  // this problem has none
    const Copy& copy = copies_.emplace_back(Copy{what, here, sets, std::make_unique<Memory[]>(sets)});
    for (std::size_t k = 0; k < sets; ++k) copy.there[k].allocate(size);
  }
  Copy& find(const void* what) {
    return *std::find_if(copies_.begin(), copies_.end(), [&](const Copy& copy) { return copy.what == what; });
  }

  std::vector<Copy> copies_;
};

}  // namespace fdtd2d
