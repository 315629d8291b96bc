// Cells that go from one division of a grid among all ranks to another: from tiles to whole lines, from lines to whole columns, and back.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "firstlight/alltoall.hpp"
#include "firstlight/grid/one_process.hpp"
#include "ocean_nlom.hpp"

namespace ocean_nlom {

// A division: the box of each rank in global coordinates; its cells are in memory order, without halo.
using Division = std::vector<grid::Box<3>>;

// By whom parts travel where halos do by such a transport; with several processes it uses firstlight/collectives/alltoall.hpp.
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

  template <class Team>
  void operator()(const double* from, double* to, const Team& team) {
    send(from, team);
    team([&](Index share, Index shares) { copy(kept_, from, from_, to, to_, share, shares); });
    arrive(to, team);
  }

  // Or row by row, for who has a row in the cache. Where `from` has whole rows: put() of all rows of a slice of modes, start() of it, and when
  // all have started arrive(). Where `to` has: send(), wait(), and get() of all rows. What stays here is in `to`, or `from`, as it is.
  int slices() const { return group_->slices; }
  fl::Part modes(int slice) const { return fl::part(from_.size(0), slices(), slice); }
  void put(int slice, Index m, Index j, const double* row, double* to) {
    each_piece(slice, m, j, out_, buffers_.out.data(), buffers_.to, to, to_,
               [&](Index i, double* piece, std::size_t bytes) { std::memcpy(piece, row + i - from_.lower[2], bytes); });
  }
  void get(int slice, Index m, Index j, double* from, double* row) {
    each_piece(slice, m, j, in_, buffers_.in.data(), buffers_.from, from, from_,
               [&](Index i, const double* piece, std::size_t bytes) { std::memcpy(row + i - to_.lower[2], piece, bytes); });
  }
  void start(int slice) {
    if (exchange_ != nullptr) exchange_->start(slice);
  }
  void wait() {
    if (exchange_ != nullptr) exchange_->finish();
  }
  template <class Team>
  void send(const double* from, const Team& team) {
    for (int slice = 0; slice < slices(); ++slice) {
      team([&](Index share, Index shares) {
        for (int q = 0; q < group_->ranks; ++q) {
          const grid::Box<3>& box = out_[at(slice, q)];
          copy(box, from, from_, buffers_.out.data() + buffers_.to.begin(slice, q), box, share, shares);
        }
      });
      start(slice);
    }
  }
  template <class Team>
  void arrive(double* to, const Team& team) {
    wait();
    team([&](Index share, Index shares) {
      for (int slice = 0; slice < slices(); ++slice)
        for (int q = 0; q < group_->ranks; ++q) {
          const grid::Box<3>& box = in_[at(slice, q)];
          copy(box, buffers_.in.data() + buffers_.from.begin(slice, q), box, to, to_, share, shares);
        }
    });
  }

 private:
  std::size_t at(int slice, int q) const { return static_cast<std::size_t>(slice * group_->ranks + q); }
  // visit(i, piece, bytes): what of the row (m, j) each process has, or this one in `here`, from the column i on.
  template <class Visit>
  void each_piece(int slice, Index m, Index j, const std::vector<grid::Box<3>>& boxes, double* buffer, const fl::alltoall::Parts& parts,
                  double* here, const grid::Box<3>& of, const Visit& visit) const {
    for (int q = 0; q < group_->ranks; ++q) {
      const bool mine = q == group_->rank;
      const grid::Box<3>& box = mine ? kept_ : boxes[at(slice, q)];
      if (box.empty()) continue;
      const grid::Point<3> first{m, j, box.lower[2]};
      double* piece = mine ? here + place(of, first) : buffer + parts.begin(slice, q) + place(box, first);
      visit(first[2], piece, static_cast<std::size_t>(box.size(2)) * sizeof(double));
    }
  }
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

}  // namespace ocean_nlom
