#include "kernels/blocking.hpp"

namespace {

// A transfer is 512 bytes off: what was written at its end is lost, or read from elsewhere.
class Shifted : public file_io::Posix<0> {
 public:
  using Posix::Posix;
  void write(const char* from, long long bytes, long long offset) const { Posix::write(from, bytes, offset + 512); }
  const char* read(char* to, long long bytes, long long offset) const { return Posix::read(to, bytes, offset + 512); }
};

}  // namespace

FL_VARIANT(file_io, file_io::step_alone<Shifted>, .idle = true)
