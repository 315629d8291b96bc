// A thread of Open MPI 4 that gets its turn only after its component was unloaded, as happens where processors are busy: it is held
// where it waits for work (it polls; no other thread does) until the component is gone. With the word own: a fault of our own instead.
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

namespace {
std::atomic<bool> unloaded{false};
constexpr int patience = 10000;  // milliseconds: a library that unloads nothing ends well

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
}  // namespace

extern "C" int poll(pollfd* files, nfds_t count, int timeout) {
  static auto* const real = next<int(pollfd*, nfds_t, int)>("poll");
  const int found = real(files, count, timeout);
  const bool first_thread = syscall(SYS_gettid) == getpid();
  for (int k = 0; !first_thread && !unloaded && k < patience; ++k) usleep(1000);
  return found;
}

extern "C" int dlclose(void* library) {
  static auto* const real = next<int(void*)>("dlclose");
  link_map* map = nullptr;
  const bool pmix = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && std::strstr(map->l_name, "mca_pmix_") != nullptr &&
                    std::strstr(map->l_name, "3x.so") != nullptr;
  const int status = real(library);
  if (pmix) unloaded = true;
  return status;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1 && std::strcmp(argv[1], "own") == 0) {
    char* page = static_cast<char*>(mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    munmap(page, 1);
    *static_cast<volatile char*>(page) = 1;
  }
  MPI_Finalize();
}
