// Which row of a panel comes next.
#pragma once

#include <numeric>
#include <optional>

#include "panel.hpp"

namespace lu {

// Columns begin <= j < end of rows of A.
struct Columns {
  Index begin, end;
  Index size() const { return end - begin; }
};

inline void exchange(State& s, Index k, const Columns& c) {
  if (const Index other = s.pivot[k]; other != k) std::swap_ranges(s.row(k) + c.begin, s.row(k) + c.end, s.row(other) + c.begin);
}

// Rows of A from `begin` on, these columns of them.
template <class Product>
void load(const State& s, const Columns& c, Panel<Product>& panel) {
  std::vector<Index> at(static_cast<std::size_t>(s.n - c.begin));
  std::iota(at.begin(), at.end(), c.begin);
  panel.open(c.size(), c.size(), std::move(at));
  for (Index i = 0; i < panel.rows(); ++i) std::copy_n(s.row(c.begin + i) + c.begin, c.size(), panel.row(i));
}
template <class Product>
void store(State& s, const Columns& c, const Panel<Product>& panel) {
  for (Index i = 0; i < panel.rows(); ++i) std::copy_n(panel.row(i), c.size(), s.row(c.begin + i) + c.begin);
}

// Finds the pivots by a policy, in each column.
template <class Pivots, class Product>
class Searched {
 public:
  void factor(State& s, const Columns& c, Panel<Product>& panel, Product& product) {
    load(s, c, panel);
    panel.factor(pivots_, product);
    for (Index j = 0; j < c.size(); ++j) s.pivot[c.begin + j] = panel.place(j);
    store(s, c, panel);
  }

 private:
  Pivots pivots_;
};

template <class Product>
using Partial = Searched<Largest, Product>;

// The winners of a tournament: groups of rows choose as many as the panel has columns, each by an elimination of its own; of two groups'
// winners the next round chooses, until one is left. All exchanges are then known, and the panel is eliminated without looking for any.
template <class Product>
class Elections {
 public:
  // A row that is somewhere in A, with its elements.
  struct Row {
    Index at;
    std::vector<double> elements;
  };
  using Rows = std::vector<Row>;

  // Returns the rows that partial pivoting chooses, in its order.
  Rows best(Rows rows, Index width, Product& product) {
    const Index chosen = std::min(width, static_cast<Index>(rows.size()));
    std::vector<Index> places(rows.size());
    std::iota(places.begin(), places.end(), 0);
    panel_.open(chosen, chosen, std::move(places));
    for (Index i = 0; i < panel_.rows(); ++i) std::copy_n(rows[static_cast<std::size_t>(i)].elements.data(), chosen, panel_.row(i));
    Largest pivots;
    panel_.factor(pivots, product);
    for (Index j = 0; j < chosen; ++j) std::swap(rows[static_cast<std::size_t>(j)], rows[static_cast<std::size_t>(panel_.place(j))]);
    rows.resize(static_cast<std::size_t>(chosen));
    return rows;
  }

  // Returns the winners of several groups' winners.
  Rows last(std::vector<Rows> winners, Index width, Product& product) {
    while (winners.size() > 1) {
      std::vector<Rows> next;
      for (std::size_t g = 0; g < winners.size(); g += 2) {
        if (g + 1 < winners.size()) {
          std::move(winners[g + 1].begin(), winners[g + 1].end(), std::back_inserter(winners[g]));
          winners[g] = best(std::move(winners[g]), width, product);
        }
        next.push_back(std::move(winners[g]));
      }
      winners = std::move(next);
    }
    return std::move(winners[0]);
  }

 private:
  Panel<Product> panel_;
};

// Rows that change places so that these come to the top, in this order: row begin + j with the j-th of the answer.
inline std::vector<Index> to_the_top(Index begin, Index n, const std::vector<Index>& winners) {
  std::vector<Index> place(static_cast<std::size_t>(n - begin)), who(place), exchanges;  // where a row is now, and which row is at a place
  std::iota(place.begin(), place.end(), begin);
  who = place;
  for (std::size_t j = 0; j < winners.size(); ++j) {
    const Index from = place[static_cast<std::size_t>(winners[j] - begin)];
    exchanges.push_back(from);
    std::swap(who[j], who[static_cast<std::size_t>(from - begin)]);
    place[static_cast<std::size_t>(who[static_cast<std::size_t>(from - begin)] - begin)] = from;
  }
  return exchanges;
}

// Which group a row belongs to: blocks of rows cyclically, as they are dealt to processes.
inline Index group_of(const Params& p, Index row) { return row / p.block % p.groups; }

template <class Product>
class Tournament {
 public:
  void factor(State& s, const Columns& c, Panel<Product>& panel, Product& product) {
    using Rows = typename Elections<Product>::Rows;
    std::vector<Rows> groups(static_cast<std::size_t>(s.p.groups));
    for (Index i = c.begin; i < s.n; ++i)
      groups[static_cast<std::size_t>(group_of(s.p, i))].push_back({i, std::vector<double>(s.row(i) + c.begin, s.row(i) + c.end)});
    for (Rows& group : groups) group = elections_.best(std::move(group), c.size(), product);
    std::vector<Index> winners;
    for (const auto& row : elections_.last(std::move(groups), c.size(), product)) winners.push_back(row.at);
    const std::vector<Index> exchanges = to_the_top(c.begin, s.n, winners);
    for (std::size_t j = 0; j < exchanges.size(); ++j) {
      s.pivot[c.begin + static_cast<Index>(j)] = exchanges[j];
      exchange(s, c.begin + static_cast<Index>(j), c);
    }
    load(s, c, panel);
    AsTheyStand pivots;
    panel.factor(pivots, product);
    store(s, c, panel);
  }

 private:
  Elections<Product> elections_;
};

}  // namespace lu
