// Arrays straight from the operating system: large ones on huge pages, each on cache sets of its own.
#include <sys/mman.h>

#include <atomic>
#include <cstdio>

#include "comm.hpp"
#include "firstlight/workload.hpp"

namespace fl {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t stagger_room = 4096;

// Smaller arrays fit a few 4 KiB pages; larger ones, scattered over 4 KiB pages, meet in the same sets of a physically indexed cache
// by luck, and a figure near the size of L2 would change from launch to launch.
constexpr std::size_t huge_from = std::size_t{256} << 10;

std::size_t grain_of(std::size_t bytes) { return bytes >= huge_from ? huge_page : 4096; }

// Every mapping keeps room for its stagger, so that release() can find its start from the length alone.
std::size_t mapping_length(std::size_t bytes) {
  const std::size_t grain = grain_of(bytes);
  return (bytes + stagger_room + grain - 1) / grain * grain + grain;
}

}  // namespace

void* allocate(std::size_t bytes) {
  // Arrays that all start on a page boundary share cache sets and 4 KiB aliases: shift each by another odd number of lines.
  static std::atomic<unsigned> count{0};
  const std::size_t shift = (count++ * 9 % 64) * 64;
  const std::size_t length = mapping_length(bytes);
  void* mapping = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    std::fprintf(stderr, "out of memory: %.1f MiB more are not to be had; choose a smaller size\n", static_cast<double>(bytes) / 0x1p20);
    comm::abort(3);
  }
  const std::size_t grain = grain_of(bytes);
  const auto address = (reinterpret_cast<std::uintptr_t>(mapping) + grain - 1) / grain * grain;
  const std::size_t front = address - reinterpret_cast<std::uintptr_t>(mapping);
  if (front > 0) munmap(mapping, front);
  if (grain > front) munmap(reinterpret_cast<void*>(address + length - grain), grain - front);
  if (grain == huge_page) madvise(reinterpret_cast<void*>(address), length - grain, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(address + shift);
}

void release(void* memory, std::size_t bytes) {
  const std::size_t grain = grain_of(bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(memory) / grain * grain;
  munmap(reinterpret_cast<void*>(address), mapping_length(bytes) - grain);
}

}  // namespace fl
