// Elements of x that rows of a process need from others: the needed elements are found once and requested by lists, then travel in every
// step.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "matrices.hpp"

namespace sparse {

class Halo {
 public:
  // Collective. `from`: where in this process's part of a vector what comes from others begins.
  Halo(const Matrix& matrix, fl::Part own, const fl::Team& team, fl::Index from) : own_(own), from_(from) {
    find(matrix);
    exchange_lists(matrix, team);
  }
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;
  ~Halo() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  // Elements of a part with what comes from others.
  fl::Index size() const { return from_ + static_cast<fl::Index>(needed_.size()); }
  // Where in it an element of the whole vector is, own or needed.
  fl::Index local(fl::Index i) const {
    if (i >= own_.begin && i < own_.end) return i - own_.begin;
    return from_ + (std::lower_bound(needed_.begin(), needed_.end(), i) - needed_.begin());
  }

  void start(const double* x) {
    for (std::size_t k = 0; k < given_.size(); ++k) out_[k] = x[given_[k] - own_.begin];
    if (!requests_.empty()) MPI_Startall(static_cast<int>(requests_.size()), requests_.data());  // Open MPI refuses none
  }
  void finish(double* x) {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    std::copy(in_.begin(), in_.end(), x + from_);
  }

 private:
  static constexpr int tag = 1;

  void find(const Matrix& matrix) {
    for (fl::Index i = own_.begin; i < own_.end; ++i)
      matrix.row(i, [&](fl::Index c, double) {
        if (c < own_.begin || c >= own_.end) needed_.push_back(c);
      });
    std::sort(needed_.begin(), needed_.end());
    needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
  }

  // Sends the owners the numbers of the needed elements. Those of one owner are adjacent.
  void exchange_lists(const Matrix& matrix, const fl::Team& team) {
    const auto ranks = static_cast<std::size_t>(team.ranks);
    std::vector<int> mine(ranks), theirs(ranks), mine_first(ranks), theirs_first(ranks);
    for (const fl::Index c : needed_) ++mine[static_cast<std::size_t>(fl::part_of(matrix.rows(), team.ranks, c))];
    MPI_Alltoall(mine.data(), 1, MPI_INT, theirs.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t r = 1; r < ranks; ++r) {
      mine_first[r] = mine_first[r - 1] + mine[r - 1];
      theirs_first[r] = theirs_first[r - 1] + theirs[r - 1];
    }
    given_.resize(static_cast<std::size_t>(theirs_first[ranks - 1] + theirs[ranks - 1]));
    out_.resize(given_.size());
    in_.resize(needed_.size());
    MPI_Alltoallv(needed_.data(), mine.data(), mine_first.data(), MPI_LONG_LONG, given_.data(), theirs.data(), theirs_first.data(),
                  MPI_LONG_LONG, MPI_COMM_WORLD);
    for (std::size_t r = 0; r < ranks; ++r) {
      if (mine[r] > 0) MPI_Recv_init(in_.data() + mine_first[r], mine[r], MPI_DOUBLE, static_cast<int>(r), tag, MPI_COMM_WORLD, &request());
      if (theirs[r] > 0)
        MPI_Send_init(out_.data() + theirs_first[r], theirs[r], MPI_DOUBLE, static_cast<int>(r), tag, MPI_COMM_WORLD, &request());
    }
  }
  MPI_Request& request() { return requests_.emplace_back(); }

  fl::Part own_;
  fl::Index from_;
  std::vector<fl::Index> needed_, given_;  // elements of the whole x: of others, ascending; own ones, by who needs them
  std::vector<double> out_, in_;
  std::vector<MPI_Request> requests_;
};

}  // namespace sparse
