// Operations in flight together: io_uring by its system calls. Two rings of memory are shared with the kernel; a program fills entries of
// the first (submissions) and reads those of the second (completions).
#pragma once

#include <linux/io_uring.h>
#include <sys/syscall.h>

#include <array>
#include <atomic>
#include <vector>

#include "blocking.hpp"

namespace file_io {

class Ring {
 public:
  static constexpr unsigned depth = 32;  // operations in flight

  // Returns why this kernel has no rings for this process; empty if it has.
  static std::string refusal(const Params&) {
    io_uring_params wanted{};
    const auto ring = static_cast<int>(syscall(SYS_io_uring_setup, 1, &wanted));
    if (ring < 0) return fl::text("this variant needs io_uring, which this kernel does not provide: %s", std::strerror(errno));
    ::close(ring);
    return "";
  }

  explicit Ring(const fl::Storage& target) : target_(target) {
    io_uring_params found{};
    ring_ = static_cast<int>(syscall(SYS_io_uring_setup, depth, &found));
    if (ring_ < 0) fl::storage_failed(target_, "io_uring_setup");
    submissions_ = map(found.sq_off.array + found.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    completions_ = map(found.cq_off.cqes + found.cq_entries * sizeof(io_uring_cqe), IORING_OFF_CQ_RING);
    entries_ = map(found.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
    offsets_ = found;
  }
  ~Ring() {
    for (const Memory& one : {submissions_, completions_, entries_}) munmap(one.data, one.bytes);
    ::close(ring_);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Adds one operation; at most `depth` may be in flight.
  void add(int file, bool writes, char* memory, Index bytes, Index offset, std::uint64_t mark) {
    unsigned* tail = word(submissions_, offsets_.sq_off.tail);
    const unsigned slot = *tail & *word(submissions_, offsets_.sq_off.ring_mask);
    io_uring_sqe& entry = reinterpret_cast<io_uring_sqe*>(entries_.data)[slot];
    entry = {};
    entry.opcode = writes ? IORING_OP_WRITE : IORING_OP_READ;
    entry.fd = file;
    entry.addr = reinterpret_cast<std::uint64_t>(memory);
    entry.len = static_cast<unsigned>(bytes);
    entry.off = static_cast<std::uint64_t>(offset);
    entry.user_data = mark;
    word(submissions_, offsets_.sq_off.array)[slot] = slot;
    std::atomic_ref(*tail).store(*tail + 1, std::memory_order_release);
    ++added_;
  }

  // Passes what was added to the kernel and waits until an operation has ended. Returns its mark and result.
  std::pair<std::uint64_t, int> wait() {
    unsigned* head = word(completions_, offsets_.cq_off.head);
    const std::atomic_ref tail(*word(completions_, offsets_.cq_off.tail));
    while (added_ > 0 || *head == tail.load(std::memory_order_acquire)) {
      const bool ended = *head != tail.load(std::memory_order_acquire);
      const auto taken = static_cast<int>(
          syscall(SYS_io_uring_enter, ring_, added_, ended ? 0u : 1u, static_cast<unsigned>(IORING_ENTER_GETEVENTS), nullptr, 0));
      if (taken < 0 && errno != EINTR) fl::storage_failed(target_, "io_uring_enter");
      added_ -= taken < 0 ? 0 : static_cast<unsigned>(taken);
    }
    const unsigned slot = *head & *word(completions_, offsets_.cq_off.ring_mask);
    const io_uring_cqe entry = reinterpret_cast<io_uring_cqe*>(completions_.data + offsets_.cq_off.cqes)[slot];
    std::atomic_ref(*head).store(*head + 1, std::memory_order_release);
    return {entry.user_data, entry.res};
  }

 private:
  struct Memory {
    char* data;
    std::size_t bytes;
  };
  Memory map(std::size_t bytes, off_t what) const {
    void* found = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_, what);
    if (found == MAP_FAILED) fl::storage_failed(target_, "mmap of a ring");
    return {static_cast<char*>(found), bytes};
  }
  static unsigned* word(const Memory& memory, unsigned offset) { return reinterpret_cast<unsigned*>(memory.data + offset); }

  const fl::Storage& target_;
  int ring_ = -1;
  unsigned added_ = 0;
  io_uring_params offsets_{};
  Memory submissions_{}, completions_{}, entries_{};
};

// A step of one party with up to `depth` operations in flight. A short transfer goes on with what is left. What is read arrives in the
// image, for a buffer of one transfer has no room for several.
template <int flags>
void take_queued_step(State& s, Party& party) {
  struct Flight {
    Index block = 0, done = 0;
    std::int64_t since = 0;
  };
  const Posix<flags> file(s, party);
  Ring ring(s.p.target);
  std::array<Flight, Ring::depth> flights;
  const bool writes = !s.reads();
  const Index bytes = s.p.transfer, from = writes ? party.me : party.source;
  const auto send = [&](std::size_t slot) {
    const Flight& f = flights[slot];
    ring.add(file.number(), writes, party.image + f.block * bytes + f.done, bytes - f.done, s.offset(from, f.block) + f.done, slot);
  };
  const auto begin = [&](std::size_t slot, Index k) {
    flights[slot] = {party.order[static_cast<std::size_t>(k)], 0, fl::clock_nanoseconds()};
    send(slot);
  };
  // With fsync after each transfer there is one operation in flight.
  const Index most = s.p.operation == Operation::sync ? 1 : std::min<Index>(Ring::depth, s.count);
  Index started = 0;
  for (; started < most; ++started) begin(static_cast<std::size_t>(started), started);
  for (Index ended = 0; ended < s.count;) {
    const auto [slot, result] = ring.wait();
    Flight& f = flights[slot];
    if (result < 0 && result != -EINTR && result != -EAGAIN) {
      errno = -result;
      fl::storage_failed(s.p.target, writes ? "write" : "read");
    }
    if (result > 0) f.done += result;
    const bool early = result == 0 && !writes;  // the file ends: the check finds what is missing
    if (f.done < bytes && !early) {
      send(slot);
      continue;
    }
    if (!writes) keep_samples(s, party, f.block, party.image + f.block * bytes);
    if (s.p.operation == Operation::sync) fl::during(phases("sync"), [&] { file.sync(); });
    party.latencies.push_back(seconds_since(f.since));
    ++ended;
    if (started < s.count) begin(slot, started++);
  }
  if (s.syncs_at_end()) fl::during(phases("sync"), [&] { file.sync(); });
  file.close();
  party.stepped = true;
}

template <int flags>
void queued_step(State& s, Index) {
  take_queued_step<flags>(s, s.mine[0]);
}

}  // namespace file_io
