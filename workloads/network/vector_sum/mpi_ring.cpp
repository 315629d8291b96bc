// A ring: p - 1 steps until every process has one finished piece of the sum, p - 1 more that pass the pieces round.
#include "kernels/exchange.hpp"

namespace {

using vector_sum::Part;

struct Sum {
  void open(vector_sum::State& s) { s.buffer = fl::Array<double>(s.n / s.team.ranks + 1); }

  void step(vector_sum::State& s, fl::Index) {
    const int p = s.team.ranks, me = s.team.rank, next = (me + 1) % p, before = (me + p - 1) % p;
    if (p == 1) return vector_sum::copy(s);
    const auto part = [&](int k) { return fl::part(s.n, p, (k % p + p) % p); };

    // A piece travels from where it begins and accumulates each process's share; the last one completes it.
    for (int k = 0; k < p - 1; ++k) {
      const Part out = part(me - k), in = part(me - k - 1);
      const double* from = k == 0 ? s.own.data() : s.result.data();
      vector_sum::exchange(from + out.begin, out.size(), next, s.buffer.data(), in.size(), before);
      vector_sum::add(s.result.data() + in.begin, s.own.data() + in.begin, s.buffer.data(), in.size());
    }
    for (int k = 0; k < p - 1; ++k) {
      const Part out = part(me + 1 - k), in = part(me - k);
      vector_sum::exchange(s.result.data() + out.begin, out.size(), next, s.result.data() + in.begin, in.size(), before);
    }
  }
};

}  // namespace

FL_VARIANT(vector_sum, Sum)
