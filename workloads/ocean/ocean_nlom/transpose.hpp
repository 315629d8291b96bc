// Cells that go from one division of a grid among all ranks to another: from tiles to whole lines, from lines to whole columns, and back.
#pragma once

#include <cstring>
#include <memory>

#include "firstlight/grid/parcel.hpp"
#include "ocean_nlom.hpp"

namespace ocean_nlom::inline FL_ROLE {

// A division: the box of each rank in global coordinates; its cells lie in memory order, without halo.
using Division = std::vector<grid::Box<3>>;

template <class Transport>
class Transpose {
 public:
  // Collective; tags are this one's own. By messages, however halos travel: who has something for a process may want nothing of it.
  void open(const Division& from, const Division& to, int rank, int tag) {
    const auto me = static_cast<std::size_t>(rank);
    from_ = from[me], to_ = to[me];
    std::vector<grid::Parcel> sends, receives;
    for (std::size_t r = 0; r < from.size(); ++r) {
      const grid::Box<3> out = grid::intersection(from_, to[r]), in = grid::intersection(from[r], to_);
      if (r == me)
        kept_ = out;
      else
        add(out_, out, sends, static_cast<int>(r), tag), add(in_, in, receives, static_cast<int>(r), tag);
    }
    channel_ = std::make_unique<typename Transport::Channel>(Transport{}, receives, sends);
  }
  void close() {
    channel_.reset();
    out_.clear(), in_.clear();
  }

  // Nothing where all processes have already what they want, in the same place.
  template <class Team>
  void operator()(const double* from, double* to, const Team& team) {
    if (from == to) return;
    channel_->receive();
    team([&](Index share, Index shares) {
      for (const Piece& piece : out_) copy(piece.box, from, from_, piece.cells->data(), piece.box, share, shares);
      copy(kept_, from, from_, to, to_, share, shares);
    });
    channel_->send();
    channel_->wait();
    team([&](Index share, Index shares) {
      for (const Piece& piece : in_) copy(piece.box, piece.cells->data(), piece.box, to, to_, share, shares);
    });
  }

 private:
  struct Piece {
    grid::Box<3> box;
    std::unique_ptr<fl::Array<double>> cells;
  };

  static void add(std::vector<Piece>& pieces, const grid::Box<3>& box, std::vector<grid::Parcel>& parcels, int peer, int tag) {
    if (box.empty()) return;
    pieces.push_back({box, std::make_unique<fl::Array<double>>(box.cells())});
    parcels.push_back({peer, tag, pieces.back().cells->data(), box.cells() * static_cast<Index>(sizeof(double))});
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
  std::vector<Piece> out_, in_;
  std::unique_ptr<typename Transport::Channel> channel_;
};

}  // namespace ocean_nlom::inline FL_ROLE
