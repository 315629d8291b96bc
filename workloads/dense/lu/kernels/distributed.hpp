// A grid of processes, blocks dealt to it cyclically (HPL, ScaLAPACK): a panel is factored by the column of processes that has it while the others
// still update by the panel before, for its columns are updated first (look-ahead).
#pragma once

#include <memory>

#include "grid.hpp"
#include "solve.hpp"

namespace lu {

// What a process has for panels: how it participates in factoring one.
template <class Product>
class PartialAmong {
 public:
  PartialAmong(const State& s, MPI_Comm column) : pivots_(column, s.rows.parts) {}

  std::vector<Index> factor(State& s, const Columns& c, Panel<Product>& panel, Product& product) {
    const Index above = s.rows.before(c.begin), first = s.columns.before(c.begin);
    std::vector<Index> at;
    for (Index i = above; i < s.rows.size(); ++i) at.push_back(s.rows.at(i));
    panel.open(c.size(), s.rows.has(c.begin) ? c.size() : 0, std::move(at));
    for (Index i = 0; i < panel.rows(); ++i) std::copy_n(s.row(above + i) + first, c.size(), panel.row(i));
    pivots_.owned_by(s.rows.owner(c.begin));
    panel.factor(pivots_, product);
    for (Index i = 0; i < panel.rows(); ++i) std::copy_n(panel.row(i), c.size(), s.row(above + i) + first);
    std::vector<Index> places;
    for (Index j = 0; j < c.size(); ++j) places.push_back(panel.place(j));
    return places;
  }

 private:
  Among pivots_;
};

// Groups of rows are within processes, so each holds elections among its own; all know the winners, and hold the last ones alike.
template <class Product>
class TournamentAmong {
 public:
  TournamentAmong(const State&, MPI_Comm column) : column_(column), exchange_(column) {}

  std::vector<Index> factor(State& s, const Columns& c, Panel<Product>& panel, Product& product) {
    std::vector<Index> winners;
    Rows chosen = elections_.last(all_groups(s, c, product), c.size(), product);
    for (const auto& row : chosen) winners.push_back(row.at);
    const std::vector<Index> places = to_the_top(c.begin, s.n, winners);
    const Index first = s.columns.before(c.begin), below = s.rows.before(c.end);
    exchange_(s, c.begin, places, first, c.size());
    std::vector<Index> at(static_cast<std::size_t>(c.size()));
    std::iota(at.begin(), at.end(), c.begin);
    for (Index i = below; i < s.rows.size(); ++i) at.push_back(s.rows.at(i));
    panel.open(c.size(), c.size(), std::move(at));
    for (Index i = 0; i < c.size(); ++i) std::copy_n(exchange_.top() + i * c.size(), c.size(), panel.row(i));
    for (Index i = below; i < s.rows.size(); ++i) std::copy_n(s.row(i) + first, c.size(), panel.row(c.size() + i - below));
    AsTheyStand pivots;
    panel.factor(pivots, product);
    for (Index i = s.rows.before(c.begin); i < below; ++i) std::copy_n(panel.row(s.rows.at(i) - c.begin), c.size(), s.row(i) + first);
    for (Index i = below; i < s.rows.size(); ++i) std::copy_n(panel.row(c.size() + i - below), c.size(), s.row(i) + first);
    return places;
  }

 private:
  using Rows = typename Elections<Product>::Rows;

  // Each group's winners, as many as the panel has columns or fewer: a number of the row, then its elements; -1 where there is none.
  std::vector<Rows> all_groups(const State& s, const Columns& c, Product& product) {
    std::vector<Rows> groups(static_cast<std::size_t>(s.p.groups));
    const Index first = s.columns.before(c.begin), length = c.size() + 1, own = s.p.groups / s.rows.parts;
    for (Index i = s.rows.before(c.begin); i < s.rows.size(); ++i)
      groups[static_cast<std::size_t>(group_of(s.p, s.rows.at(i)))].push_back(
          {s.rows.at(i), std::vector<double>(s.row(i) + first, s.row(i) + first + c.size())});
    std::vector<double> mine, all(static_cast<std::size_t>(s.p.groups * c.size() * length));
    for (Index g = s.rows.mine; g < s.p.groups; g += s.rows.parts) {
      const Rows best = elections_.best(std::move(groups[static_cast<std::size_t>(g)]), c.size(), product);
      for (std::size_t j = 0; j < static_cast<std::size_t>(c.size()); ++j) {
        mine.push_back(j < best.size() ? static_cast<double>(best[j].at) : -1);
        mine.resize(mine.size() + static_cast<std::size_t>(c.size()), 0);
        if (j < best.size()) std::copy(best[j].elements.begin(), best[j].elements.end(), mine.end() - c.size());
      }
    }
    MPI_Allgather(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(), static_cast<int>(mine.size()), MPI_DOUBLE, column_);
    for (Index g = 0; g < s.p.groups; ++g) {
      const double* from = all.data() + (g % s.rows.parts * own + g / s.rows.parts) * c.size() * length;
      Rows& group = groups[static_cast<std::size_t>(g)];
      group.clear();
      for (Index j = 0; j < c.size() && from[j * length] >= 0; ++j)
        group.push_back({static_cast<Index>(from[j * length]), std::vector<double>(from + j * length + 1, from + (j + 1) * length)});
    }
    return groups;
  }

  MPI_Comm column_;
  Exchange exchange_;
  Elections<Product> elections_;
};

template <template <class> class Pivoting, class Product, class Swap = Exchange, template <class> class Way = Route>
class Distributed {
 public:
  void open(State& s) {
    MPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(s.rows.mine), static_cast<int>(s.columns.mine), &row_);
    MPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(s.columns.mine), static_cast<int>(s.rows.mine), &column_);
    pivoting_ = std::make_unique<Pivoting<Product>>(s, column_);
    exchange_ = std::make_unique<Swap>(column_);
    route_ = std::make_unique<Way<Product>>(row_, s.columns.parts);
    count_ = (s.n + s.p.block - 1) / s.p.block;
  }
  void close(State&) {
    MPI_Comm_free(&row_);
    MPI_Comm_free(&column_);
  }

  void step(State& s, Index) {
    const Index width = s.columns.size();
    if (has_right_side(s))
      for (Index i = 0; i < s.rows.size(); ++i) s.row(i)[width] = s.factor * s.b[s.rows.at(i)];
    const Index end = width + (has_right_side(s) ? 1 : 0);
    begin_panel(s, 0);
    for (Index k = 0; k < count_; ++k) {
      fl::during(phases("panels"), [&] { route_->wait(); });
      know_places(s, k);
      Index first = s.columns.before(columns(s, k).end);
      if (k + 1 < count_ && s.columns.has(columns(s, k + 1).begin)) {
        const Index next = s.columns.before(columns(s, k + 1).end);
        fl::during(phases("updates"), [&] { update(s, k, first, next); });
        first = next;
      }
      if (k + 1 < count_) begin_panel(s, k + 1);
      const fl::In in(phases("updates"));
      update(s, k, first, end);
    }
    route_->wait();
    const fl::In in(phases("solve"));
    solve(s);
  }

 private:
  static Columns columns(const State& s, Index k) { return {k * s.p.block, std::min((k + 1) * s.p.block, s.n)}; }
  // It is the column behind the last block's, of the process that would have the next block.
  bool has_right_side(const State& s) const { return count_ % s.columns.parts == s.columns.mine; }
  Panel<Product>& panel(Index k) { return panels_[k % 2]; }

  // Factors a panel and sends it, or waits for it.
  void begin_panel(State& s, Index k) {
    const fl::In in(phases("panels"));
    const Columns c = columns(s, k);
    const Index below = s.rows.size() - s.rows.before(c.end);
    if (!s.columns.has(c.begin)) {
      std::vector<Index> at;
      for (Index i = s.rows.before(c.end); i < s.rows.size(); ++i) at.push_back(s.rows.at(i));
      panel(k).open(c.size(), 0, std::move(at));
      return route_->receive(panel(k), below, s.columns.owner(c.begin));
    }
    const std::vector<Index> places = pivoting_->factor(s, c, panel(k), product_);
    for (std::size_t j = 0; j < places.size(); ++j) panel(k).top(c.size())[j] = static_cast<double>(places[j]);
    route_->send(panel(k), below);
  }
  void know_places(State& s, Index k) {
    const Columns c = columns(s, k);
    places_.clear();
    for (Index j = 0; j < c.size(); ++j) places_.push_back(s.pivot[c.begin + j] = static_cast<Index>(panel(k).top(c.size())[j]));
  }

  // Local columns first <= j < end after panel k.
  void update(State& s, Index k, Index first, Index end) {
    const Index width = end - first;
    if (width == 0) return;
    const Columns c = columns(s, k);
    const Index above = s.rows.before(c.begin), below = s.rows.before(c.end), rows = s.rows.size() - below;
    (*exchange_)(s, c.begin, places_, first, width);
    double* u = exchange_->top();
    product_({panel(k).top(0), u, width, c.size(), width, panel(k).row(panel(k).rows() - rows), s.row(below) + first, s.ld, rows});
    for (Index i = above; i < below; ++i) std::copy_n(u + (i - above) * width, width, s.row(i) + first);
  }

  // U x = y: block after block from the last one on. y goes to the processes that have the block's columns, which take away what x of this
  // block adds to the rows above.
  void solve(State& s) {
    std::vector<double> y(static_cast<std::size_t>(s.rows.size()));
    if (has_right_side(s))
      for (Index i = 0; i < s.rows.size(); ++i) y[static_cast<std::size_t>(i)] = s.row(i)[s.columns.size()];
    Index here = count_ % s.columns.parts;  // the column of processes that has y
    for (Index k = count_ - 1; k >= 0; --k) {
      const Columns c = columns(s, k);
      const Index above = s.rows.before(c.begin), owner = s.columns.owner(c.begin), first = s.columns.before(c.begin);
      pass(y, s.rows.before(c.end), here, owner, s.columns.mine);
      here = owner;
      double* x = s.x.data() + c.begin;
      if (s.columns.has(c.begin) && s.rows.has(c.begin)) {
        std::copy_n(y.data() + above, c.size(), x);
        solve_block(s.row(above) + first, s.ld, x, c.size());
      }
      MPI_Bcast(x, static_cast<int>(c.size()), MPI_DOUBLE, static_cast<int>(s.rows.owner(c.begin) * s.columns.parts + owner),
                MPI_COMM_WORLD);
      if (s.columns.has(c.begin))
        for (Index i = 0; i < above; ++i) y[static_cast<std::size_t>(i)] -= product_of(s.row(i) + first, x, 0, c.size());
    }
  }
  void pass(std::vector<double>& y, Index count, Index from, Index to, Index me) const {
    if (from == to) return;
    if (me == from) MPI_Send(y.data(), static_cast<int>(count), MPI_DOUBLE, static_cast<int>(to), 2, row_);
    if (me == to) MPI_Recv(y.data(), static_cast<int>(count), MPI_DOUBLE, static_cast<int>(from), 2, row_, MPI_STATUS_IGNORE);
  }

  MPI_Comm row_ = MPI_COMM_NULL, column_ = MPI_COMM_NULL;
  std::unique_ptr<Pivoting<Product>> pivoting_;
  std::unique_ptr<Swap> exchange_;
  std::unique_ptr<Way<Product>> route_;
  Panel<Product> panels_[2];
  Product product_;
  Index count_ = 0;
  std::vector<Index> places_;
};

}  // namespace lu
