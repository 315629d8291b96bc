// Halos between the devices of several ranks: one kernel packs what all neighbours need of all fields into one run of memory, which is
// copied to the host, sent, and goes the same way back, in a queue separate from the kernels that compute. `Machine` is where that runs:
//   Memory<T>, Pinned<T>   allocate(size), from(host), to(host), data(): on the device, and on the host for copies of a queue
//   Queue                  each(count, work): work(n) for n below count; to_host, to_device(to, from, count); in order, and started only
//                          after_kernels(): what follows in it waits for all kernels that were started before
//                          finish(): waits for it
//   launch(...)            a kernel, after all that was launched before; not for queues
// CUDA's queue is in cuda_queue.hpp, one emulated by a processor in firstlight/emulated_device.hpp.
#pragma once

#include <memory>
#include <vector>

#include "firstlight/grid/field.hpp"
#include "firstlight/grid/parcel.hpp"
#include "firstlight/grid/plan.hpp"
#include "firstlight/host_device.hpp"

namespace accelerators {

namespace grid = fl::grid;
using fl::Index;

// A box of cells of one field and its place among those that are packed.
template <std::size_t D>
struct Strip {
  int field = 0;
  Index first = 0;     // element, from own cell 0 on
  Index size[D] = {};  // cells
  Index at = 0;        // of its first cell
};

inline constexpr int most_fields = 2;  // of one exchange

// Cell n of all strips, into the packed run or from it.
template <class T, std::size_t D>
struct CopyStrips {
  const Strip<D>* strips = nullptr;
  int count = 0;
  grid::View<T, D> fields[most_fields];
  T* packed = nullptr;
  bool out = false;

  FL_DEVICE void operator()(Index n) const {
    int k = 0;
    while (k + 1 < count && strips[k + 1].at <= n) ++k;
    const Strip<D>& s = strips[k];
    const grid::View<T, D>& field = fields[s.field];
    Index tight[D], step = 1;
    for (std::size_t d = D; d-- > 0; step *= s.size[d]) tight[d] = step;
    if (out)
      grid::copy_cell<D>(packed + s.at, tight, static_cast<const T*>(field.origin + s.first), field.stride, s.size, n - s.at);
    else
      grid::copy_cell<D>(field.origin + s.first, field.stride, static_cast<const T*>(packed + s.at), tight, s.size, n - s.at);
  }
};

// Exchanges the halos of fields that are stored on the device as on the host. The order is start(), kernels that need no halo, send(),
// finish(), and kernels that need one.
template <class T, std::size_t D, class Machine, class Transport>
class DeviceExchange {
 public:
  // The fields whose copies on the device are exchanged, of this block, with all neighbours that `reach` names.
  template <class... Fields>
  void open(const grid::Block<D>& block, grid::Reach reach, const Fields&... fields) {
    static_assert(sizeof...(Fields) <= most_fields);
    const std::vector<grid::Layout<D>> layouts{fields.layout()...};
    std::vector<grid::FieldShape<D>> shapes;
    for (const auto& layout : layouts) shapes.push_back({layout.halo, sizeof(T), alignof(T)});
    plan_ = grid::make_plan<D>(block, shapes, {.reach = reach});
    cells_ = 0;
    std::vector<Strip<D>> out, in;
    for (const auto& message : messages())
      for (const auto& piece : message.pieces) {
        out.push_back(strip(piece, layouts[piece.field], piece.out));
        in.push_back(strip(piece, layouts[piece.field], piece.in));
        cells_ += piece.out.cells();
      }
    if (!has_neighbours()) return;
    leaves_.open(out, cells_, true);
    arrives_.open(in, cells_, false);
    std::vector<grid::Parcel> receives, sends;
    Index at = 0;
    for (const auto& message : messages()) {
      sends.push_back({message.peer, message.out_tag, leaves_.host.data() + at, message.bytes});
      receives.push_back({message.peer, message.in_tag, arrives_.host.data() + at, message.bytes});
      at += message.bytes / static_cast<Index>(sizeof(T));
    }
    channel_ = std::make_unique<typename Transport::Channel>(Transport{}, receives, sends);
  }

  // Whether any other rank has part in it.
  bool has_neighbours() const { return cells_ > 0; }
  // What a rank that is its own neighbour copies within itself, which is left to kernels.
  const std::vector<grid::Piece<D>>& copies() const { return plan_.phases[0].copies; }

  // Own cells may be read from here to finish(), and halo cells be neither read nor written. The fields in the order of open().
  void start(std::initializer_list<grid::View<T, D>> fields) {
    if (!has_neighbours()) return;
    std::copy(fields.begin(), fields.end(), leaves_.copy.fields);
    std::copy(fields.begin(), fields.end(), arrives_.copy.fields);
    channel_->receive();
    queue_.after_kernels();
    queue_.each(cells_, leaves_.copy);
    queue_.to_host(leaves_.host.data(), leaves_.packed.data(), cells_);
  }
  void send() {
    if (!has_neighbours()) return;
    queue_.finish();
    channel_->send();
  }
  void finish() {
    if (!has_neighbours()) return;
    channel_->wait();
    queue_.to_device(arrives_.packed.data(), arrives_.host.data(), cells_);
    queue_.each(cells_, arrives_.copy);
    queue_.finish();
  }

 private:
  // What leaves, or what arrives.
  struct Side {
    typename Machine::template Memory<T> packed;
    typename Machine::template Pinned<T> host;
    typename Machine::template Memory<Strip<D>> strips;
    CopyStrips<T, D> copy;

    void open(const std::vector<Strip<D>>& some, Index cells, bool out) {
      packed.allocate(cells);
      host.allocate(cells);
      strips.allocate(static_cast<Index>(some.size()));
      strips.from(some.data());
      copy = {strips.data(), static_cast<int>(some.size()), {}, packed.data(), out};
    }
  };

  const std::vector<grid::Message<D>>& messages() const { return plan_.phases[0].messages; }
  Strip<D> strip(const grid::Piece<D>& piece, const grid::Layout<D>& layout, const grid::Box<D>& box) const {
    Strip<D> s{static_cast<int>(piece.field), layout.distance(box.lower), {}, cells_};
    for (std::size_t d = 0; d < D; ++d) s.size[d] = box.size(d);
    return s;
  }

  grid::Plan<D> plan_;
  Index cells_ = 0;  // packed, either way
  Side leaves_, arrives_;
  typename Machine::Queue queue_;
  std::unique_ptr<typename Transport::Channel> channel_;
};

}  // namespace accelerators
