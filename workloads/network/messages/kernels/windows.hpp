// The messenger's memory over MPI: a window that every process opens alike (its door), a dynamic window for buffers (its rooms), and one
// for texts that letters name.
//
// A process attaches buffers while others reach those that it has. Open MPI (osc/rdma, 4.1 to 5.0 at least) keeps what is attached in a
// table sorted by address, which processes of the same node search without a lock: an entry that goes in before others moves them, and who
// looks meanwhile does not find its memory (MPI_ERR_RMA_RANGE). So each piece is above all before it, and its entry goes to the end:
// pieces are cut one after the other from one stretch of address space, and a program's texts, wherever they are, have a window of their own.
//
// An address is one of MPI_Get_address. All is passive target: one epoch to every process from open() to close(); complete() flushes. What
// a process has put elsewhere arrives while that process is in any call of MPI, for libraries move some of it in software; idle() is one.
#pragma once

#include <mpi.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "firstlight/window.hpp"
#include "rules.hpp"

namespace messages {

class Windows {
 public:
  using Word = std::uint64_t;
  using Flag = std::uint32_t;

  void open(int rank, int ranks) {
    rank_ = rank, ranks_ = ranks;
    door_.open(door_bytes(ranks), false);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, door_.handle());
    for (MPI_Win* window : {&rooms_, &texts_}) {
      MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, window);
      MPI_Win_set_errhandler(*window, MPI_ERRORS_RETURN);  // see need()
      MPI_Win_lock_all(MPI_MODE_NOCHECK, *window);
    }
  }

  void close() {
    forget();
    for (MPI_Win* window : {&rooms_, &texts_}) {
      MPI_Win_unlock_all(*window);
      MPI_Win_free(window);
    }
    MPI_Win_unlock_all(door_.handle());
    door_.close();
  }

  // All is as after open(), on every process: no operation is under way. Buffers of `most` bytes may be attached now. Collective.
  void renew(fl::Index most) {
    forget();
    reserve(most);
    std::memset(door_.memory(), 0, static_cast<std::size_t>(door_bytes(ranks_)));
    see();
    MPI_Barrier(MPI_COMM_WORLD);
  }

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  fl::Index attached() const { return attached_; }

  // Zeros that others may write to, until renew().
  unsigned char* attach(fl::Index bytes) {
    unsigned char* memory = stretch_ + cut_;
    const fl::Index pages = whole_pages(bytes);
    if (cut_ + pages > stretch_bytes_) fail(fl::text("the messenger attaches more than the reserved %lld bytes", stretch_bytes_));
    if (mprotect(memory, static_cast<std::size_t>(pages), PROT_READ | PROT_WRITE) != 0)
      fail(fl::text("no memory for %lld bytes of buffers", bytes));
    cut_ += pages;
    attach(rooms_, memory, bytes);
    attached_ += bytes;
    return memory;
  }

  // Memory of the caller's, as it is now, that letters may name, until renew(). Before the first message.
  void expose(void* memory, fl::Index bytes) {
    attach(texts_, memory, bytes);
    MPI_Win_sync(texts_);
  }

  Word address(const void* memory) const {
    MPI_Aint found = 0;
    MPI_Get_address(memory, &found);
    return static_cast<Word>(found);
  }

  // --- rooms: what is attached; texts: what is exposed ------------------------------------------------------------------------

  void put(int peer, Word to, const void* from, fl::Index bytes) {
    const auto count = static_cast<int>(bytes);
    need(MPI_Put(from, count, MPI_BYTE, peer, static_cast<MPI_Aint>(to), count, MPI_BYTE, rooms_));
  }
  void get(int peer, Word from, void* to, fl::Index bytes) {
    const auto count = static_cast<int>(bytes);
    need(MPI_Get(to, count, MPI_BYTE, peer, static_cast<MPI_Aint>(from), count, MPI_BYTE, texts_));
    need(MPI_Win_flush(peer, texts_));
  }
  void set(int peer, Word to, Word value) { set(peer, to, value, MPI_UINT64_T); }
  void set(int peer, Word to, Flag value) { set(peer, to, value, MPI_UINT32_T); }
  // A word of this process's, by an atomic.
  Word fetch(const Word* mine) { return fetch(mine, MPI_UINT64_T); }
  Flag fetch(const Flag* mine) { return fetch(mine, MPI_UINT32_T); }
  // What this process began with that one is done there.
  void complete(int peer) {
    need(MPI_Win_flush(peer, rooms_));
    values_.clear();
  }

  // --- doors: words by their number --------------------------------------------------------------------------------------------

  const Word* door() const { return reinterpret_cast<const Word*>(door_.memory()); }
  void door_set(int peer, fl::Index word, Word value) { accumulate(peer, word, value, MPI_REPLACE); }
  void door_or(int peer, fl::Index word, Word bits) { accumulate(peer, word, bits, MPI_BOR); }
  void door_add(int peer, fl::Index word, Word value) { accumulate(peer, word, value, MPI_SUM); }
  void door_read(int peer, fl::Index first, fl::Index count, Word* found) { exchange(peer, first, count, MPI_NO_OP, found); }
  void door_take(fl::Index first, fl::Index count, Word* found) { exchange(rank_, first, count, MPI_REPLACE, found); }
  Word door_fetch(fl::Index word) {
    Word found = 0;
    door_read(rank_, word, 1, &found);
    return found;
  }

  // --- the rest ----------------------------------------------------------------------------------------------------------------

  // What others have completed here is seen by loads after it, and stores before it by others.
  void see() {
    MPI_Win_sync(rooms_);
    MPI_Win_sync(door_.handle());
  }
  void copy(void* to, const void* from, fl::Index bytes) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }
  // `words` of each process to each. Collective.
  void alltoall(const Word* mine, Word* theirs, int words) {
    MPI_Alltoall(mine, words, MPI_UINT64_T, theirs, words, MPI_UINT64_T, MPI_COMM_WORLD);
  }
  // A process that waits for long may share its processor with those that it waits for.
  void idle() {
    constexpr int patience = 256;
    if (++idle_ % patience == 0) sched_yield();
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  }
  [[noreturn]] void fail(const std::string& why) { fl::abort_all("messages: " + why); }

 private:
  template <class Value>
  void set(int peer, Word to, Value value, MPI_Datatype type) {
    Word& kept = values_.emplace_back();  // until it is complete
    std::memcpy(&kept, &value, sizeof value);
    need(MPI_Accumulate(&kept, 1, type, peer, static_cast<MPI_Aint>(to), 1, type, MPI_REPLACE, rooms_));
  }
  template <class Value>
  Value fetch(const Value* mine, MPI_Datatype type) {
    Value nothing = 0, found = 0;
    need(MPI_Fetch_and_op(&nothing, &found, type, rank_, static_cast<MPI_Aint>(address(mine)), MPI_NO_OP, rooms_));
    complete(rank_);
    return found;
  }
  void accumulate(int peer, fl::Index word, Word value, MPI_Op op) {
    MPI_Accumulate(&value, 1, MPI_UINT64_T, peer, 8 * word, 1, MPI_UINT64_T, op, door_.handle());
    MPI_Win_flush(peer, door_.handle());
  }
  void exchange(int peer, fl::Index first, fl::Index count, MPI_Op op, Word* found) {
    const std::vector<Word> zeros(static_cast<std::size_t>(count));
    const auto words = static_cast<int>(count);
    MPI_Get_accumulate(zeros.data(), words, MPI_UINT64_T, found, words, MPI_UINT64_T, peer, 8 * first, words, MPI_UINT64_T, op,
                       door_.handle());
    MPI_Win_flush(peer, door_.handle());
  }
  void need(int status) {
    if (status == MPI_SUCCESS) return;
    char why[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(status, why, &length);
    fail(fl::text("a one-sided call of the MPI library failed: %s", why));
  }
  void attach(MPI_Win window, void* memory, fl::Index bytes) {
    const auto already = std::count_if(pieces_.begin(), pieces_.end(), [window](const auto& piece) { return piece.first == window; });
    if (MPI_Win_attach(window, memory, bytes) != MPI_SUCCESS)
      fail(fl::text("this MPI library attaches at most %td pieces of memory to a window; use fewer processes or another library", already));
    pieces_.push_back({window, memory});
  }
  // Detaches all, once no process uses it.
  void forget() {
    MPI_Barrier(MPI_COMM_WORLD);
    for (const auto& [window, memory] : pieces_) MPI_Win_detach(window, memory);
    if (stretch_bytes_ > 0) munmap(stretch_, static_cast<std::size_t>(stretch_bytes_));
    pieces_.clear();
    stretch_bytes_ = cut_ = 0;
    attached_ = door_bytes(ranks_);
  }
  // Address space for pieces of so many bytes in all, without any memory: a piece has it when it is cut, in whole pages.
  void reserve(fl::Index bytes) {
    constexpr fl::Index pieces = 64;  // more than the slabs of any number of processes
    stretch_bytes_ = whole_pages(bytes) + pieces * whole_pages(1);
    void* found = mmap(nullptr, static_cast<std::size_t>(stretch_bytes_), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) fail(fl::text("no address space for %lld bytes of buffers; use fewer or smaller slots", bytes));
    stretch_ = static_cast<unsigned char*>(found);
  }
  static fl::Index whole_pages(fl::Index bytes) {
    const fl::Index page = sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
  }

  int rank_ = 0, ranks_ = 1;
  fl::Window door_;
  MPI_Win rooms_ = MPI_WIN_NULL, texts_ = MPI_WIN_NULL;
  std::vector<std::pair<MPI_Win, void*>> pieces_;  // attached
  unsigned char* stretch_ = nullptr;               // of address space
  fl::Index stretch_bytes_ = 0, cut_ = 0;
  fl::Index attached_ = 0;
  unsigned idle_ = 0;
  std::deque<Word> values_;
};

}  // namespace messages
