// Halos between devices of several ranks: kernels pack what all neighbours need into one run of memory, which is copied to the host, sent,
// and goes the same way back, in a queue beside the kernels that compute.
#pragma once

#include <memory>
#include <vector>

#include "firstlight/grid/mpi.hpp"
#include "firstlight/grid/plan.hpp"
#include "himeno.hpp"

namespace himeno::inline FL_ROLE::device {

// A box of cells and its place among those that are packed.
struct Strip {
  Index first = 0;     // element of the field
  Index size[3] = {};  // cells
  Index at = 0;        // of its first cell
};

// Cell n of all strips, into the packed run or from it.
struct CopyStrips {
  const Strip* strips = nullptr;
  int count = 0;
  Index stride[3] = {};  // of the field
  float *field = nullptr, *packed = nullptr;
  bool out = false;

  FL_DEVICE void operator()(Index n) const {
    int k = 0;
    while (k + 1 < count && strips[k + 1].at <= n) ++k;
    const Strip& s = strips[k];
    const Index tight[3] = {s.size[1] * s.size[2], s.size[2], 1};
    if (out)
      grid::copy_cell<3>(packed + s.at, tight, static_cast<const float*>(field + s.first), stride, s.size, n - s.at);
    else
      grid::copy_cell<3>(field + s.first, stride, static_cast<const float*>(packed + s.at), tight, s.size, n - s.at);
  }
};

template <class Machine>
class OnRanks {
 public:
  static constexpr bool in_every_sweep = true;  // so that the kernels of a sweep have ended when the next one packs

  void open(const State& s) {
    const grid::Layout<3>& layout = s.p.layout();
    const auto plan = grid::make_plan<3>(s.block, {{layout.halo, sizeof(float), alignof(float)}}, {.reach = grid::Reach::edges});
    std::vector<Strip> out, in;
    for (const auto& message : plan.phases[0].messages)
      for (const auto& piece : message.pieces) {
        const Point size = piece.out.sizes();
        out.push_back({layout(piece.out.lower), {size[0], size[1], size[2]}, cells_});
        in.push_back({layout(piece.in.lower), {size[0], size[1], size[2]}, cells_});
        cells_ += piece.out.cells();
      }
    if (cells_ == 0) return;
    for (Side* side : {&out_, &in_}) {
      side->packed.allocate(cells_);
      side->host.allocate(cells_);
      const std::vector<Strip>& strips = side == &out_ ? out : in;
      side->strips.allocate(static_cast<Index>(strips.size()));
      side->strips.from(strips.data());
      side->copy = {side->strips.data(), static_cast<int>(strips.size()), {}, nullptr, side->packed.data(), side == &out_};
      std::copy_n(layout.stride.data(), 3, side->copy.stride);
    }
    std::vector<grid::Parcel> receives, sends;
    Index at = 0;
    for (const auto& message : plan.phases[0].messages) {
      sends.push_back({message.peer, message.out_tag, out_.host.data() + at, message.bytes});
      receives.push_back({message.peer, message.in_tag, in_.host.data() + at, message.bytes});
      at += message.bytes / static_cast<Index>(sizeof(float));
    }
    channel_ = std::make_unique<grid::Mpi::Channel>(grid::Mpi{}, receives, sends);
  }

  void start(float* field) {
    if (cells_ == 0) return;
    channel_->receive();
    out_.copy.field = field;
    queue_.each(cells_, out_.copy);
    queue_.to_host(out_.host.data(), out_.packed.data(), cells_);
  }
  void send() {
    if (cells_ == 0) return;
    queue_.finish();
    channel_->send();
  }
  void finish(float* field) {
    if (cells_ == 0) return;
    channel_->wait();
    in_.copy.field = field;
    queue_.to_device(in_.packed.data(), in_.host.data(), cells_);
    queue_.each(cells_, in_.copy);
    queue_.finish();
  }
  double over_ranks(double mine) {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

 private:
  // What leaves, or what arrives.
  struct Side {
    typename Machine::template Memory<float> packed;
    typename Machine::template Pinned<float> host;
    typename Machine::template Memory<Strip> strips;
    CopyStrips copy;
  };

  Index cells_ = 0;  // packed, either way
  Side out_, in_;
  typename Machine::Queue queue_;
  std::unique_ptr<grid::Mpi::Channel> channel_;
};

}  // namespace himeno::inline FL_ROLE::device
