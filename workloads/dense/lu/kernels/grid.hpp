// A grid of processes: who decides about a panel's next row, how rows change places between processes, and how a panel gets to the other columns.
#pragma once

#include <mpi.h>

#include <map>

#include "pivoting.hpp"

namespace lu {

// The largest of all processes in a column of the grid.
class Among : public Largest {
 public:
  Among(MPI_Comm column, Index parts) : column_(column), offers_(static_cast<std::size_t>(parts)) {}
  void owned_by(Index part) { owner_ = static_cast<std::size_t>(part); }  // the panel's first rows, one of which always yields

  Decision decide(const Offer& mine) {
    constexpr int doubles = sizeof(Offer) / sizeof(double);
    MPI_Allgather(&mine, doubles, MPI_DOUBLE, offers_.data(), doubles, MPI_DOUBLE, column_);
    const Offer* chosen = &offers_[owner_];
    for (const Offer& offer : offers_)
      if (offer.size > chosen->size || (offer.size == chosen->size && offer.at < chosen->at)) chosen = &offer;
    int me = 0;
    MPI_Comm_rank(column_, &me);
    return {chosen, &offers_[owner_], chosen == &offers_[static_cast<std::size_t>(me)]};
  }

 private:
  MPI_Comm column_;
  std::vector<Offer> offers_;
  std::size_t owner_ = 0;
};

// Returns, for each row that participates in a sequence of exchanges, the row that is in its place at the end.
inline std::map<Index, Index> rows_after_exchanges(Index begin, const std::vector<Index>& places) {
  std::map<Index, Index> sources;
  for (std::size_t j = 0; j < places.size(); ++j) {
    const Index row = begin + static_cast<Index>(j);
    for (const Index i : {row, places[j]}) sources.try_emplace(i, i);
    std::swap(sources[row], sources[places[j]]);
  }
  return sources;
}

// Rows of local columns change places between the processes of a column of the grid.
class Exchange {
 public:
  explicit Exchange(MPI_Comm column) : column_(column) {}

  // Afterwards top() has the rows that came to begin, begin + 1, ...; those are not written to A here.
  void operator()(State& s, Index begin, const std::vector<Index>& places, Index first, Index width) {
    const std::map<Index, Index> sources = rows_after_exchanges(begin, places);
    std::vector<int> counts(static_cast<std::size_t>(s.rows.parts), 0), starts(counts);
    for (const auto& [row, from] : sources) counts[static_cast<std::size_t>(s.rows.owner(row))] += static_cast<int>(width);
    for (std::size_t p = 1; p < counts.size(); ++p) starts[p] = starts[p - 1] + counts[p - 1];
    std::map<Index, Index> found;  // where a row is among all that are gathered
    std::vector<int> next = starts;
    mine_.clear();
    for (const auto& [row, from] : sources) {
      int& place = next[static_cast<std::size_t>(s.rows.owner(row))];
      found[row] = place;
      place += static_cast<int>(width);
      if (s.rows.has(row)) mine_.insert(mine_.end(), at(s, row) + first, at(s, row) + first + width);
    }
    all_.resize(sources.size() * static_cast<std::size_t>(width));
    MPI_Allgatherv(mine_.data(), static_cast<int>(mine_.size()), MPI_DOUBLE, all_.data(), counts.data(), starts.data(), MPI_DOUBLE,
                   column_);
    top_.resize(places.size() * static_cast<std::size_t>(width));
    const Index end = begin + static_cast<Index>(places.size());
    for (const auto& [row, from] : sources) {
      const double* came = all_.data() + found[from];
      if (row < end)
        std::copy_n(came, width, top_.data() + (row - begin) * width);
      else if (s.rows.has(row))
        std::copy_n(came, width, at(s, row) + first);
    }
  }
  double* top() { return top_.data(); }

 private:
  static double* at(State& s, Index row) { return s.row(s.rows.before(row)); }

  MPI_Comm column_;
  std::vector<double> mine_, all_, top_;
};

// A panel on its way along the rows of the grid, from the column of processes that factored it: its top and the rows below of each process.
template <class Product>
class Route {
 public:
  Route(MPI_Comm row, Index processes) : row_(row), processes_(static_cast<int>(processes)) {}

  void send(Panel<Product>& panel, Index below) {
    int me = 0;
    MPI_Comm_rank(row_, &me);
    for (int to = 0; to < processes_; ++to) {
      if (to == me) continue;
      MPI_Isend(panel.top(0), top_size(panel), MPI_DOUBLE, to, 0, row_, more());
      MPI_Isend(panel.row(panel.rows() - below), size(below), MPI_DOUBLE, to, 1, row_, more());
    }
  }
  void receive(Panel<Product>& panel, Index below, Index from) { receive(panel, panel.row(panel.rows() - below), below, from); }
  void wait() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }

 protected:
  void receive(Panel<Product>& panel, double* rows, Index below, Index from) {
    MPI_Irecv(panel.top(0), top_size(panel), MPI_DOUBLE, static_cast<int>(from), 0, row_, more());
    MPI_Irecv(rows, size(below), MPI_DOUBLE, static_cast<int>(from), 1, row_, more());
  }

 private:
  static int size(Index rows) { return static_cast<int>(rows * panel_stride); }
  static int top_size(const Panel<Product>& panel) { return size(panel.width() + 1); }  // with the places of its rows behind it
  MPI_Request* more() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  MPI_Comm row_;
  int processes_;
  std::vector<MPI_Request> requests_;
};

}  // namespace lu
