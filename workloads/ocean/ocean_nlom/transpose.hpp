// Cells that go from one division of a grid among all ranks to another: from tiles to whole lines, from lines to whole columns, and back.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "firstlight/alltoall.hpp"
#include "firstlight/grid/one_process.hpp"
#include "ocean_nlom.hpp"

namespace ocean_nlom::inline FL_ROLE {

// A division: the box of each rank in global coordinates; its cells lie in memory order, without halo.
using Division = std::vector<grid::Box<3>>;

// By whom parts travel where halos do by such a transport; of several processes firstlight/collectives/alltoall.hpp knows it.
template <class Transport>
using Network = std::conditional_t<std::is_same_v<Transport, grid::OneProcess>, fl::alltoall::Alone, fl::alltoall::Messages>;

template <class Group>
class Transpose {
 public:
  // Collective.
  void open(const Division& from, const Division& to, const Group& group) {
    const auto me = static_cast<std::size_t>(group.rank);
    from_ = from[me], to_ = to[me], kept_ = grid::intersection(from_, to_);
    Index longest = 0;
    for (const auto& out : from)
      for (const auto& in : to) longest = std::max(longest, grid::intersection(out, in).cells());
    buffers_.to = buffers_.from = fl::alltoall::Parts(group.ranks);
    for (int slice = 0; slice < group.slices; ++slice)
      for (std::size_t q = 0; q < from.size(); ++q) {
        const auto piece = [&](const grid::Box<3>& one, const grid::Box<3>& other) {
          return q == me ? grid::Box<3>{} : sliced(grid::intersection(one, other), slice, group.slices);
        };
        out_.push_back(piece(from_, to[q])), in_.push_back(piece(from[q], to_));
        buffers_.to.add(group.even ? longest : out_.back().cells()), buffers_.from.add(group.even ? longest : in_.back().cells());
      }
    buffers_.out = fl::Array<double>(buffers_.to.total()), buffers_.in = fl::Array<double>(buffers_.from.total());
    group_ = group;
    exchange_ = group.exchange(buffers_);
  }
  void close() {
    exchange_.reset(), group_.reset();
    out_.clear(), in_.clear();
  }

  // Nothing where all processes have already what they want, in the same place.
  template <class Team>
  void operator()(const double* from, double* to, const Team& team) {
    if (from == to) return;
    for (int slice = 0; slice < group_->slices; ++slice) {
      team([&](Index share, Index shares) {
        for (int q = 0; q < group_->ranks; ++q) {
          const grid::Box<3>& box = out_[at(slice, q)];
          copy(box, from, from_, buffers_.out.data() + buffers_.to.begin(slice, q), box, share, shares);
        }
      });
      if (exchange_ != nullptr) exchange_->start(slice);
    }
    team([&](Index share, Index shares) { copy(kept_, from, from_, to, to_, share, shares); });
    if (exchange_ != nullptr) exchange_->finish();
    team([&](Index share, Index shares) {
      for (int slice = 0; slice < group_->slices; ++slice)
        for (int q = 0; q < group_->ranks; ++q) {
          const grid::Box<3>& box = in_[at(slice, q)];
          copy(box, buffers_.in.data() + buffers_.from.begin(slice, q), box, to, to_, share, shares);
        }
    });
  }

 private:
  std::size_t at(int slice, int q) const { return static_cast<std::size_t>(slice * group_->ranks + q); }
  // Some modes of a box.
  static grid::Box<3> sliced(grid::Box<3> box, int slice, int slices) {
    const fl::Part some = fl::part(box.size(0), slices, slice);
    const Index first = box.lower[0];
    box.lower[0] = first + some.begin, box.upper[0] = first + some.end;
    return box;
  }
  static Index place(const grid::Box<3>& box, const grid::Point<3>& p) {
    return ((p[0] - box.lower[0]) * box.size(1) + p[1] - box.lower[1]) * box.size(2) + p[2] - box.lower[2];
  }
  static void copy(const grid::Box<3>& box, const double* from, const grid::Box<3>& of, double* to, const grid::Box<3>& into, Index share,
                   Index shares) {
    grid::each_row(grid::share_of(box, share, shares), [&](const grid::Point<3>& p, Index count) {
      std::memcpy(to + place(into, p), from + place(of, p), static_cast<std::size_t>(count) * sizeof(double));
    });
  }

  grid::Box<3> from_, to_, kept_;
  std::vector<grid::Box<3>> out_, in_;  // of each slice what goes to each process, and comes from it
  fl::alltoall::Buffers<double> buffers_;
  std::optional<Group> group_;
  std::unique_ptr<fl::alltoall::Exchange> exchange_;  // none of one process
};

}  // namespace ocean_nlom::inline FL_ROLE
