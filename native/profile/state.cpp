#include "state.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace fl {

State state;
Real real;
thread_local Thread* self = nullptr;

namespace {

std::atomic<Thread*> all_threads{nullptr};
pthread_key_t leaving;
pthread_once_t once = PTHREAD_ONCE_INIT, looked = PTHREAD_ONCE_INIT;
pthread_mutex_t phase_lock = PTHREAD_MUTEX_INITIALIZER;
std::uint64_t phase_entered = 0;
void* library = nullptr;

std::uint32_t hashed(int peer, Way way) {
  std::uint32_t h = (static_cast<std::uint32_t>(peer) * 2 + static_cast<std::uint32_t>(way)) * 0x9E3779B1u;
  return h ^ (h >> 15);
}

// A table of a thread that ended goes on with the next thread: many short threads need no more memory than one.
void left(void* thread) { static_cast<Thread*>(thread)->busy.store(false, std::memory_order_release); }

void make_key() { pthread_key_create(&leaving, left); }

// An MPI library that was loaded with RTLD_LOCAL (by a module of an interpreter) is not in the global scope.
int is_mpi(dl_phdr_info* info, std::size_t, void* found) {
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const char* name = slash != nullptr ? slash + 1 : info->dlpi_name;
  if (std::strncmp(name, "libmpi.so", 9) != 0 && std::strncmp(name, "libmpich.so", 11) != 0) return 0;
  *static_cast<const char**>(found) = info->dlpi_name;
  return 1;
}

}  // namespace

std::uint64_t nanoseconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

void* make(std::size_t bytes) {
  void* memory = std::calloc(1, bytes);
  if (memory == nullptr) {
    std::fputs("firstlight profile: out of memory\n", stderr);
    std::abort();
  }
  return memory;
}

void* symbol(const char* name) { return dlsym(library != nullptr ? library : RTLD_NEXT, name); }
void* object(const char* name) { return dlsym(library != nullptr ? library : RTLD_DEFAULT, name); }

// Only a process that calls MPI comes here with an MPI library loaded; in all others this library does nothing at all.
static void find_library() {
  if (symbol("PMPI_Init") == nullptr) {
    const char* path = nullptr;
    dl_iterate_phdr(is_mpi, &path);
    if (path != nullptr) library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  }
#ifdef OPEN_MPI
  const bool right = object("ompi_mpi_comm_world") != nullptr;
#else
  const bool right = object("ompi_mpi_comm_world") == nullptr;
#endif
  if (!right || symbol("PMPI_Init") == nullptr) {  // handles of another kind would be passed on wrongly
    std::fputs(
        "firstlight profile: the profiler was built for a different MPI library than the program uses; name the library with --mpi\n",
        stderr);
    if (const char* folder = std::getenv("FIRSTLIGHT_PROFILE")) {  // launchers end as they like: this prints the reason
      char name[4096];
      std::snprintf(name, sizeof name, "%s/.refused", folder);
      if (std::FILE* mark = std::fopen(name, "w")) std::fclose(mark);
    }
    std::_Exit(3);
  }
  for (const Entry& entry : entries) {
    void* address = symbol(entry.name);
    std::memcpy(reinterpret_cast<char*>(&real) + entry.offset, &address, sizeof address);
  }
  state.attached.store(true, std::memory_order_release);
}

void attach() { pthread_once(&looked, find_library); }

Thread* enlist() {
  pthread_once(&once, make_key);
  Thread* mine = nullptr;
  for (Thread* t = all_threads.load(std::memory_order_acquire); t != nullptr && mine == nullptr; t = t->next) {
    bool busy = false;
    if (t->busy.compare_exchange_strong(busy, true)) mine = t;
  }
  if (mine == nullptr) {
    mine = new (make(sizeof(Thread))) Thread;
    mine->next = all_threads.load(std::memory_order_relaxed);
    while (!all_threads.compare_exchange_weak(mine->next, mine, std::memory_order_release)) {
    }
  }
  pthread_setspecific(leaving, mine);
  return mine;
}

Thread* threads() { return all_threads.load(std::memory_order_acquire); }

Pair& Table::pair(int peer, Way way) {
  if (used_ * 2 >= capacity_) grow();
  for (std::uint32_t i = hashed(peer, way);; ++i) {
    Pair*& place = index_[i & (capacity_ - 1)];
    if (place != nullptr && place->peer == peer && place->way == way) return *place;
    if (place != nullptr) continue;
    if (last_->used.load(std::memory_order_relaxed) == Chunk::room) {
      Chunk* fresh = new (make(sizeof(Chunk))) Chunk;
      last_->next.store(fresh, std::memory_order_release);
      last_ = fresh;
    }
    const int n = last_->used.load(std::memory_order_relaxed);
    place = &last_->pairs[n];
    place->peer = peer;
    place->way = way;
    last_->used.store(n + 1, std::memory_order_release);
    ++used_;
    return *place;
  }
}

void Table::grow() {
  const std::uint32_t before = capacity_;
  Pair** old = index_;
  capacity_ = before == 0 ? 32 : before * 2;
  index_ = static_cast<Pair**>(make(capacity_ * sizeof(Pair*)));
  for (std::uint32_t i = 0; i < before; ++i) {
    if (old[i] == nullptr) continue;
    std::uint32_t j = hashed(old[i]->peer, old[i]->way);
    while (index_[j & (capacity_ - 1)] != nullptr) ++j;
    index_[j & (capacity_ - 1)] = old[i];
  }
  std::free(old);  // only this thread uses the index
}

void enter_phase(int level) {
  pthread_mutex_lock(&phase_lock);
  const std::uint64_t time = now();
  const int current = state.phase.load(std::memory_order_relaxed);
  if (current >= 0) state.phases[current].ticks += time - phase_entered;
  int wanted = level == 0 ? -1 : 0;
  if (level != 0) {
    while (wanted < state.phase_count && state.phases[wanted].level != level) ++wanted;
    if (wanted == most_phases) {
      state.too_many_phases = true;
      wanted = 0;
    } else if (wanted == state.phase_count) {
      state.phases[state.phase_count++].level = level;
    }
  }
  phase_entered = time;
  state.generation.fetch_add(1, std::memory_order_relaxed);  // slots point to pairs of one phase
  state.phase.store(wanted, std::memory_order_release);
  pthread_mutex_unlock(&phase_lock);
}

}  // namespace fl
