// A run of kernels on a device, alone or with the halos of other ranks. `Machine` is where they run, CUDA (cuda_machine.hpp) or a processor
// that stands for one (emulated_machine.hpp); it has memory (copies.hpp) and
//   launch(blocks, threads, body)   body(block, shared) by every thread of every block, after all that was launched before
//   finished()                      all of it has ended
// Kernels are not waited for one by one, so there are no phases.
#pragma once

#include <tuple>
#include <vector>

#include "copies.hpp"
#include "firstlight/grid/exchange.hpp"
#include "kernels.hpp"

namespace fdtd2d::inline FL_ROLE {

enum class Kernel { cells, tiles, fused };

// An exchange whose boxes are packed and unpacked on the device; the host sees whole messages.
template <class Machine, class Transport, class T>
class DeviceHalo {
 public:
  template <class... Fields>
  void open(const grid::Block<2>& block, Fields&... fields) {
    exchange_.open(block, {.reach = grid::Reach::faces}, {}, fields...);
    out_.clear(), in_.clear();
    for (const auto& message : exchange_.plan().phases[0].messages)
      for (auto* buffers : {&out_, &in_}) buffers->emplace_back().allocate(message.bytes / static_cast<Index>(sizeof(T)));
  }

  // The fields in the order of open().
  void operator()(const std::vector<grid::View<T, 2>>& fields) {
    const auto& phase = exchange_.plan().phases[0];
    exchange_.receive(0);
    for (std::size_t m = 0; m < out_.size(); ++m) {
      for (const auto& piece : phase.messages[m].pieces) copy(packed(out_[m].data(), piece), at(fields, piece, piece.out), piece.out);
      out_[m].to(reinterpret_cast<T*>(exchange_.outgoing(0, m)));
    }
    exchange_.send(0);
    for (const auto& piece : phase.copies) copy(at(fields, piece, piece.in), at(fields, piece, piece.out), piece.out);
    exchange_.wait(0);
    for (std::size_t m = 0; m < in_.size(); ++m) {
      in_[m].from(reinterpret_cast<const T*>(exchange_.arrived(0, m)));
      for (const auto& piece : phase.messages[m].pieces) copy(at(fields, piece, piece.in), packed(in_[m].data(), piece), piece.in);
    }
  }

 private:
  static grid::View<T, 2> at(const std::vector<grid::View<T, 2>>& fields, const grid::Piece<2>& piece, const grid::Box<2>& box) {
    grid::View<T, 2> view = fields[piece.field];
    view.origin = &view(box.lower[0], box.lower[1]);
    return view;
  }
  static grid::View<T, 2> packed(T* message, const grid::Piece<2>& piece) {
    return {message + piece.at / static_cast<Index>(sizeof(T)), {piece.out.size(1), 1}};
  }
  static void copy(const grid::View<T, 2>& to, const grid::View<T, 2>& from, const grid::Box<2>& box) {
    const Index cells = box.cells();
    Machine::launch(
        {static_cast<int>((cells + copying_threads - 1) / copying_threads)}, {copying_threads},
        CopyBox<T>{to.origin, from.origin, {to.stride[0], to.stride[1]}, {from.stride[0], from.stride[1]}, {box.size(0), box.size(1)}});
  }

  grid::Exchange<2, Transport> exchange_;
  std::vector<typename Machine::template Memory<T>> out_, in_;
};

// Time step t takes the kernels' number t, from the first again after the last. One that fuses needs the whole grid: several ranks take
// tiles in its place.
template <class Machine, class Transport, Kernel... kernels>
class OnDevice {
 public:
  void open(State& s) {
    in_precision(s, [&]<class T>(Numbers<T>& a) {
      Parts<T>& mine = parts(a);
      mine.copies.open(a, twice);
      mine.halo_e.open(s.block, a.ez);
      mine.halo_h.open(s.block, a.hx, a.hy);
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
    Machine::finished();
  }

  void close(State& s) { s.upload = nullptr, s.download = nullptr; }

 private:
  static constexpr bool twice = ((kernels == Kernel::fused) || ...);

  template <class T>
  struct Parts {
    Copies<Machine, T> copies;
    DeviceHalo<Machine, Transport, T> halo_e, halo_h;
  };
  template <class T>
  Parts<T>& parts(const Numbers<T>&) {
    return std::get<Parts<T>>(parts_);
  }

  template <Kernel kernel, class T>
  void advance(const State& s, Parts<T>& mine, const Job<T> (&jobs)[2], Index t) {
    const Job<T>& job = jobs[now_];
    const fl::Extent blocks{static_cast<int>((job.columns + tile_columns - 1) / tile_columns),
                            static_cast<int>((job.rows + tile_rows - 1) / tile_rows)};
    const auto both = [&](const auto& e, const auto& h) {
      mine.halo_h({job.hx, job.hy});
      Machine::launch(blocks, tile_threads, e);
      mine.halo_e({job.ez});
      Machine::launch(blocks, tile_threads, h);
    };
    if constexpr (kernel == Kernel::cells) {
      both(CellsE<T>{job, t}, CellsH<T>{job});
    } else if constexpr (kernel == Kernel::tiles) {
      both(TilesE<T>{job, t}, TilesH<T>{job});
    } else {
      if (s.team.ranks > 1) return both(TilesE<T>{job, t}, TilesH<T>{job});
      Machine::launch(blocks, tile_threads, Fused<T>{job, jobs[1 - now_], t, s.p.problem == Problem::periodic});
      now_ = 1 - now_;
    }
  }

  std::tuple<Parts<float>, Parts<double>> parts_;
  std::size_t now_ = 0;  // the set that holds the fields
};

}  // namespace fdtd2d::inline FL_ROLE
