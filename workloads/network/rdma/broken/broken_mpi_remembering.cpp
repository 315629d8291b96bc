// Wrong: remembers what came. Of a message only the first and the last word travel, which change with every step, and the receiver keeps the
// rest. Messages of the checks' own steps, which are new in every word, travel whole, and so do gets and what is short.
#include "kernels/ranks.hpp"

namespace {

struct Ends : rdma::Windows {
  bool whole = true;

  void put(const rdma::Transfer& t) {
    if (whole) return Windows::put(t);
    rdma::Transfer end = t;
    end.bytes = word_bytes;
    start(end);
    end.remote += t.bytes - word_bytes;
    end.local = static_cast<unsigned char*>(t.local) + t.bytes - word_bytes;
    start(end);
    lane_of(t).pending.push_back(t);
  }
};

struct Steps : rdma::Ranks<rdma::Memory::registered, Ends> {
  std::vector<std::vector<double>> kept;  // of each message, as it came whole

  void step(rdma::State& s, fl::Index iteration) {
    bool& whole = exchange.fabric.whole;
    whole = kept.empty() || iteration >= fl::beyond_timing || s.words <= 2 || s.operation == rdma::Operation::get;
    Ranks::step(s, iteration);
    kept.resize(static_cast<std::size_t>(s.all()));
    rdma::Party& p = s.all_parties[0];
    for (int m = 0; m < s.all(); ++m) {
      std::vector<double>& before = kept[static_cast<std::size_t>(m)];
      double* here = rdma::in(s, p, p.set, m);
      if (whole)
        before.assign(here, here + s.words);
      else
        std::copy(before.begin() + 1, before.end() - 1, here + 1);
    }
  }
};

}  // namespace

FL_VARIANT(rdma, Steps, .traits = {.given_memory = true})
