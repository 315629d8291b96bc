// Restart files, one a process: written beside its place, brought to the disk, renamed; read back only if every byte is what was written.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "sea.hpp"

namespace ocean {

class Restart {
 public:
  using Levels = std::vector<Flow*>;

  void open(const char* workload, int rank) {
    const auto name =
        fl::text("%s-%016llx-%d-%lld", workload, static_cast<unsigned long long>(fl::seed()), rank, static_cast<Index>(getpid()));
    path_ = (std::filesystem::temp_directory_path() / name).string();
  }
  void close() { std::filesystem::remove(path_); }

  // Time steps that are done, and all that the next ones need.
  void keep(Index done, const Levels& levels) const {
    const std::string part = path_ + ".part";
    const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    std::uint64_t sum = fl::hash(static_cast<std::uint64_t>(done));
    bool kept = file >= 0 && write(file, &done, sizeof done);
    each(levels, [&](double* data, std::size_t bytes) { kept = kept && write(file, data, bytes), sum = hashed(sum, data, bytes); });
    kept = kept && write(file, &sum, sizeof sum) && fsync(file) == 0;
    if (file >= 0) kept = ::close(file) == 0 && kept;
    if (!kept || std::rename(part.c_str(), path_.c_str()) != 0)
      fl::abort_all(fl::text("%s cannot be written: %s", path_.c_str(), std::strerror(errno)));
  }
  // Fills the levels; returns how many time steps are done.
  Index take(const Levels& levels) const {
    const int file = ::open(path_.c_str(), O_RDONLY);
    Index done = 0;
    std::uint64_t sum = 0, expected = 0;
    bool taken = file >= 0 && read(file, &done, sizeof done);
    sum = fl::hash(static_cast<std::uint64_t>(done));
    each(levels, [&](double* data, std::size_t bytes) { taken = taken && read(file, data, bytes), sum = hashed(sum, data, bytes); });
    char beyond;
    taken = taken && read(file, &expected, sizeof expected) && ::read(file, &beyond, 1) == 0 && sum == expected;
    if (file >= 0) ::close(file);
    if (!taken) fl::abort_all(fl::text("%s is not what was written", path_.c_str()));
    return done;
  }

 private:
  template <class Visit>
  static void each(const Levels& levels, const Visit& visit) {
    for (Flow* level : levels)
      for (auto* field : level->all()) visit(field->data(), static_cast<std::size_t>(field->layout().elements) * sizeof(double));
  }
  static bool write(int file, const void* data, std::size_t bytes) {
    for (const char* at = static_cast<const char*>(data); bytes > 0;) {
      const ssize_t done = ::write(file, at, bytes);
      if (done <= 0) return false;
      at += done, bytes -= static_cast<std::size_t>(done);
    }
    return true;
  }
  static bool read(int file, void* data, std::size_t bytes) {
    for (char* at = static_cast<char*>(data); bytes > 0;) {
      const ssize_t done = ::read(file, at, bytes);
      if (done <= 0) return false;
      at += done, bytes -= static_cast<std::size_t>(done);
    }
    return true;
  }
  static std::uint64_t hashed(std::uint64_t sum, const double* data, std::size_t bytes) {
    for (std::size_t n = 0; n < bytes / sizeof(double); ++n) {
      std::uint64_t word;
      std::memcpy(&word, data + n, sizeof word);
      sum = fl::hash(sum ^ word);
    }
    return sum;
  }

  std::string path_;
};

}  // namespace ocean
