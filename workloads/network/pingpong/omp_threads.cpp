// Threads of one process (R2's MPI/SX with threads, without MPI): thread t talks to thread t + T/2 through mailboxes.
// The team lives as long as the loop: starting it would cost more than a message.
#include <vector>

#include "kernels/mailbox.hpp"

namespace {

using pingpong::Mailbox;

struct alignas(fl::line_pair) Slot : Mailbox {};

struct RoundTrip {
  std::vector<Slot> mailboxes;
  std::uint64_t sent = 0;  // messages each way before this loop

  // Each thread's buffers next to it.
  void open(pingpong::State& s) {
    mailboxes = std::vector<Slot>(s.ends.size());
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
    for (std::size_t t = 0; t < s.ends.size(); ++t) pingpong::allocate(s, s.ends[t]);
  }

  void round_trip(const pingpong::State& s, pingpong::End& e, fl::Index iteration, std::uint64_t number) {
    const auto peer = static_cast<std::size_t>(e.peer);
    Mailbox& mine = mailboxes[static_cast<std::size_t>(e.me)];
    pingpong::stamp(s, e, iteration);
    if (e.first) post(s, e, mailboxes[peer], number);
    take(s, e, mine, s.ends[peer].out, number);
    if (e.first) return;
    answer(s, e);
    post(s, e, mailboxes[peer], number);
  }

  void loop(pingpong::State& s, fl::Index first, fl::Index count) {
#pragma omp parallel for num_threads(s.team.threads) schedule(static, 1)
    for (std::size_t t = 0; t < s.ends.size(); ++t) {
      pingpong::End& e = s.ends[t];
      std::uint64_t number = sent;
      for (fl::Index i = first; i < first + count; ++i) round_trip(s, e, i, ++number);
    }
    sent += static_cast<std::uint64_t>(count);
  }
};

}  // namespace

FL_VARIANT(pingpong, RoundTrip, .traits = {.between_threads = true})
