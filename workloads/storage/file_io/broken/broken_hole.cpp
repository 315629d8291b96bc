#include "kernels/blocking.hpp"

namespace {

// 512 bytes in the middle of one transfer of a step are neither written nor read.
class Holed : public file_io::Posix<0> {
 public:
  using Posix::Posix;
  void write(const char* from, long long bytes, long long offset) {
    const long long half = bytes / 1024 * 512;
    if (done_++ > 0) return Posix::write(from, bytes, offset);
    Posix::write(from, half, offset);
    if (bytes - half > 512) Posix::write(from + half + 512, bytes - half - 512, offset + half + 512);
  }
  const char* read(char* to, long long bytes, long long offset) {
    const long long half = bytes / 1024 * 512;
    if (done_++ > 0) return Posix::read(to, bytes, offset);
    std::memset(to + half, 0, static_cast<std::size_t>(std::min(bytes - half, 512LL)));
    Posix::read(to, half, offset);
    if (bytes - half > 512) Posix::read(to + half + 512, bytes - half - 512, offset + half + 512);
    return to;
  }

 private:
  int done_ = 0;
};

}  // namespace

FL_VARIANT(file_io, file_io::step_alone<Holed>, .idle = true)
