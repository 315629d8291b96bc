#include "kernels/blocking.hpp"

namespace {

// The last block of a party stays as an earlier step left it.
void step(file_io::State& s, fl::Index) {
  file_io::Party& party = s.mine[0];
  static std::vector<char> earlier;
  const auto bytes = static_cast<std::size_t>(s.p.transfer);
  const bool writes = !s.reads();
  char* last = party.image + (s.count - 1) * s.p.transfer;
  if (writes && earlier.size() == bytes) std::copy(earlier.begin(), earlier.end(), last);
  if (writes) earlier.assign(last, last + bytes);
  file_io::take_step<file_io::Posix<0>>(s, party);
  if (writes) return;
  static std::vector<file_io::Word> seen;
  if (seen.size() == party.seen.size()) party.seen = seen;
  seen = party.seen;
}

}  // namespace

FL_VARIANT(file_io, step, .idle = true)
