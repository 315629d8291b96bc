#include "kernels/phases.hpp"

namespace {

// The last file that is created has no content.
void wrong(const metadata::State& s, metadata::Party& party) {
  metadata::create_files(s, party);
  close(s.folder.open(party.own.back(), O_WRONLY | O_TRUNC));
}

void step(metadata::State& s, fl::Index) {
  metadata::Calls calls;
  calls.phase[metadata::create] = wrong;
  metadata::take_step(s, s.mine[0], [] {}, calls);
}

}  // namespace

FL_VARIANT(metadata, step, .idle = true)
