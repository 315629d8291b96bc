// The messenger's memory over MPI: a window that every process opens alike (its door), and a dynamic window for everything else.
//
// An address is one of MPI_Get_address. All is passive target: one epoch to everybody from open() to close(); complete() flushes. What a
// process has put elsewhere arrives while that process is in any call of MPI, for libraries move some of it in software; idle() is one.
#pragma once

#include <mpi.h>
#include <sched.h>
#include <sys/mman.h>

#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "firstlight/window.hpp"
#include "rules.hpp"

namespace messages::inline FL_ROLE {

class Windows {
 public:
  using Word = std::uint64_t;
  using Flag = std::uint32_t;

  void open(int rank, int ranks) {
    rank_ = rank, ranks_ = ranks;
    door_.open(door_bytes(ranks), false);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &rooms_);
    MPI_Win_set_errhandler(rooms_, MPI_ERRORS_RETURN);  // of MPI_Win_attach; the other calls end the job, see need()
    MPI_Win_lock_all(MPI_MODE_NOCHECK, door_.handle());
    MPI_Win_lock_all(MPI_MODE_NOCHECK, rooms_);
  }

  void close() {
    forget();
    MPI_Win_unlock_all(rooms_);
    MPI_Win_unlock_all(door_.handle());
    MPI_Win_free(&rooms_);
    door_.close();
  }

  // All is as after open(), on every process: nobody has anything under way. Collective.
  void renew() {
    forget();
    std::memset(door_.memory(), 0, static_cast<std::size_t>(door_bytes(ranks_)));
    see();
    MPI_Barrier(MPI_COMM_WORLD);
  }

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  fl::Index attached() const { return attached_; }

  // Zeros that others may write to, until renew().
  unsigned char* attach(fl::Index bytes) {
    void* memory = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail(fl::text("no memory for %lld bytes of buffers", bytes));
    pieces_.push_back({memory, bytes});
    expose(memory, bytes);
    attached_ += bytes;
    return static_cast<unsigned char*>(memory);
  }

  // Memory of the caller's that letters may name, until renew().
  void expose(void* memory, fl::Index bytes) {
    if (MPI_Win_attach(rooms_, memory, bytes) != MPI_SUCCESS)
      fail(fl::text("this MPI library attaches no more than %zu pieces of memory to a window; take fewer processes or another library",
                    exposed_.size()));
    exposed_.push_back(memory);
  }

  Word address(const void* memory) const {
    MPI_Aint found = 0;
    MPI_Get_address(memory, &found);
    return static_cast<Word>(found);
  }

  // --- rooms: anything that is attached ----------------------------------------------------------------------------------------

  void put(int peer, Word to, const void* from, fl::Index bytes) {
    const auto count = static_cast<int>(bytes);
    need(MPI_Put(from, count, MPI_BYTE, peer, static_cast<MPI_Aint>(to), count, MPI_BYTE, rooms_));
  }
  void get(int peer, Word from, void* to, fl::Index bytes) {
    const auto count = static_cast<int>(bytes);
    need(MPI_Get(to, count, MPI_BYTE, peer, static_cast<MPI_Aint>(from), count, MPI_BYTE, rooms_));
    complete(peer);
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
  // Whoever waits for long may share its processor with those that it waits for.
  void idle() {
    constexpr int patience = 256;
    if (++idle_ % patience == 0) sched_yield();
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  }
  [[noreturn]] void fail(const std::string& why) { fl::give_up("messages: " + why); }

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
    if (status != MPI_SUCCESS) fail(fl::text("the MPI library failed in a one-sided call (error %d)", status));
  }
  // Detaches all, once nobody uses it.
  void forget() {
    MPI_Barrier(MPI_COMM_WORLD);
    for (void* memory : exposed_) MPI_Win_detach(rooms_, memory);
    for (const auto& [memory, bytes] : pieces_) munmap(memory, static_cast<std::size_t>(bytes));
    exposed_.clear();
    pieces_.clear();
    attached_ = door_bytes(ranks_);
  }

  int rank_ = 0, ranks_ = 1;
  fl::Window door_;
  MPI_Win rooms_ = MPI_WIN_NULL;
  std::vector<void*> exposed_;
  std::vector<std::pair<void*, fl::Index>> pieces_;
  fl::Index attached_ = 0;
  unsigned idle_ = 0;
  std::deque<Word> values_;
};

}  // namespace messages::inline FL_ROLE
