#include <array>

#include "firstlight/collectives/torus.hpp"

namespace fl::collectives {

Schedule trains(const Problem& p, const Trees& all, bool up, bool down) {
  const Torus torus(p);
  return {.chunks = all.count * static_cast<Chunk>(p.segments), .shape = p.shape, .program = [=](Rank me, Program& out) {
            if (!torus.present(me)) return;
            std::array<Rank, 2 * most_axes> memory;
            for (int t = 0; t < all.count; ++t) {
              const Trees::Place place = all.place(t, me, memory);
              const Range part = train(t * static_cast<Chunk>(p.segments), p.segments);
              const std::int32_t turn = up ? all.depth : 0;  // rounds until the first segment is at the root
              Op ready = no_op;
              if (up) {
                out.round(turn - place.depth - 1);
                for (const Rank child : place.children) ready = out.combine(child, part, {ready}, t);
                out.round(turn - place.depth);
                if (me != p.root) ready = out.send(place.parent, part, {ready}, t);
              }
              if (!down) continue;
              out.round(turn + place.depth - 1);
              if (me != p.root) ready = out.receive(place.parent, part, {ready}, all.count + t);
              out.round(turn + place.depth);
              for (const Rank child : place.children) out.send(child, part, {ready}, all.count + t);
            }
          }};
}

}  // namespace fl::collectives
