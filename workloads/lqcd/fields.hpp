// Deterministic gauge and spinor fields: pure functions of the global site, in 64 bits. Every layout is filled from here, and every
// check evaluates its reference from here.
#pragma once

#include <array>
#include <cmath>

#include "lattice.hpp"

namespace lqcd {

// Plain arithmetic: std::complex checks for infinities at every product.
struct Complex {
  double re = 0, im = 0;

  Complex& operator+=(Complex b) {
    re += b.re, im += b.im;
    return *this;
  }
  Complex& operator-=(Complex b) {
    re -= b.re, im -= b.im;
    return *this;
  }
};
inline Complex operator+(Complex a, Complex b) { return a += b; }
inline Complex operator-(Complex a, Complex b) { return a -= b; }
inline Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
inline Complex operator*(double a, Complex b) { return {a * b.re, a * b.im}; }
inline Complex conj(Complex a) { return {a.re, -a.im}; }
inline double norm(Complex a) { return a.re * a.re + a.im * a.im; }

using Row = std::array<Complex, 3>;
using Matrix = std::array<Row, 3>;       // of SU(3)
using Spinor = std::array<Row, 4>;       // spin, colour
inline constexpr int matrix_reals = 18;  // (row * 3 + column) * 2 + reim
inline constexpr int spinor_reals = 24;  // (spin * 3 + colour) * 2 + reim

inline Complex dot(const Row& a, const Row& b) {
  Complex sum;
  for (std::size_t c = 0; c < 3; ++c) sum += conj(a[c]) * b[c];
  return sum;
}
inline void normalise(Row& a) {
  const double length = std::sqrt(dot(a, a).re);
  for (Complex& z : a) z = {z.re / length, z.im / length};
}

inline Complex uniform(std::uint64_t pair) { return {fl::uniform(2 * pair), fl::uniform(2 * pair + 1)}; }

// Makes the first two rows orthonormal; the third is the conjugate of their cross product.
inline void complete(Matrix& u) {
  normalise(u[0]);
  const Complex overlap = dot(u[0], u[1]);
  for (std::size_t c = 0; c < 3; ++c) u[1][c] -= overlap * u[0][c];
  normalise(u[1]);
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t d = (c + 1) % 3, e = (c + 2) % 3;
    u[2][c] = conj(u[0][d] * u[1][e] - u[0][e] * u[1][d]);
  }
}

// U_mu at global site number `site`: two random rows, completed.
inline Matrix link(Index site, std::size_t mu) {
  const auto first = (static_cast<std::uint64_t>(site) * 4 + mu) * 9;
  Matrix u;
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t column = 0; column < 3; ++column) u[row][column] = uniform(first + row * 3 + column);
  complete(u);
  return u;
}

// Spinor field `which` (0: psi of the reference numbers) at global site number `site`.
inline Spinor spinor(Index site, int which = 0) {
  const auto first = static_cast<std::uint64_t>(site) * 12 + ((static_cast<std::uint64_t>(which) + 1) << 39);
  Spinor psi;
  for (std::size_t s = 0; s < 4; ++s)
    for (std::size_t c = 0; c < 3; ++c) psi[s][c] = uniform(first + s * 3 + c);
  return psi;
}

inline Complex dot(const Spinor& a, const Spinor& b) {
  Complex sum;
  for (std::size_t s = 0; s < 4; ++s) sum += dot(a[s], b[s]);
  return sum;
}

}  // namespace lqcd
