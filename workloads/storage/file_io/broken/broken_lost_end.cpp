#include "kernels/blocking.hpp"

namespace {

// The last 512 bytes of a file are cut off.
class Short : public file_io::Posix<0> {
 public:
  Short(const file_io::State& s, const file_io::Party& party) : Posix(s, party), writes_(!s.reads()), end_(s.file_bytes()) {}
  void close() const {
    if (writes_ && ftruncate(number(), end_ - 512) != 0) std::abort();
    Posix::close();
  }

 private:
  bool writes_;
  long long end_;
};

}  // namespace

FL_VARIANT(file_io, file_io::step_alone<Short>, .idle = true)
