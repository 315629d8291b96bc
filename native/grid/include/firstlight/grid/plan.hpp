// An exchange as data: which rank sends which boxes of which fields to whom, in which phases. Pure functions; nothing moves here.
#pragma once

#include <vector>

#include "firstlight/grid/blocks.hpp"

namespace fl::grid::inline FL_ROLE {

// All neighbours at once (3^D - 1 messages for corners, one latency), or one dimension after the other (2 D messages; values for edges
// and corners travel in several phases, so every phase waits for the one before).
enum class Order { at_once, by_dimension };

struct Options {
  Reach reach = Reach::corners;
  Order order = Order::at_once;

  // By dimension, whatever brings edges brings corners.
  Reach brings() const { return order == Order::by_dimension && reach == Reach::edges ? Reach::corners : reach; }
};

// What a plan must know of a field. Different fields may have different halos.
template <std::size_t D>
struct FieldShape {
  Point<D> halo{};
  Index bytes = 8, alignment = 8;  // of an element
};

// A box of one field that leaves, and one of the same extents that arrives, in local coordinates.
template <std::size_t D>
struct Piece {
  std::size_t field = 0;
  Box<D> out, in;
  Index at = 0;  // the first byte of either in the message
};

// All fields' values to one neighbour and from it. Tags are directions as the sender sees them: two messages between the same ranks,
// as where a dimension has two, differ in them.
template <std::size_t D>
struct Message {
  int peer = 0, out_tag = 0, in_tag = 0;
  Index bytes = 0;  // out, and in
  std::vector<Piece<D>> pieces;
};

template <std::size_t D>
struct Phase {
  std::vector<Message<D>> messages;
  std::vector<Piece<D>> copies;  // where the rank is its own neighbour
};

template <std::size_t D>
struct Plan {
  std::vector<Phase<D>> phases;  // one after the other
};

namespace detail {

// By dimension, boxes of phase d reach into the halo of the dimensions before, which has arrived by then; not beyond an open end,
// where values belong to the boundary condition.
template <std::size_t D>
Box<D> with_what_came_before(Box<D> box, const Block<D>& block, const Point<D>& halo, std::size_t phase) {
  for (std::size_t d = 0; d < phase; ++d) {
    if (block.has_neighbour(d, -1)) box.lower[d] -= halo[d];
    if (block.has_neighbour(d, 1)) box.upper[d] += halo[d];
  }
  return box;
}

}  // namespace detail

template <std::size_t D>
Plan<D> make_plan(const Block<D>& block, const std::vector<FieldShape<D>>& fields, const Options& options) {
  const bool by_dimension = options.order == Order::by_dimension;
  const bool widen = by_dimension && options.reach != Reach::faces;
  Plan<D> plan;
  plan.phases.resize(by_dimension ? D : 1);
  for (std::size_t p = 0; p < plan.phases.size(); ++p) {
    Phase<D>& phase = plan.phases[p];
    for (int direction = 0; direction < directions<D>; ++direction) {
      const Point<D> offset = offset_of<D>(direction);
      if (by_dimension ? dimensions_apart<D>(offset) != 1 || offset[p] == 0 : !within<D>(options.reach, offset)) continue;
      const int peer = block.neighbour(offset);
      if (peer == Block<D>::none) continue;
      Message<D> message{peer, direction, opposite<D>(direction), 0, {}};
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const FieldShape<D>& field = fields[f];
        Piece<D> piece{f, send_box<D>(block.size(), field.halo, offset), receive_box<D>(block.size(), field.halo, offset), 0};
        // What leaves to oneself arrives on the other side.
        if (peer == block.rank) piece.in = receive_box<D>(block.size(), field.halo, offset_of<D>(opposite<D>(direction)));
        if (piece.out.empty()) continue;
        if (widen) {
          piece.out = detail::with_what_came_before(piece.out, block, field.halo, p);
          piece.in = detail::with_what_came_before(piece.in, block, field.halo, p);
        }
        if (peer == block.rank) {
          phase.copies.push_back(piece);
          continue;
        }
        piece.at = (message.bytes + field.alignment - 1) / field.alignment * field.alignment;
        message.bytes = piece.at + piece.out.cells() * field.bytes;
        message.pieces.push_back(piece);
      }
      if (!message.pieces.empty()) phase.messages.push_back(std::move(message));
    }
  }
  return plan;
}

}  // namespace fl::grid::inline FL_ROLE
