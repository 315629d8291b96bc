// A step of one party whose operations follow one another; the interface decides how a file is opened, written and read.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "file_io.hpp"
#include "firstlight/variant.hpp"

namespace file_io {

// Keeps one word of every `sampled()` bytes of a block.
inline void keep_samples(const State& s, Party& party, Index block, const char* read) {
  Word* seen = party.seen.data() + block * s.samples;
  const Index samples = s.samples, sampled = s.sampled(), first = s.sample_at(0, s.iteration), last = s.p.transfer - 8;
  for (Index k = 0; k < samples; ++k) std::memcpy(seen + k, read + std::min(k * sampled + first, last), sizeof(Word));
}

// In an untimed step of the check it keeps every byte, too.
inline void keep(const State& s, Party& party, Index block, const char* read) {
  keep_samples(s, party, block, read);
  if (s.every_byte) [[unlikely]]
    std::memcpy(party.image + block * s.p.transfer, read, static_cast<std::size_t>(s.p.transfer));
}

// POSIX calls, with further flags for open() such as O_DIRECT.
template <int flags>
class Posix {
 public:
  Posix(const State& s, const Party& party)
      : target_(s.p.target),
        file_(s.folder.open(s.file_name(s.reads() ? party.source : party.me), (s.reads() ? O_RDONLY : O_WRONLY | O_CREAT) | flags)) {
    if (file_ < 0) fl::storage_failed(target_, flags == 0 ? "open" : "open with O_DIRECT");
  }
  void write(const char* from, Index bytes, Index offset) const {
    while (bytes > 0) {
      const ssize_t done = pwrite(file_, from, static_cast<std::size_t>(bytes), offset);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) fl::storage_failed(target_, "write");
      from += done, offset += done, bytes -= done;
    }
  }
  const char* read(char* to, Index bytes, Index offset) const {
    for (Index there = 0; there < bytes;) {
      const ssize_t done = pread(file_, to + there, static_cast<std::size_t>(bytes - there), offset + there);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fl::storage_failed(target_, "read");
      if (done == 0) break;  // the file ends early: the check finds what is missing
      there += done;
    }
    return to;
  }
  void sync() const {
    if (fsync(file_) != 0) fl::storage_failed(target_, "fsync");
  }
  void close() const {
    if (::close(file_) != 0) fl::storage_failed(target_, "close");
  }
  int number() const { return file_; }

 private:
  const fl::Storage& target_;
  int file_;
};

inline double seconds_since(std::int64_t& before) {
  const std::int64_t now = fl::clock_nanoseconds(), spent = now - before;
  before = now;
  return 1e-9 * static_cast<double>(spent);
}

template <class File>
void take_step(State& s, Party& party) {
  File file(s, party);
  const Index bytes = s.p.transfer;
  std::int64_t before = fl::clock_nanoseconds();
  for (const Index block : party.order) {
    if (s.reads()) {
      keep(s, party, block, file.read(party.buffer, bytes, s.offset(party.source, block)));
    } else {
      file.write(party.image + block * bytes, bytes, s.offset(party.me, block));
      if (s.p.operation == Operation::sync) fl::during(phases("sync"), [&] { file.sync(); });
    }
    party.latencies.push_back(seconds_since(before));
  }
  if (s.syncs_at_end()) fl::during(phases("sync"), [&] { file.sync(); });
  file.close();
  party.stepped = true;
}

// One party in each process.
template <class File>
void step_alone(State& s, Index) {
  take_step<File>(s, s.mine[0]);
}

}  // namespace file_io
