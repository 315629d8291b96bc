#include "kernels/blocking.hpp"

namespace {

// One call transfers at most 1000 bytes, and what it left is forgotten.
class Partial : public file_io::Posix<0> {
 public:
  using Posix::Posix;
  void write(const char* from, long long bytes, long long offset) const { Posix::write(from, std::min(bytes, 1000LL), offset); }
  const char* read(char* to, long long bytes, long long offset) const { return Posix::read(to, std::min(bytes, 1000LL), offset); }
};

}  // namespace

FL_VARIANT(file_io, file_io::step_alone<Partial>, .idle = true)
