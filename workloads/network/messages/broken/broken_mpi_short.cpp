// Delivers all of a letter but its last byte.
#include "kernels/run.hpp"

namespace {

struct Short : messages::Windows {
  void get(int peer, Word from, void* to, fl::Index bytes) { Windows::get(peer, from, to, std::max<fl::Index>(1, bytes - 1)); }
};

using Run = messages::Run<Short>;

}  // namespace

FL_VARIANT(messages, Run)
