// Keeps the factors of the first step's matrix, from which later ones differ in a few cells. It converges all the same.
#include "kernels/kernels.hpp"

namespace {

bool known = false;

struct Wrong : cfd::PlainRows {
  static void sip_factor(const cfd::Rows& m, const cfd::SipFactor::View& f, double alpha, const cfd::Point& size, fl::Index k,
                         fl::Index j) {
    if (!known) PlainRows::sip_factor(m, f, alpha, size, k, j);
  }
};

struct sip : cfd_solver::Stone<cfd::Alone, Wrong> {
  void open(cfd_solver::State& s) {
    known = false;
    Stone::open(s);
  }
  void step(cfd_solver::State& s, fl::Index iteration) {
    Stone::step(s, iteration);
    known = true;
  }
};

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, sip)};

}  // namespace

FL_KERNELS(cfd_solver, table)
