// The kernel that is tuned: what a thread keeps fits its registers, and sums over a shell are added, not over a component.
//
// A quartet (pp,pp) has 131 sums of derivatives in 64 bits, more than a thread has registers for. Integrals are sums over the weights of
// the ket, so four threads share such a quartet; they compute the Boys function four times, to a lower order where they can, and spill
// nothing. A row of integrals is digested as soon as it is known; what is added to by several rows is in shared memory.
#pragma once

#include "device.hpp"

namespace hartree_fock {

struct Tuned {
  template <int bra, int ket, int first, int last>
  struct Quartets {
    static constexpr int nj = bra > 1 ? 3 : 1, nk = ket > 0 ? 3 : 1, nl = ket > 1 ? 3 : 1;
    static constexpr int threads = 64, kl = 0, jk = nk * nl, jl = jk + nj * nk, kept = jl + nj * nl;
    struct Shared {
      double sum[kept][threads];  // of a thread each: what it adds to when a row is known
    };

    FL_DEVICE static void body(const fl::Block& block, Shared& shared, const Meeting& m) {
      const int b = m.begin + block.place.x;
      for (int k = block.number(); k < m.kets(b); k += threads) digest(m, b, k, &shared.sum[0][block.number()]);
    }

   private:
    FL_DEVICE static void digest(const Meeting& m, int b, int k, double* sum) {
      const long long left = m.left.pairs + b, right = m.right.pairs + k, n = m.to.n;
      const long long i = m.pairs.i[left], j = m.pairs.j[left], at_k = m.pairs.i[right], at_l = m.pairs.j[right];
      const long long of_bra = m.left.density + b, of_ket = m.right.density + k;
      for (int s = 0; s < kept; ++s) sum[s * threads] = 0;
      double ik[nk], il[nl];
      const double* rows = m.rows - (ket - order_of(ket, last - 1)) * Boys::rows * Boys::terms;
      repulsion_rows<bra, ket, first, last, double>(
          rows, m.pairs.pair(m.left, b), m.pairs.pair(m.right, k), m.weight(b, k), [&](auto c, const auto& row) {
            const int a = c / nj, e = c % nj;
            const double* of_i = m.to.density + (i + a) * n;
            const double* of_j = m.to.density + (j + e) * n;
            const double mine = m.to.pair_density[of_bra + static_cast<long long>(c) * m.left.padded];
            asm volatile("" : : : "memory");  // a row after the other, so that no more than one is in registers
            double ij = 0;
            if (e == 0) {
              for (double& s : ik) s = 0;
              for (double& s : il) s = 0;
            }
            each<nk * nl>([&](auto d) {
              const int p = d / nl, q = d % nl;
              const double x = row[d];
              ij += x * m.to.pair_density[of_ket + static_cast<long long>(d) * m.right.padded];
              sum[(kl + d) * threads] += x * mine;
              ik[p] += x * of_j[at_l + q], il[q] += x * of_j[at_k + p];
              sum[(jk + e * nk + p) * threads] += x * of_i[at_l + q];
              sum[(jl + e * nl + q) * threads] += x * of_i[at_k + p];
            });
            fl::add(m.to.coulomb + of_bra + static_cast<long long>(c) * m.left.padded, ij);
            if (e == nj - 1) {
              each<nk>([&](auto p) { fl::add(m.to.exchange + (i + a) * n + at_k + p, ik[p]); });
              each<nl>([&](auto q) { fl::add(m.to.exchange + (i + a) * n + at_l + q, il[q]); });
            }
          });
      for (int d = 0; d < nk * nl; ++d)
        fl::add(m.to.coulomb + of_ket + static_cast<long long>(d) * m.right.padded, sum[(kl + d) * threads]);
      for (int e = 0; e < nj; ++e) {
        for (int p = 0; p < nk; ++p) fl::add(m.to.exchange + (j + e) * n + at_k + p, sum[(jk + e * nk + p) * threads]);
        for (int q = 0; q < nl; ++q) fl::add(m.to.exchange + (j + e) * n + at_l + q, sum[(jl + e * nl + q) * threads]);
      }
    }
  };

  static constexpr bool stores = false;
  template <int bra, int ket, class Launch>
  static void run(Launch& launch, const Meeting& m) {
    const int bras = m.end - m.begin;
    if constexpr (bra == 2 && ket == 2) {
      launch.template kernel<Quartets<bra, ket, 0, 2>>(bras, m);
      launch.template kernel<Quartets<bra, ket, 2, 3>>(bras, m);
      launch.template kernel<Quartets<bra, ket, 3, 4>>(bras, m);
      launch.template kernel<Quartets<bra, ket, 4, 5>>(bras, m);
    } else {
      launch.template kernel<Quartets<bra, ket, 0, weights_of(ket)>>(bras, m);
    }
  }
};

}  // namespace hartree_fock
