// Rabenseifner's sum: halves are exchanged and added until every process has one finished piece, then collected by doubling.
//
// R. Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004, LNCS 3036. If p is not a power of two, each process
// beyond the largest one first sends its vector to a partner and receives the finished sum in the end.
#include "kernels/exchange.hpp"

namespace {

using vector_sum::Part;
using vector_sum::State;

int largest_power(int p) {
  int power = 1;
  while (2 * power <= p) power *= 2;
  return power;
}

// Halving: the pieces first .. first + count are this process's to add up; half of them go to the peer for its share of the rest.
const double* scatter(State& s, const double* mine, int q) {
  int first = 0;
  for (int half = q / 2; half >= 1; half /= 2) {
    const bool upper = (s.team.rank & half) != 0;
    const int given = upper ? first : first + half;
    if (upper) first += half;
    const Part out = vector_sum::span(s.n, q, given, given + half), kept = vector_sum::span(s.n, q, first, first + half);
    const int peer = s.team.rank ^ half;
    vector_sum::exchange(mine + out.begin, out.size(), peer, s.buffer.data(), kept.size(), peer);
    vector_sum::add(s.result.data() + kept.begin, mine + kept.begin, s.buffer.data(), kept.size());
    mine = s.result.data();
  }
  return mine;
}

// Doubling: the neighbouring run of finished pieces, as long as the own one.
void collect(State& s, int q) {
  for (int run = 1; run < q; run *= 2) {
    const int first = s.team.rank / run * run, theirs = first ^ run, peer = s.team.rank ^ run;
    const Part out = vector_sum::span(s.n, q, first, first + run), in = vector_sum::span(s.n, q, theirs, theirs + run);
    vector_sum::exchange(s.result.data() + out.begin, out.size(), peer, s.result.data() + in.begin, in.size(), peer);
  }
}

struct Sum : vector_sum::WholeBuffer {
  void step(State& s, fl::Index) {
    const int p = s.team.ranks, me = s.team.rank, q = largest_power(p);
    if (me >= q) {
      vector_sum::send(s.own.data(), s.n, me - q);
      vector_sum::receive(s.result.data(), s.n, me - q);
      return;
    }
    const double* mine = s.own.data();
    const bool folded = me + q < p;
    if (folded) {
      vector_sum::receive(s.buffer.data(), s.n, me + q);
      vector_sum::add(s.result.data(), mine, s.buffer.data(), s.n);
      mine = s.result.data();
    }
    if (scatter(s, mine, q) == s.own.data()) return vector_sum::copy(s);  // alone
    collect(s, q);
    if (folded) vector_sum::send(s.result.data(), s.n, me + q);
  }
};

}  // namespace

FL_VARIANT(vector_sum, Sum)
