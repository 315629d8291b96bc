// Uses memory that its account does not list.
#include "kernels/run.hpp"

namespace {

struct Hoarder : messages::Messenger<messages::Windows> {
  Hoarder(messages::Windows& transport, const messages::Rules& rules) : Messenger(transport, rules) { transport.attach(64); }
};

using Run = messages::Run<messages::Windows, Hoarder>;

}  // namespace

FL_VARIANT(messages, Run)
