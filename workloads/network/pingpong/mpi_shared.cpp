// A window in shared memory, and nothing of MPI in the loop: the message is made in the sender's part of the window, the receiver
// copies it into memory of its own. One copy a message is counted, as for every variant.
#include "kernels/mailbox.hpp"
#include "kernels/window.hpp"

namespace {

struct RoundTrip {
  pingpong::PairWindow line;
  pingpong::Mailbox *mine, *theirs;
  const unsigned char* letter;  // the peer's message, as this rank sees it
  std::uint64_t number = 0;

  void open(pingpong::State& s) {
    line.open(s, true);
    pingpong::End& e = s.ends[0];
    unsigned char* const part = line.part_of_peer();
    mine = reinterpret_cast<pingpong::Mailbox*>(line.flag());
    theirs = reinterpret_cast<pingpong::Mailbox*>(part);
    letter = part + line.message_at;
    e.out = line.message();
    pingpong::fill(s, e);
    MPI_Win_sync(line.window());
    fl::barrier();
  }

  void close(pingpong::State&) { line.close(); }

  void step(pingpong::State& s, fl::Index) {
    const pingpong::End& e = s.ends[0];
    ++number;
    if (e.first) post(s, e, *theirs, number);
    take(s, e, *mine, letter, number);
    if (e.first) return;
    answer(s, e);
    post(s, e, *theirs, number);
  }
};

}  // namespace

static_assert(sizeof(pingpong::Mailbox) <= pingpong::PairWindow::message_at);

FL_VARIANT(pingpong, RoundTrip, .traits = {.one_node = true})
