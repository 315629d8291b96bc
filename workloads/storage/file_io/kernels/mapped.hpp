// Memory maps of files.
#pragma once

#include "blocking.hpp"

namespace file_io {

// A copy between memory and a map of the whole file. Space is allocated first: a map of a full file system would end by a signal.
class Mapped {
 public:
  Mapped(const State& s, const Party& party) : target_(s.p.target), writes_(!s.reads()), length_(static_cast<std::size_t>(s.file_bytes())) {
    file_ = s.folder.open(s.file_name(writes_ ? party.me : party.source), writes_ ? O_RDWR | O_CREAT : O_RDONLY);
    if (file_ < 0) fl::storage_failed(target_, "open");
    if (writes_) {
      errno = posix_fallocate(file_, 0, s.file_bytes());
      if (errno != 0) fl::storage_failed(target_, "fallocate");
    }
    void* map = mmap(nullptr, length_, writes_ ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file_, 0);
    if (map == MAP_FAILED) fl::storage_failed(target_, "mmap");
    map_ = static_cast<char*>(map);
  }
  void write(const char* from, Index bytes, Index offset) const { std::memcpy(map_ + offset, from, static_cast<std::size_t>(bytes)); }
  const char* read(char* to, Index bytes, Index offset) const {
    std::memcpy(to, map_ + offset, static_cast<std::size_t>(bytes));
    return to;
  }
  void sync() const {
    if (msync(map_, length_, MS_SYNC) != 0) fl::storage_failed(target_, "msync");
  }
  void close() const {
    munmap(map_, length_);
    if (::close(file_) != 0) fl::storage_failed(target_, "close");
  }

 private:
  const fl::Storage& target_;
  bool writes_;
  std::size_t length_;
  int file_ = -1;
  char* map_ = nullptr;
};

}  // namespace file_io
