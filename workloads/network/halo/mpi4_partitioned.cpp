// Partitioned messages (MPI 4): a message is handed over piece by piece while it is packed, and unpacked piece by piece as it comes.
#include <algorithm>

#include "kernels/sides.hpp"

namespace {

constexpr int most_pieces = 4;

// One side's message in pieces of equal length, each a region of its own, one behind the other in the box.
struct Pieces {
  int count = 1;
  std::array<halo::Region, most_pieces> out, in;
  fl::Index words = 0, bytes = 0;  // of one piece
  MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
};

// The k-th of `count` parts of a region, cut across its longer dimension.
halo::Region part(halo::Region r, int k, int count) {
  if (r.rows > r.columns) {
    r.rows /= count;
    r.row += k * r.rows;
  } else {
    r.columns /= count;
    r.column += k * r.columns;
  }
  return r;
}

void cut(const halo::State& s, const halo::Side& side, Pieces& p) {
  const fl::Index length = std::max(side.out.rows, side.out.columns);
  for (p.count = most_pieces; length % p.count != 0;) p.count /= 2;
  for (int k = 0; k < p.count; ++k) {
    p.out[static_cast<std::size_t>(k)] = part(side.out, k, p.count);
    p.in[static_cast<std::size_t>(k)] = part(side.in, k, p.count);
  }
  p.words = side.out.words() / p.count;
  p.bytes = p.words * s.word;
}

void hand_over(const halo::State& s, const halo::Side& side, const Pieces& p) {
  for (int k = 0; k < p.count; ++k) {
    if (side.boxed) pack(s, s.domains[0].field, p.out[static_cast<std::size_t>(k)], side.outbox + k * p.bytes);
    MPI_Pready(k, p.send);
  }
}

void take(const halo::State& s, const halo::Side& side, Pieces& p) {
  for (int k = 0; k < p.count; ++k) {
    for (int here = 0; here == 0;) MPI_Parrived(p.receive, k, &here);
    if (side.boxed) unpack(s, side.inbox + k * p.bytes, s.domains[0].field, p.in[static_cast<std::size_t>(k)]);
  }
  MPI_Wait(&p.receive, MPI_STATUS_IGNORE);
}

std::string no_datatypes(const halo::Params& p) {
  return p.data == halo::Data::datatype ? "this variant of halo supports only data=packed and data=inplace: a "
                                          "datatype cannot be partitioned"
                                        : halo::narrow_in_place(p);
}

struct Exchange {
  halo::Sides all;
  std::array<Pieces, halo::sides> pieces;

  void open(halo::State& s) {
    all.open(s);
    for (std::size_t way = 0; way < halo::sides; ++way) {
      const halo::Side& side = all.side[way];
      Pieces& p = pieces[way] = {};
      if (side.here) continue;
      cut(s, side, p);
      MPI_Precv_init(side.receive.data, p.count, p.words, side.receive.type, side.peer, side.in_tag, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &p.receive);
      MPI_Psend_init(side.send.data, p.count, p.words, side.send.type, side.peer, side.out_tag, MPI_COMM_WORLD, MPI_INFO_NULL, &p.send);
    }
  }

  void close(halo::State&) {
    for (Pieces& p : pieces)
      for (MPI_Request* request : {&p.send, &p.receive})
        if (*request != MPI_REQUEST_NULL) MPI_Request_free(request);
    all.close();
  }

  void step(halo::State& s, fl::Index) {
    halo::two_phases(s, all, [&](const halo::Side& low, const halo::Side& high) {
      Pieces &below = pieces[static_cast<std::size_t>(low.way)], &above = pieces[static_cast<std::size_t>(high.way)];
      for (Pieces* p : {&below, &above}) {
        MPI_Start(&p->receive);
        MPI_Start(&p->send);
      }
      hand_over(s, low, below);
      hand_over(s, high, above);
      take(s, high, above);
      take(s, low, below);
      MPI_Wait(&below.send, MPI_STATUS_IGNORE);
      MPI_Wait(&above.send, MPI_STATUS_IGNORE);
    });
  }
};

}  // namespace

FL_VARIANT(halo, Exchange, .refuse = no_datatypes)
