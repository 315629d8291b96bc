// Elements of x that rows of a process need from others: who needs which is found once and asked for by lists, then travels in every step.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "csr.hpp"

namespace spmv::inline FL_ROLE {

class Halo {
 public:
  // Makes room for them in s.x behind the zeros.
  void open(State& s) {
    find(s);
    fl::Array<double> x(from() + static_cast<fl::Index>(needed_.size()));
    std::copy_n(s.x.data(), from(), x.data());
    fl::poison(x.data() + from(), x.size() - from());
    s.x = std::move(x);
    ask(s);
  }
  void close() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }
  // Where in s.x an element of the whole x is, own or needed.
  fl::Index local(fl::Index i) const {
    if (i >= own_.begin && i < own_.end) return i - own_.begin;
    return from() + (std::lower_bound(needed_.begin(), needed_.end(), i) - needed_.begin());
  }

  void start(const State& s) {
    for (std::size_t k = 0; k < given_.size(); ++k) out_[k] = s.x[given_[k] - own_.begin];
    if (!requests_.empty()) MPI_Startall(static_cast<int>(requests_.size()), requests_.data());  // Open MPI refuses none
  }
  void finish() { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

 private:
  static constexpr int tag = 1;
  fl::Index from() const { return own_.size() + block; }

  void find(const State& s) {
    own_ = s.own;
    for (fl::Index i = own_.begin; i < own_.end; ++i)
      s.matrix.row(i, [&](fl::Index c, double) {
        if (c < own_.begin || c >= own_.end) needed_.push_back(c);
      });
    std::sort(needed_.begin(), needed_.end());
    needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
  }

  // The owners are told which elements; needed ones of one owner lie side by side.
  void ask(State& s) {
    const auto ranks = static_cast<std::size_t>(s.team.ranks);
    std::vector<int> mine(ranks), theirs(ranks), mine_first(ranks), theirs_first(ranks);
    for (const fl::Index c : needed_) ++mine[static_cast<std::size_t>(fl::part_of(s.matrix.rows(), s.team.ranks, c))];
    MPI_Alltoall(mine.data(), 1, MPI_INT, theirs.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t r = 1; r < ranks; ++r) {
      mine_first[r] = mine_first[r - 1] + mine[r - 1];
      theirs_first[r] = theirs_first[r - 1] + theirs[r - 1];
    }
    given_.resize(static_cast<std::size_t>(theirs_first[ranks - 1] + theirs[ranks - 1]));
    out_.resize(given_.size());
    MPI_Alltoallv(needed_.data(), mine.data(), mine_first.data(), MPI_LONG_LONG, given_.data(), theirs.data(), theirs_first.data(),
                  MPI_LONG_LONG, MPI_COMM_WORLD);
    for (std::size_t r = 0; r < ranks; ++r) {
      if (mine[r] > 0)
        MPI_Recv_init(s.x.data() + from() + mine_first[r], mine[r], MPI_DOUBLE, static_cast<int>(r), tag, MPI_COMM_WORLD, &request());
      if (theirs[r] > 0)
        MPI_Send_init(out_.data() + theirs_first[r], theirs[r], MPI_DOUBLE, static_cast<int>(r), tag, MPI_COMM_WORLD, &request());
    }
  }
  MPI_Request& request() { return requests_.emplace_back(); }

  fl::Part own_;
  std::vector<fl::Index> needed_, given_;  // elements of the whole x: of others, ascending; own ones, by who needs them
  std::vector<double> out_;
  std::vector<MPI_Request> requests_;
};

template <class Format>
struct Processes {
  Halo halo;
  std::optional<Format> a;

  void open(State& s) {
    halo.open(s);
    a.emplace(Csr(s, [&](fl::Index c) { return halo.local(c); }));
  }
  void step(State& s, fl::Index) {
    halo.start(s);
    halo.finish();
    a->multiply(s.x.data(), s.y.data(), s.scale, {0, a->units()});
  }
  void close(State&) { halo.close(); }
};

}  // namespace spmv::inline FL_ROLE
