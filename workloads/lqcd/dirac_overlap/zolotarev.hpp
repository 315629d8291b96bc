// Zolotarev's best rational approximation of the sign on [-1, -e] and [e, 1], and its partial fractions:
//
//   sign(x) = x sum_l weight_l / (x^2 + shift_l) + an error of at most `error`,    l = 1 .. n, degree (2n - 1, 2n)
//
// shift_l = e^2 sc^2((2l - 1) K / 2n), the zeros between them e^2 sc^2(2l K / 2n), with Jacobi's sc = sn / cn of modulus
// sqrt(1 - e^2); the error takes its largest value 2n + 1 times, at e / dn(j K / 2n). Van den Eshof, Frommer, Lippert, Schilling,
// van der Vorst, Comput. Phys. Commun. 146 (2002) 203.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

namespace lqcd {

struct Jacobi {
  long double sn, cn, dn;
};

// Elliptic functions of a real argument. The complementary modulus k' is given: k is so close to 1 here that its square would lose digits.
// Quarter period and amplitude use the arithmetic-geometric mean (Abramowitz and Stegun 16.4, 17.6).
class Elliptic {
 public:
  explicit Elliptic(long double complementary) : kp_(complementary) {
    long double a = 1, b = kp_;
    a_[0] = a;
    c_[0] = std::sqrt((1 - kp_) * (1 + kp_));
    while (levels_ < most && std::fabs(c_[levels_]) > 1e-20L * a) {
      const long double next = (a + b) / 2, difference = (a - b) / 2;
      b = std::sqrt(a * b);
      a = next;
      ++levels_;
      a_[levels_] = a;
      c_[levels_] = difference;
    }
  }

  long double quarter_period() const { return std::numbers::pi_v<long double> / (2 * a_[levels_]); }

  Jacobi at(long double u) const {
    long double phi = std::ldexp(a_[levels_] * u, levels_);
    for (int k = levels_; k > 0; --k) phi = (phi + std::asin(c_[k] / a_[k] * std::sin(phi))) / 2;
    const long double sn = std::sin(phi), cn = std::cos(phi);
    return {sn, cn, std::sqrt(cn * cn + kp_ * kp_ * sn * sn)};
  }

 private:
  static constexpr int most = 40;
  long double kp_, a_[most + 1], c_[most + 1];
  int levels_ = 0;
};

struct Zolotarev {
  std::vector<double> shift, weight;  // ascending shifts
  double error = 0;                   // of the approximation in exact arithmetic

  Zolotarev() = default;

  Zolotarev(int poles, long double e) {
    const Elliptic elliptic(e);
    const long double unit = elliptic.quarter_period() / (2 * poles);
    std::vector<long double> pole, zero;
    for (int l = 1; l < 2 * poles; ++l) {
      const Jacobi j = elliptic.at(unit * l);
      (l % 2 != 0 ? pole : zero).push_back(std::pow(e * j.sn / j.cn, 2.0L));
    }
    const auto unscaled = [&](long double x) {
      long double r = x / (x * x + pole[0]);
      for (std::size_t l = 1; l < pole.size(); ++l) r *= (x * x + zero[l - 1]) / (x * x + pole[l]);
      return r;
    };
    const long double low = unscaled(e), high = unscaled(e / elliptic.at(unit).dn);
    const long double scale = 2 / (low + high);
    error = static_cast<double>((high - low) / (high + low));
    for (std::size_t l = 0; l < pole.size(); ++l) {
      long double w = scale;
      for (std::size_t k = 0; k < zero.size(); ++k) w *= zero[k] - pole[l];
      for (std::size_t k = 0; k < pole.size(); ++k)
        if (k != l) w /= pole[k] - pole[l];
      shift.push_back(static_cast<double>(pole[l]));
      weight.push_back(static_cast<double>(w));
    }
  }

  double operator()(double x) const {
    double sum = 0;
    for (std::size_t l = 0; l < shift.size(); ++l) sum += weight[l] / (x * x + shift[l]);
    return x * sum;
  }
};

}  // namespace lqcd
