#include "kernels/phases.hpp"

namespace {

// The last file is opened, but not read and not counted.
void wrong(const metadata::State& s, metadata::Party& party) {
  party.foreign.pop_back();
  metadata::open_files(s, party);
}

void step(metadata::State& s, fl::Index) {
  metadata::Calls calls;
  calls.phase[metadata::open] = wrong;
  metadata::take_step(s, s.mine[0], [] {}, calls);
}

}  // namespace

FL_VARIANT(metadata, step, .idle = true)
