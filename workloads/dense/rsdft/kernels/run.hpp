// A run: passes of Chebyshev's filter, block Gram-Schmidt and Rayleigh-Ritz. Variants differ in the stencil, the products, who computes and how
// processes share the grid and the states.
#pragma once

#include <optional>

#include "hamiltonian.hpp"
#include "subspace.hpp"

namespace rsdft {

template <class Stencil, class Products, class Parties = OneProcess, class Team = grid::Alone,
          class Exchange = grid::Exchange<3, typename Parties::Transport>>
struct Run {
  Parties parties;
  Team team;
  std::optional<Hamiltonian<Stencil, Parties, Team, Exchange>> h;
  std::optional<Subspace<Products, Parties, Team>> subspace;
  fl::Part packs;
  fl::Array<Pack> filtered;    // packs x cells of the block
  fl::Array<double> products;  // H times states: cells x states

  void open(State& s) {
    if constexpr (requires { team.threads; }) team.threads = s.team.threads;
    parties.open(s);
    packs = packs_of(s.p, s.group);
    filtered = fl::Array<Pack>(packs.size() * s.block.cells().cells());
    products = fl::Array<double>(s.states.size());
    h.emplace(s, parties, team);
    subspace.emplace(s, parties, team);
  }

  void step(State& s, Index) {
    subspace->orthonormalise();
    ritz(s);
    for (Index pass = 0; pass < s.p.passes; ++pass) {
      redistribute([&] { parties.to_packs(s, team, s.states.data(), filtered.data()); });
      {
        const fl::In in(phases("filter"));
        each_pack(s, [&] { filter(s); });
      }
      redistribute([&] { parties.to_states(s, team, filtered.data(), s.states.data()); });
      subspace->orthonormalise();
      ritz(s);
    }
  }

  void close(State&) {
    h.reset();
    parties.close();
  }

 private:
  // Between lowest and highest Ritz value states grow as a Chebyshev polynomial does beyond [-1, 1]; what is above stays small.
  void filter(State& s) {
    const double low = s.energies[0], cut = s.energies[s.p.states - 1], most = h->most();
    const double half = 0.5 * (most - cut), middle = 0.5 * (most + cut), first = half / (low - middle);
    double sigma = first;
    h->apply({sigma / half, middle, 0});
    std::swap(h->u, h->next);
    for (Index d = 1; d < s.p.degree; ++d) {
      const double after = 1 / (2 / first - sigma);
      h->apply({2 * after / half, middle, -sigma * after});
      std::swap(h->u, h->next);
      sigma = after;
    }
  }

  // Eigenvalues in the subspace, and states turned to its eigenvectors.
  void ritz(State& s) {
    redistribute([&] { parties.to_packs(s, team, s.states.data(), filtered.data()); });
    {
      const fl::In in(phases("subspace"));
      each_pack(s, [&] {
        h->apply({1, 0, 0});
        std::swap(h->u, h->next);
      });
    }
    redistribute([&] { parties.to_states(s, team, filtered.data(), products.data()); });
    const fl::In in(phases("subspace"));
    subspace->turn(products);
  }

  // Calls `work` for each pack of this group, one after the other, and stores what it leaves in u.
  template <class Work>
  void each_pack(State& s, const Work& work) {
    const Index cells = s.block.cells().cells();
    for (Index b = 0; b < packs.size(); ++b) {
      redistribute([&] { h->load(filtered.data() + b * cells); });
      work();
      redistribute([&] { h->store(h->u, filtered.data() + b * cells); });
    }
  }
  template <class Work>
  void redistribute(const Work& work) {
    const fl::In in(phases("redistribute"));
    work();
  }
};

}  // namespace rsdft
