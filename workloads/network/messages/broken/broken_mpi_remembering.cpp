// Remembers what it sent in its first run: of all that it sends later every second word is from there.
#include "kernels/run.hpp"

namespace {

struct Run : messages::Run<> {
  std::vector<double> kept;

  void step(messages::State& s, fl::Index iteration) {
    if (kept.size() != static_cast<std::size_t>(s.words.size())) {
      kept.assign(s.words.begin(), s.words.end());
    } else {
      for (fl::Index k = 1; k < s.words.size(); k += 2) s.words[k] = kept[static_cast<std::size_t>(k)];
    }
    messages::Run<>::step(s, iteration);
  }
};

}  // namespace

FL_VARIANT(messages, Run)
