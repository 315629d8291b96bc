// Arrays straight from the operating system: large ones on huge pages, each on cache sets of its own.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "fences.hpp"
#include "firstlight/workload.hpp"
#include "pages.hpp"

namespace fl {
namespace {

constexpr std::size_t stagger_room = 4096;  // 64 lines of 64 bytes; a page or less on every system

std::size_t huge_page_size() {
  std::FILE* file = std::fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "r");
  if (file == nullptr) return 0;
  std::size_t size = 0;
  if (std::fscanf(file, "%zu", &size) != 1) size = 0;
  std::fclose(file);
  return (size & (size - 1)) == 0 ? size : 0;
}

std::size_t grain_of(std::size_t bytes) { return pages().grain_of(bytes); }

bool is_huge(std::size_t grain) { return grain == pages().huge; }

constexpr std::size_t kept_from = std::size_t{256} << 10;

// Every mapping keeps room for its stagger, so that release() can find its start from the length alone.
std::size_t mapping_length(std::size_t bytes) {
  const std::size_t grain = grain_of(bytes);
  return (bytes + stagger_room + grain - 1) / grain * grain;
}

// Large blocks that were given back, kept for the next case: if it requests blocks of the same size it gets the last one first,
// so each array finds the pages where the same variant with the same threads has put them, and nothing is mapped and zeroed again.
// The first block of any other size returns all kept ones to the system: they never increase the memory of a case.
class Kept {
 public:
  void* take(std::size_t length) {
    const std::lock_guard guard(lock_);
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
      if (block->length != length) continue;
      void* memory = block->memory;
      blocks_.erase(std::next(block).base());
      return memory;
    }
    for (const Block& block : blocks_) munmap(block.memory, block.length);
    blocks_.clear();
    return nullptr;
  }

  void put(void* memory, std::size_t length) {
    const std::lock_guard guard(lock_);
    blocks_.push_back({memory, length});
  }

 private:
  struct Block {
    void* memory;
    std::size_t length;
  };
  std::mutex lock_;
  std::vector<Block> blocks_;
};

Kept& kept() {
  static Kept& forever = *new Kept;  // arrays with static storage may be given back after main()
  return forever;
}

// A mapping of so many bytes that starts on a multiple of `grain`, or null.
void* map(std::size_t length, std::size_t grain) {
  void* mapping = mmap(nullptr, length + grain, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping);
  const auto address = (begin + grain - 1) / grain * grain;
  const std::size_t front = address - begin;
  if (front > 0) munmap(mapping, front);
  if (grain > front) munmap(reinterpret_cast<void*>(address + length), grain - front);
  if (is_huge(grain)) madvise(reinterpret_cast<void*>(address), length, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(address);
}

// All arrays, so that their guards can be checked.
class Arrays {
 public:
  void add(char* begin, std::size_t bytes, std::size_t front) {
    const std::lock_guard guard(lock_);
    known_[begin] = {bytes, front, 0};
  }
  void remove(char* begin) {
    const std::lock_guard guard(lock_);
    known_.erase(begin);
  }
  void fence() {
    const std::lock_guard guard(lock_);
    std::uint32_t number = 0;
    for (auto& [begin, array] : known_) {
      array.mark = nan | (++number & ~nan);
      mark(begin + array.bytes, array.back(), array.mark);
      mark(begin - array.front, array.front, array.mark);
    }
  }
  Index trespassed() {
    const std::lock_guard guard(lock_);
    return std::count_if(known_.begin(), known_.end(), [](const auto& entry) {
      const auto& [begin, array] = entry;
      const bool whole = marked(begin + array.bytes, array.back(), array.mark) && marked(begin - array.front, array.front, array.mark);
      return array.mark != 0 && !whole;
    });
  }

 private:
  static constexpr std::size_t word = sizeof(std::uint32_t);
  // A NaN in 32 bits, and two of them one in 64. Each array has its own: a step that reads beyond one array and writes beyond another
  // is found, although NaNs travel through arithmetic as they are.
  static constexpr std::uint32_t nan = 0xFFF80000u;

  static void mark(char* at, std::size_t length, std::uint32_t value) {
    for (std::size_t k = 0; k < length; k += word) std::memcpy(at + k, &value, word);
  }
  static bool marked(const char* at, std::size_t length, std::uint32_t value) {
    for (std::size_t k = 0; k < length; k += word)
      if (std::memcmp(at + k, &value, word) != 0) return false;
    return true;
  }

  struct Array {
    std::size_t bytes;
    std::size_t front;   // bytes that staggering leaves before it
    std::uint32_t mark;  // 0: not watched
    std::size_t back() const { return stagger_room - front; }
  };
  std::mutex lock_;
  std::map<char*, Array> known_;
};

Arrays& arrays() {
  static Arrays& forever = *new Arrays;
  return forever;
}

}  // namespace

const Pages& pages() {
  static const Pages found{static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), huge_page_size()};
  return found;
}

void fence() { arrays().fence(); }
Index trespassed() { return arrays().trespassed(); }

void* allocate(std::size_t bytes) {
  // Arrays that all start on a page boundary share cache sets and 4 KiB aliases: shift each by another odd number of lines.
  static std::atomic<unsigned> count{0};
  const std::size_t shift = (count++ * 9 % 64) * 64;
  const std::size_t grain = grain_of(bytes), length = mapping_length(bytes);
  void* block = bytes >= kept_from ? kept().take(length) : nullptr;
  if (block == nullptr) block = map(length, grain);
  if (block == nullptr)
    abort_all(text("out of memory: %.1f more MiB cannot be allocated; choose a smaller size", static_cast<double>(bytes) / 0x1p20));
  char* begin = static_cast<char*>(block) + shift;
  arrays().add(begin, bytes, shift);
  return begin;
}

void release(void* memory, std::size_t bytes) {
  arrays().remove(static_cast<char*>(memory));
  const std::size_t grain = grain_of(bytes);
  void* block = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(memory) / grain * grain);
  if (bytes >= kept_from)
    kept().put(block, mapping_length(bytes));
  else
    munmap(block, mapping_length(bytes));
}

}  // namespace fl
