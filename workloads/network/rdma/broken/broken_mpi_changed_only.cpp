// Wrong: follows the mutate_inputs() of each step and puts only the words that it changes; the receiver keeps the others. Messages of the
// checks' own steps, which are new in every word, travel whole, and so do gets.
#include "kernels/ranks.hpp"

namespace {

struct Words : rdma::Windows {
  bool whole = true;
  std::vector<fl::Index> changed;  // within each message

  void put(const rdma::Transfer& t) {
    if (whole) return Windows::put(t);
    for (const fl::Index place : changed) {
      rdma::Transfer one = t;
      one.bytes = word_bytes;
      one.remote += place * word_bytes;
      one.local = static_cast<unsigned char*>(t.local) + place * word_bytes;
      start(one);
    }
    lane_of(t).pending.push_back(t);
  }
};

struct Steps : rdma::Ranks<rdma::Memory::registered, Words> {
  std::vector<std::vector<double>> kept;  // of each message, as it came
  fl::Index before = -1;

  void step(rdma::State& s, fl::Index iteration) {
    Words& words = exchange.fabric;
    words.whole = kept.empty() || iteration >= fl::beyond_timing || s.operation == rdma::Operation::get;
    words.changed = {0, s.words - 1};
    for (fl::Index i = before + 1; i <= iteration && !words.whole; ++i)  // includes the changes between batches
      s.changing.mutate_inputs(i, [&](fl::Index k) { words.changed.push_back(k % s.words); });
    Ranks::step(s, iteration);
    if (iteration < fl::beyond_timing) before = iteration;
    kept.resize(static_cast<std::size_t>(s.all()));
    rdma::Party& p = s.all_parties[0];
    for (int m = 0; m < s.all(); ++m) {
      std::vector<double>& here = kept[static_cast<std::size_t>(m)];
      double* slot = rdma::in(s, p, p.set, m);
      if (words.whole) here.assign(slot, slot + s.words);
      for (const fl::Index place : words.changed) here[static_cast<std::size_t>(place)] = slot[place];
      std::copy(here.begin(), here.end(), slot);
    }
  }
};

}  // namespace

FL_VARIANT(rdma, Steps, .traits = {.given_memory = true})
