// Kernels for devices, each the body of a thread in a block: the same for nvcc and, by fibers, for a processor (emulated.hpp), so that they
// are checked where no GPU is. A block has one bra; its threads share the kets that the bra's bound leaves.
//
//   Fused<Add>  a thread computes a quartet and adds what comes of it to G where it belongs, number by number
//   Split       one kernel stores integrals, others gather them: each sum is made where it belongs
#pragma once

#include "direct.hpp"
#include "firstlight/block.hpp"

namespace hartree_fock {

// First functions of the shells of either kind, and by first functions the place of a pair (as in PairsView), -1 where there is none.
struct Shelves {
  const int* shells[2];
  int count[2];
  const int* places;
};

// Bras of one group with kets of another, of one class and one depth on either side: threads of a block do the same.
struct Meeting {
  const double* rows;  // of the Boys function
  PairsView pairs;
  Group left, right;
  int begin, end;           // bras
  const long long* starts;  // of each bra's kets among the quartets of the two groups, and behind the last
  Digest to;
  double* stored;  // [component][quartet, from the first of bra `begin`]
  Shelves shelves;

  FL_DEVICE bool itself() const { return left.pairs == right.pairs; }
  FL_DEVICE int kets(int bra) const { return static_cast<int>(starts[bra + 1] - starts[bra]); }
  FL_DEVICE long long quartets() const { return starts[end] - starts[begin]; }
  FL_DEVICE double* store(int bra, int ket) const { return stored + (starts[bra] - starts[begin]) + ket; }
  FL_DEVICE double weight(int bra, int ket) const {
    const double w = -0.5 * pairs.weight[left.pairs + bra] * pairs.weight[right.pairs + ket];
    return itself() && bra == ket ? 0.5 * w : w;
  }
};

namespace detail {

template <int bra, int ket>
FL_DEVICE void integrals(const Meeting& m, int b, int k, double (&v)[components_of(bra) * components_of(ket)]) {
  repulsion<bra, ket, double>(m.rows, m.pairs.pair(m.left, b), m.pairs.pair(m.right, k), m.weight(b, k), v);
}

}  // namespace detail

// Adds by many threads at once, and as if there were none: then some of them are lost.
struct Atomically {
  FL_DEVICE void operator()(double* to, double value) const { fl::add(to, value); }
};
struct Racing {
  FL_DEVICE void operator()(double* to, double value) const { *to += value; }
};

struct Nothing {
  char none;
};

template <class Add>
struct Fused {
  template <int bra, int ket>
  struct Quartets {
    static constexpr int threads = 64;
    using Shared = Nothing;

    FL_DEVICE static void body(const fl::Block& block, Shared&, const Meeting& m) {
      const int b = m.begin + block.place.x;
      for (int k = block.number(); k < m.kets(b); k += threads) digest(m, b, k);
    }

   private:
    FL_DEVICE static void digest(const Meeting& m, int b, int k) {
      constexpr int nj = bra > 1 ? 3 : 1, nk = components_of(ket), nl = ket > 1 ? 3 : 1;
      double v[components_of(bra) * nk];
      detail::integrals<bra, ket>(m, b, k, v);
      const long long left = m.left.pairs + b, right = m.right.pairs + k, n = m.to.n;
      const int first_i = m.pairs.i[left], first_j = m.pairs.j[left], first_k = m.pairs.i[right], first_l = m.pairs.j[right];
      const Add add;
      each<components_of(bra) * nk>([&](auto number) {
        const int c = number / nk, d = number % nk;
        const long long ij = m.left.density + static_cast<long long>(c) * m.left.padded + b;
        const long long kl = m.right.density + static_cast<long long>(d) * m.right.padded + k;
        const long long at_i = (first_i + c / nj) * n, at_j = (first_j + c % nj) * n;
        const int at_k = first_k + d / nl, at_l = first_l + d % nl;
        const double x = v[number];
        add(m.to.coulomb + ij, x * m.to.pair_density[kl]);
        add(m.to.coulomb + kl, x * m.to.pair_density[ij]);
        add(m.to.exchange + at_i + at_k, x * m.to.density[at_j + at_l]);
        add(m.to.exchange + at_i + at_l, x * m.to.density[at_j + at_k]);
        add(m.to.exchange + at_j + at_k, x * m.to.density[at_i + at_l]);
        add(m.to.exchange + at_j + at_l, x * m.to.density[at_i + at_k]);
      });
    }
  };

  static constexpr bool stores = false;
  template <int bra, int ket, class Launch>
  static void run(Launch& launch, const Meeting& m) {
    launch.template kernel<Quartets<bra, ket>>(m.end - m.begin, m);
  }
};

struct Split {
  template <int bra, int ket>
  struct Store {
    static constexpr int threads = 64;
    using Shared = Nothing;

    FL_DEVICE static void body(const fl::Block& block, Shared&, const Meeting& m) {
      constexpr int components = components_of(bra) * components_of(ket);
      const int b = m.begin + block.place.x;
      for (int k = block.number(); k < m.kets(b); k += threads) {
        double v[components];
        detail::integrals<bra, ket>(m, b, k, v);
        each<components>([&](auto c) { m.store(b, k)[c * m.quartets()] = v[c]; });
      }
    }
  };

  // The Coulomb part of a bra: a sum over its kets.
  template <int bra, int ket>
  struct GatherBras {
    static constexpr int threads = 64;
    struct Shared {
      double sum[threads];
    };
    FL_DEVICE static void body(const fl::Block& block, Shared& shared, const Meeting& m) {
      const int b = m.begin + block.place.x;
      for (int c = 0; c < components_of(bra); ++c) {
        double sum = 0;
        for (int k = block.number(); k < m.kets(b); k += threads)
          for (int d = 0; d < components_of(ket); ++d)
            sum += m.store(b, k)[(c * components_of(ket) + d) * m.quartets()] *
                   m.to.pair_density[m.right.density + static_cast<long long>(d) * m.right.padded + k];
        sum = fl::sum_of_block<threads>(block, shared.sum, sum);
        if (block.number() == 0) m.to.coulomb[m.left.density + static_cast<long long>(c) * m.left.padded + b] += sum;
      }
    }
  };

  // The Coulomb part of a ket: a sum over the bras that have it. A thread has a ket.
  template <int bra, int ket>
  struct GatherKets {
    static constexpr int threads = 64;
    using Shared = Nothing;
    FL_DEVICE static void body(const fl::Block& block, Shared&, const Meeting& m) {
      const int k = block.place.x * threads + block.number();
      for (int d = 0; k < m.right.size && d < components_of(ket); ++d) {
        double sum = 0;
        for (int b = m.begin; b < m.end; ++b)
          for (int c = 0; k < m.kets(b) && c < components_of(bra); ++c)
            sum += m.store(b, k)[(c * components_of(ket) + d) * m.quartets()] *
                   m.to.pair_density[m.left.density + static_cast<long long>(c) * m.left.padded + b];
        m.to.coulomb[m.right.density + static_cast<long long>(d) * m.right.padded + k] += sum;
      }
    }
  };

  // Exchange: a thread has columns of the rows of both shells of the bra, those of one shell, be it the first or the second of a ket.
  // Blocks whose bras share a shell meet in its rows, so what is added there is added atomically, once a bra and not once an integral.
  template <int bra, int ket>
  struct GatherRows {
    static constexpr int threads = 64;
    using Shared = Nothing;

    FL_DEVICE static void body(const fl::Block& block, Shared&, const Meeting& m) {
      const int b = m.begin + block.place.x;
      columns<true>(m, b, block.number());
      columns<false>(m, b, block.number());
    }

   private:
    static constexpr int ni = bra > 0 ? 3 : 1, nj = bra > 1 ? 3 : 1, first_p = ket > 0 ? 1 : 0, second_p = ket > 1 ? 1 : 0;

    template <bool is_first>
    FL_DEVICE static void columns(const Meeting& m, int b, int mine) {
      constexpr int l = is_first ? first_p : second_p, other = is_first ? second_p : first_p, width = 2 * l + 1;
      const long long n = m.to.n;
      const int i = m.pairs.i[m.left.pairs + b], j = m.pairs.j[m.left.pairs + b];
      for (int s = mine; s < m.shelves.count[l]; s += threads) {
        const int column = m.shelves.shells[l][s];
        double of_i[ni][width] = {}, of_j[nj][width] = {};
        for (int t = 0; t < m.shelves.count[other]; ++t) {
          const int partner = m.shelves.shells[other][t];
          const long long place = m.shelves.places[is_first ? column * n + partner : partner * n + column] - m.right.pairs;
          if (place < 0 || place >= m.kets(b)) continue;
          take<is_first>(m, b, static_cast<int>(place), i, j, partner, of_i, of_j);
        }
        for (int c = 0; c < width; ++c) {
          for (int a = 0; a < ni; ++a) fl::add(m.to.exchange + (i + a) * n + column + c, of_i[a][c]);
          for (int a = 0; a < nj; ++a) fl::add(m.to.exchange + (j + a) * n + column + c, of_j[a][c]);
        }
      }
    }

    template <bool is_first, int width>
    FL_DEVICE static void take(const Meeting& m, int b, int k, int i, int j, int partner, double (&of_i)[ni][width],
                               double (&of_j)[nj][width]) {
      constexpr int depth = 2 * (is_first ? second_p : first_p) + 1;
      const double* v = m.store(b, k);
      const long long n = m.to.n, apart = m.quartets();
      for (int a = 0; a < ni; ++a)
        for (int e = 0; e < nj; ++e)
          for (int c = 0; c < width; ++c)
            for (int d = 0; d < depth; ++d) {
              const int component = (a * nj + e) * components_of(ket) + (is_first ? c * depth + d : d * width + c);
              const double x = v[component * apart];
              of_i[a][c] += x * m.to.density[(j + e) * n + partner + d];
              of_j[e][c] += x * m.to.density[(i + a) * n + partner + d];
            }
    }
  };

  static constexpr bool stores = true;
  template <int bra, int ket, class Launch>
  static void run(Launch& launch, const Meeting& m) {
    const int bras = m.end - m.begin;
    launch.template kernel<Store<bra, ket>>(bras, m);
    launch.template kernel<GatherBras<bra, ket>>(bras, m);
    launch.template kernel<GatherKets<bra, ket>>((m.right.size + 63) / 64, m);
    launch.template kernel<GatherRows<bra, ket>>(bras, m);
  }
};

}  // namespace hartree_fock
