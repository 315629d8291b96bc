// Finds the thread that first writes a page in init, and the one that first uses it in a step. Each thread maps the pages that it touches.
// Linked with one variant and its workload. Prints: pages of all large arrays, how many of them the thread that uses them had written
// first, and how many the first thread had.
//   first_touch <threads> key=value ...
#include <omp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "arguments.hpp"
#include "firstlight/program.hpp"
#include "firstlight/variant.hpp"
#include "kernels.hpp"

namespace {

constexpr std::size_t page = 4096, large = 64 * page, room = std::size_t{1} << 30;
constexpr signed char nobody = -1;

char* pool = nullptr;
std::size_t given = 0;  // of the pool
std::vector<signed char>* owner = nullptr;

void asked_for(int, siginfo_t* info, void*) {
  char* const at = static_cast<char*>(info->si_addr);
  if (at < pool || at >= pool + given) _exit(139);
  const std::size_t number = static_cast<std::size_t>(at - pool) / page;
  signed char none = nobody;
  std::atomic_ref<signed char>((*owner)[number]).compare_exchange_strong(none, static_cast<signed char>(omp_get_thread_num()));
  mprotect(pool + number * page, page, PROT_READ | PROT_WRITE);
}

// Unmaps all pages mapped so far, and records each thread that touches one from now on.
void withhold(std::vector<signed char>& notes) {
  notes.assign(room / page, nobody);
  owner = &notes;
  mprotect(pool, given, PROT_NONE);
}

}  // namespace

namespace fl {
void* allocate(std::size_t bytes) {
  if (bytes < large) return std::aligned_alloc(page, (bytes + page - 1) / page * page);
  void* memory = pool + given;
  given += (bytes + page - 1) / page * page;
  if (given > room) std::abort();
  return memory;
}
void release(void* memory, std::size_t bytes) {
  if (bytes < large) std::free(memory);
}
void first_touch(void* state) {
  if (variant.first_touch != nullptr) variant.first_touch(state);
}
void run_steps(Index, Index) {}
}  // namespace fl

int main(int count, char** words) {
  if (count < 2) return 2;
  struct sigaction action {};
  action.sa_sigaction = asked_for;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  pool = static_cast<char*>(mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  std::vector<signed char> written, used;
  withhold(written);

  std::vector<char*> arguments{words[0]};
  for (int k = 2; k < count; ++k) arguments.push_back(words[k]);
  const fl::Arguments parsed = fl::parse(static_cast<int>(arguments.size()), arguments.data());
  const fl::Team team{0, 1, std::atoi(words[1]), 1};
  const auto instance = fl::workload.create();
  fl::assign(*instance, parsed, parsed.cases[0]);
  if (const std::string reason = instance->refuse(team); !reason.empty()) {
    std::puts(reason.c_str());
    return 2;
  }
  instance->init(team);
  const std::size_t arrays = given;  // those of the state; an object of the variant has its own
  const fl::Steps steps = fl::steps_of(*instance);
  void* object = steps.open != nullptr ? steps.open(instance->state()) : nullptr;
  withhold(used);
  steps.batch(object, instance->state(), 0, 1);
  int pages = 0, near = 0, first = 0;
  for (std::size_t k = 0; k < arrays / page; ++k) {
    if (used[k] == nobody || written[k] == nobody) continue;
    ++pages;
    near += used[k] == written[k];
    first += written[k] == 0;
  }
  std::printf("%d %d %d\n", pages, near, first);
  _exit(std::fflush(nullptr));
}
