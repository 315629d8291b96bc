// A run of kernels on a device, alone or with the halos of other ranks, which travel while those cells are computed that need none.
// `Machine` is where that runs, CUDA (cuda_machine.hpp) or a processor that stands for one (emulated_machine.hpp); it has memory
// (copies.hpp), a queue for halos (device_exchange.hpp) and
//   launch(blocks, threads, body)   body(block, shared) by every thread of every block, after all that was launched before
//   finish()                        waits for all of it
// Kernels are not waited for one by one, so there are no phases.
#pragma once

#include <tuple>

#include "../device_exchange.hpp"
#include "copies.hpp"
#include "kernels.hpp"

namespace fdtd2d {

enum class Kernel { cells, tiles, fused };

// Time step t uses the kernels' number t, from the first again after the last. One that fuses needs the whole grid: several ranks take
// tiles in its place.
template <class Machine, class Transport, Kernel... kernels>
class OnDevice {
 public:
  void open(State& s) {
    in_precision(s, [&]<class T>(Numbers<T>& a) {
      Parts<T>& mine = parts(a);
      mine.copies.open(a, twice);
      mine.halo_e.open(s.block, grid::Reach::faces, a.ez);
      mine.halo_h.open(s.block, grid::Reach::faces, a.hx, a.hy);
      const grid::Box<2> all = s.block.cells();
      split_ = mine.halo_e.has_neighbours() ? grid::split(s.block, {1, 1}) : grid::Split<2>{all, {}};
    });
    s.upload = [this, &s] { in_precision(s, [&](auto& a) { parts(a).copies.upload(); }); };
    s.download = [this, &s] { in_precision(s, [&](auto& a) { parts(a).copies.download(a, now_); }); };
  }

  void step(State& s, Index) {
    in_precision(s, [&]<class T>(Numbers<T>& a) {
      Parts<T>& mine = parts(a);
      const Job<T> jobs[2] = {job_of(s, a, mine.copies.set(0)), job_of(s, a, mine.copies.set(1))};
      now_ = 0;
      for (Index t = 0; t < s.p.steps; ++t) {
        std::size_t number = 0;
        const auto wanted = static_cast<std::size_t>(t) % sizeof...(kernels);
        ((number++ == wanted ? advance<kernels>(s, mine, jobs, t) : void()), ...);
      }
    });
    Machine::finish();
  }

  void close(State& s) { s.upload = nullptr, s.download = nullptr; }

 private:
  static constexpr bool twice = ((kernels == Kernel::fused) || ...);

  template <class T>
  struct Parts {
    Copies<Machine, T> copies;
    accelerators::DeviceExchange<T, 2, Machine, Transport> halo_e, halo_h;
  };
  template <class T>
  Parts<T>& parts(const Numbers<T>&) {
    return std::get<Parts<T>>(parts_);
  }

  template <Kernel kernel, class T>
  void advance(const State& s, Parts<T>& mine, const Job<T> (&jobs)[2], Index t) {
    const Job<T>& job = jobs[now_];
    if constexpr (kernel == Kernel::fused)
      if (s.team.ranks == 1) {
        const Part all{0, 0, job.rows, job.columns};
        Machine::launch(all.blocks(), tile_threads, Fused<T>{job, jobs[1 - now_], all, t, s.p.problem == Problem::periodic});
        now_ = 1 - now_;
        return;
      }
    if constexpr (kernel == Kernel::cells) {
      beside<T>(mine.halo_h, {job.hx, job.hy}, [&](const Part& part) { return CellsE<T>{job, part, t}; });
      beside<T>(mine.halo_e, {job.ez}, [&](const Part& part) { return CellsH<T>{job, part}; });
    } else {
      beside<T>(mine.halo_h, {job.hx, job.hy}, [&](const Part& part) { return TilesE<T>{job, part, t}; });
      beside<T>(mine.halo_e, {job.ez}, [&](const Part& part) { return TilesH<T>{job, part}; });
    }
  }

  // The kernel of E, or of H, concurrent with the halos that it needs. Of one field no cell needs another's new value, so those at the rim may
  // follow in any order.
  template <class T, class Halo, class KernelOf>
  void beside(Halo& halo, std::initializer_list<grid::View<T, 2>> fields, const KernelOf& kernel_of) {
    const auto compute = [&](const grid::Box<2>& box) {
      if (box.empty()) return;
      const Part part{box.lower[0], box.lower[1], box.upper[0], box.upper[1]};
      Machine::launch(part.blocks(), tile_threads, kernel_of(part));
    };
    for (const grid::Piece<2>& piece : halo.copies()) copy_around(fields.begin()[piece.field], piece);
    halo.start(fields);
    compute(split_.inner);
    halo.send();
    halo.finish();
    for (const grid::Box<2>& box : split_.rim) compute(box);
  }

  // Where a rank is its own neighbour.
  template <class T>
  static void copy_around(const grid::View<T, 2>& field, const grid::Piece<2>& piece) {
    const Index cells = piece.out.cells();
    const auto first = [&](const grid::Box<2>& box) { return &field(box.lower[0], box.lower[1]); };
    Machine::launch(
        {static_cast<int>((cells + copying_threads - 1) / copying_threads)}, {copying_threads},
        CopyBox<T>{first(piece.in), first(piece.out), {field.stride[0], field.stride[1]}, {piece.out.size(0), piece.out.size(1)}});
  }

  std::tuple<Parts<float>, Parts<double>> parts_;
  grid::Split<2> split_;
  std::size_t now_ = 0;  // the set that contains the fields
};

}  // namespace fdtd2d
