// Gives one process more than it may a fast buffer.
#include "run.hpp"

namespace {

struct Generous : messages::Messenger<messages::Windows> {
  static messages::Rules with_one_more(messages::Rules r) { return ++r.fast_peers, r; }
  Generous(messages::Windows& transport, const messages::Rules& rules) : Messenger(transport, with_one_more(rules)) {}
};

using Run = messages::Run<messages::Windows, Generous>;

std::string refuse(const messages::Params& p) {
  return p.rules.fast_peers == 0 && p.rounds > 15 ? "" : "this variant of messages runs where there are no fast buffers, fast_peers=0";
}

}  // namespace

FL_VARIANT(messages, Run, .refuse = refuse)
