// The exchange itself: packs, sends, waits, unpacks, over any transport (parcel.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "firstlight/grid/field.hpp"
#include "firstlight/grid/parcel.hpp"
#include "firstlight/grid/plan.hpp"
#include "firstlight/grid/team.hpp"

namespace fl::grid::inline FL_ROLE {

// Fields are known by address; every exchange looks up their memory, so std::swap(u, v) of two of the same shape is allowed.
template <std::size_t D, class Transport>
class Exchange {
 public:
  // The fields' blocks are `block`; every rank opens with the same fields in the same order.
  template <class... T>
  void open(const Block<D>& block, const Options& options, const Transport& transport, Field<T, D>&... fields) {
    close();
    (bind(fields), ...);
    connect(block, options, transport);
  }
  // Before MPI ends.
  void close() {
    lanes_.clear();
    fields_.clear();
    plan_ = {};
  }

  // Blocking.
  template <class Team = Alone>
  void operator()(const Team& team = {}) {
    start(team);
    finish(team);
  }

  // Overlapped: own cells may be read between the two; written, too, where all neighbours go at once. Halo cells may be neither.
  template <class Team = Alone>
  void start(const Team& team = {}) {
    begin(0, team);
  }
  template <class Team = Alone>
  void finish(const Team& team = {}) {
    for (std::size_t phase = 0; phase < phases(); ++phase) {
      if (phase > 0) begin(phase, team);
      wait(phase);
      team([&](Index share, Index shares) { unpack(phase, share, shares); });
    }
  }
  // Messages move when MPI is called: so now and then while there is other work to do.
  void progress() {
    if (!lanes_.empty()) lanes_.front().channel->progress();
  }

  // --- its parts, for teams that exist already: for each phase receive, pack, send, wait, unpack in this order. Every thread packs and
  // unpacks its share; one calls the others. A barrier is behind pack, behind wait and behind unpack.
  std::size_t phases() const { return plan_.phases.size(); }
  void receive(std::size_t phase) { lanes_[phase].channel->receive(); }
  void pack(std::size_t phase, Index share = 0, Index shares = 1) {
    const auto& messages = plan_.phases[phase].messages;
    for (std::size_t m = 0; m < messages.size(); ++m)
      for (const Piece<D>& piece : messages[m].pieces) {
        const Bound& field = fields_[piece.field];
        field.pack(field.field, piece.out, share, shares, outgoing(phase, m) + piece.at);
      }
    for (const Piece<D>& piece : plan_.phases[phase].copies) {
      const Bound& field = fields_[piece.field];
      field.move(field.field, piece.out, piece.in, share, shares);
    }
  }
  void send(std::size_t phase) { lanes_[phase].channel->send(); }
  void wait(std::size_t phase) { lanes_[phase].channel->wait(); }
  void unpack(std::size_t phase, Index share = 0, Index shares = 1) {
    const auto& messages = plan_.phases[phase].messages;
    for (std::size_t m = 0; m < messages.size(); ++m)
      for (const Piece<D>& piece : messages[m].pieces) {
        const Bound& field = fields_[piece.field];
        field.unpack(field.field, piece.in, share, shares, arrived(phase, m) + piece.at);
      }
  }

  // For variants that pack elsewhere, as on a device: where to, between receive() and send(), and where from, after wait().
  const Plan<D>& plan() const { return plan_; }
  unsigned char* outgoing(std::size_t phase, std::size_t message) {
    return grid::outgoing(*lanes_[phase].channel, message, lanes_[phase].out[message].data());
  }
  unsigned char* arrived(std::size_t phase, std::size_t message) {
    return grid::arrived(*lanes_[phase].channel, message, lanes_[phase].in[message].data());
  }

 private:
  // A field without its type.
  struct Bound {
    void* field;
    Point<D> size;
    FieldShape<D> shape;
    void (*pack)(const void* field, const Box<D>& box, Index share, Index shares, unsigned char* to);
    void (*unpack)(void* field, const Box<D>& box, Index share, Index shares, const unsigned char* from);
    void (*move)(void* field, const Box<D>& from, const Box<D>& to, Index share, Index shares);
  };
  // What belongs to one phase.
  struct Lane {
    std::vector<Array<unsigned char>> out, in;  // of each message
    std::unique_ptr<typename Transport::Channel> channel;
  };

  // No template of the fields' types: compiled once, whatever is exchanged.
  [[gnu::cold]] void connect(const Block<D>& block, const Options& options, const Transport& transport) {
    std::vector<FieldShape<D>> shapes;
    for (const Bound& field : fields_) {
      require(field.size == block.size(),
              "a field of " + words<D>(field.size) + " cells does not belong to a block of " + words<D>(block.size()));
      for (std::size_t d = 0; d < D; ++d)
        require((!block.has_neighbour(d, -1) && !block.has_neighbour(d, 1)) || field.shape.halo[d] <= block.domain.halo[d],
                "a field's halo of " + words<D>(field.shape.halo) + " is wider than the domain supports: " + words<D>(block.domain.halo));
      shapes.push_back(field.shape);
    }
    plan_ = make_plan(block, shapes, options);
    for (const Phase<D>& phase : plan_.phases) {
      std::vector<Parcel> receives, sends;
      lanes_.emplace_back();
      for (const Message<D>& message : phase.messages) {
        for (auto* buffers : {&lanes_.back().out, &lanes_.back().in}) {
          buffers->emplace_back(message.bytes);
          std::memset(buffers->back().data(), 0, static_cast<std::size_t>(message.bytes));  // what pads fields is sent, too
        }
        sends.push_back({message.peer, message.out_tag, lanes_.back().out.back().data(), message.bytes});
        receives.push_back({message.peer, message.in_tag, lanes_.back().in.back().data(), message.bytes});
      }
      lanes_.back().channel = std::make_unique<typename Transport::Channel>(transport, std::move(receives), std::move(sends));
    }
  }

  template <class Team>
  void begin(std::size_t phase, const Team& team) {
    receive(phase);
    team([&](Index share, Index shares) { pack(phase, share, shares); });
    send(phase);
  }

  template <class T>
  void bind(Field<T, D>& field) {
    fields_.push_back({&field, field.size(), {field.halo(), sizeof(T), alignof(T)}, &packed<T>, &unpacked<T>, &moved<T>});
  }

  // Strides of a box packed row by row.
  static Layout<D> packed_box(const Box<D>& box) { return Layout<D>(box.sizes(), {}, 1); }

  template <class T>
  static void packed(const void* erased, const Box<D>& box, Index share, Index shares, unsigned char* to) {
    const auto& field = *static_cast<const Field<T, D>*>(erased);
    const Box<D> mine = share_of(box, share, shares);
    if (mine.empty()) return;
    const Layout<D> tight = packed_box(box);
    field.layout().each_strip(mine, [&](const Box<D>& part, Index) {
      const Point<D> size = part.sizes();
      copy_cells<D>(reinterpret_cast<T*>(to) + tight(minus<D>(part.lower, box.lower)), tight.stride.data(), &field[part.lower],
                    field.layout().stride.data(), size.data());
    });
  }
  template <class T>
  static void unpacked(void* erased, const Box<D>& box, Index share, Index shares, const unsigned char* from) {
    auto& field = *static_cast<Field<T, D>*>(erased);
    const Box<D> mine = share_of(box, share, shares);
    if (mine.empty()) return;
    const Layout<D> tight = packed_box(box);
    field.layout().each_strip(mine, [&](const Box<D>& part, Index) {
      const Point<D> size = part.sizes();
      copy_cells<D>(&field[part.lower], field.layout().stride.data(),
                    reinterpret_cast<const T*>(from) + tight(minus<D>(part.lower, box.lower)), tight.stride.data(), size.data());
    });
  }
  template <class T>
  static void moved(void* erased, const Box<D>& from, const Box<D>& to, Index share, Index shares) {
    auto& field = *static_cast<Field<T, D>*>(erased);
    const Box<D> mine = share_of(from, share, shares);
    if (mine.empty()) return;
    const Point<D> there = minus<D>(to.lower, from.lower), back = minus<D>(from.lower, to.lower);
    field.layout().each_strip(mine, [&](const Box<D>& leaving, Index) {
      field.layout().each_strip(leaving.shifted(there), [&](const Box<D>& part, Index) {
        const Point<D> size = part.sizes();
        const T* source = &field[plus<D>(part.lower, back)];
        copy_cells<D>(&field[part.lower], field.layout().stride.data(), source, field.layout().stride.data(), size.data());
      });
    });
  }

  Plan<D> plan_;
  std::vector<Bound> fields_;
  std::vector<Lane> lanes_;
};

}  // namespace fl::grid::inline FL_ROLE
