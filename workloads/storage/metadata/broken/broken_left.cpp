#include "kernels/phases.hpp"

namespace {

// The last file is not removed.
void wrong(const metadata::State& s, metadata::Party& party) {
  party.renamed.pop_back();
  metadata::unlink_files(s, party);
}

void step(metadata::State& s, fl::Index) {
  metadata::Calls calls;
  calls.phase[metadata::unlink] = wrong;
  metadata::take_step(s, s.mine[0], [] {}, calls);
}

}  // namespace

FL_VARIANT(metadata, step, .idle = true)
