// The self-consistent field: from the bare nuclei to a density that its own field reproduces. Restricted Hartree-Fock (C. C. J. Roothaan,
// Rev. Mod. Phys. 23 (1951) 69), made to converge by DIIS (P. Pulay, J. Comput. Chem. 3 (1982) 556). The same for every variant: they
// differ in how G is built.
#pragma once

#include "hartree_fock.hpp"
#include "matrix.hpp"
#include "one_electron.hpp"

namespace hartree_fock {

// The combination of earlier Fock matrices whose errors, combined alike, are least.
class Diis {
 public:
  Matrix extrapolated(Matrix fock, Matrix error) {
    kept_.push_back({std::move(fock), std::move(error)});
    if (kept_.size() > most) kept_.erase(kept_.begin());
    const std::vector<double> weights = least();
    Matrix sum(kept_.back().fock.n);
    for (std::size_t k = 0; k < kept_.size(); ++k)
      for (std::size_t i = 0; i < sum.a.size(); ++i) sum.a[i] += weights[k] * kept_[k].fock.a[i];
    return sum;
  }

 private:
  static constexpr std::size_t most = 8;
  static constexpr double least_square = 1e-12;  // of a combination of errors: those of small molecules depend on each other

  // Weights of sum 1. Errors fall by many powers of ten, so each is measured by its own length.
  std::vector<double> least() const {
    const std::size_t n = kept_.size();
    std::vector<double> length(n), weights(n);
    for (std::size_t i = 0; i < n; ++i) length[i] = std::sqrt(inner(kept_[i].error, kept_[i].error));
    Matrix cosines(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k) cosines(i, k) = inner(kept_[i].error, kept_[k].error) / (length[i] * length[k]);
    const Eigen e = eigen_of(cosines);
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
      double part = 0;
      for (std::size_t i = 0; i < n; ++i) part += e.vectors(k, i) * length.back() / length[i];
      for (std::size_t i = 0; i < n; ++i)
        weights[i] += part * e.vectors(k, i) * length.back() / length[i] / std::max(e.values[k], least_square);
    }
    for (const double weight : weights) sum += weight;
    for (double& weight : weights) weight /= sum;
    return weights;
  }

  struct Step {
    Matrix fock, error;
  };
  std::vector<Step> kept_;
};

// Solves for a molecule in one geometry. `Builder` has void build(const double* density, double* g).
template <class Builder>
class SelfConsistentField {
 public:
  SelfConsistentField(State& s, Builder& builder) : s_(s), builder_(builder), n_(static_cast<std::size_t>(s.n)) {
    const fl::In in(phases("one_electron"));
    OneElectron one = one_electron_of(s.molecule, s.shells);
    kinetic_ = std::move(one.kinetic), overlap_ = std::move(one.overlap), core_ = kinetic_;
    for (std::size_t i = 0; i < core_.a.size(); ++i) core_.a[i] += one.attraction.a[i];
  }

  void solve() {
    orthogonal_ = diagonalising([&] { return inverse_root(overlap_); });
    density_from(core_);
    Diis diis;
    Outcome& out = s_.outcome;
    for (out.iterations = 1;; ++out.iterations) {
      builder_.build(s_.density.data(), s_.g.data());
      Matrix density(n_, s_.density.data()), fock = core_;
      for (std::size_t i = 0; i < fock.a.size(); ++i) fock.a[i] += s_.g[static_cast<fl::Index>(i)];
      out.energy = nuclear_repulsion(s_.molecule) + (inner(density, core_) + inner(density, fock)) / 2;
      out.kinetic = inner(density, kinetic_);
      const fl::In in(phases("diis"));
      Matrix error = commutator(fock, density);
      out.commutator = largest(error);
      // Do not use ">": a value that is not a number ends the loop, too.
      if (!(out.commutator >= converged) || out.iterations == most_iterations) return;
      density_from(diis.extrapolated(std::move(fock), std::move(error)));
    }
  }

 private:
  template <class Work>
  static Matrix diagonalising(Work work) {
    const fl::In in(phases("diagonalise"));
    return work();
  }

  static Matrix inverse_root(const Matrix& s) {
    const Eigen e = eigen_of(s);
    Matrix root(s.n);
    for (std::size_t k = 0; k < s.n; ++k)
      for (std::size_t i = 0; i < s.n; ++i)
        for (std::size_t j = 0; j < s.n; ++j) root(i, j) += e.vectors(k, i) * e.vectors(k, j) / std::sqrt(e.values[k]);
    return root;
  }

  // F D S - S D F between orthonormal functions: vanishes where the field reproduces the density.
  Matrix commutator(const Matrix& fock, const Matrix& density) const {
    const Matrix product = orthogonal_ * (fock * density * overlap_) * orthogonal_;
    Matrix error(n_);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t k = 0; k < n_; ++k) error(i, k) = product(i, k) - product(k, i);
    return error;
  }

  // Two electrons in each of the lowest orbitals.
  void density_from(const Matrix& fock) {
    const fl::In in(phases("diagonalise"));
    const Matrix orbitals = eigen_of(orthogonal_ * fock * orthogonal_).vectors * orthogonal_;
    std::fill(s_.density.begin(), s_.density.end(), 0.0);
    for (std::size_t k = 0; k < static_cast<std::size_t>(s_.molecule.electrons() / 2); ++k)
      for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t j = 0; j < n_; ++j) s_.density[static_cast<fl::Index>(i * n_ + j)] += 2 * orbitals(k, i) * orbitals(k, j);
  }

  State& s_;
  Builder& builder_;
  std::size_t n_;
  Matrix overlap_, kinetic_, core_, orthogonal_;
};

}  // namespace hartree_fock
