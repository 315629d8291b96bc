// Files that leave the page cache, and how much of them stayed.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

namespace checkpoint {

// Drops the clean pages of all files in a folder and below; returns the share that is still resident. A file system in memory keeps all.
inline double drop_from_cache(const std::string& folder) {
  double resident = 0, all = 0;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::error_code error;
  for (auto entry = std::filesystem::recursive_directory_iterator(folder, error); !error && entry != end(entry); entry.increment(error)) {
    const int file = ::open(entry->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat about {};
    if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
      posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
      const auto bytes = static_cast<std::size_t>(about.st_size);
      void* memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
      std::vector<unsigned char> pages((bytes + page - 1) / page);
      if (memory != MAP_FAILED && mincore(memory, bytes, pages.data()) == 0)
        for (const unsigned char one : pages) resident += one & 1;
      if (memory != MAP_FAILED) munmap(memory, bytes);
      all += static_cast<double>(pages.size());
    }
    if (file >= 0) ::close(file);
  }
  return all > 0 ? resident / all : 0;
}

}  // namespace checkpoint
