// Wrong: the outermost words of the halo are left as they were.
#include "kernels/sides.hpp"

namespace {

void narrow(halo::Region& r, int way) {
  if (halo::row_step[way] != 0) --r.rows;
  if (halo::column_step[way] != 0) --r.columns;
  if (halo::row_step[way] < 0) ++r.row;
  if (halo::column_step[way] < 0) ++r.column;
}

struct Exchange : halo::OpenSides {
  void open(halo::State& s) {
    OpenSides::open(s);
    for (std::size_t way = 0; way < halo::sides; ++way) {
      halo::Side& side = all.side[way];
      narrow(side.in, side.way);
      narrow(side.out, halo::opposite(side.way));
      side.send.count = side.receive.count = static_cast<int>(side.out.words());
    }
  }

  void step(halo::State& s, fl::Index) {
    halo::two_packed_phases(s, all, [](const halo::Side& low, const halo::Side& high) { halo::exchange(low, high); });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = halo::packed_only)
