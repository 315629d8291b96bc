// The phases of one party. `wait` is a barrier of all parties.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "firstlight/variant.hpp"
#include "metadata.hpp"

namespace metadata {

// A file that is or is not there is an error of the program, which the check reports; any other failure is one of the target.
inline void failed(const State& s, Party& party, const char* call) {
  if (errno != ENOENT && errno != EEXIST) fl::storage_failed(s.p.target, call);
  ++party.refused;
}

inline void create_files(const State& s, Party& party) {
  for (Index k = 0; k < s.p.files; ++k) {
    const int file = s.folder.open(party.own[static_cast<std::size_t>(k)], O_WRONLY | O_CREAT | O_EXCL);
    if (file < 0) {
      failed(s, party, "create");
      continue;
    }
    const ssize_t done = s.p.bytes == 0 ? 0 : write(file, party.contents.data() + k * s.whole(), static_cast<std::size_t>(s.p.bytes));
    if (done < 0) fl::storage_failed(s.p.target, "write");
    if (close(file) != 0) fl::storage_failed(s.p.target, "close");
  }
}

inline void stat_files(const State& s, Party& party) {
  for (const std::string& name : party.foreign) {
    struct stat facts;
    if (fstatat(s.folder.descriptor(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0)
      failed(s, party, "stat");
    else
      party.sizes += facts.st_size;
  }
}

inline void open_files(const State& s, Party& party) {
  for (const std::string& name : party.foreign) {
    const int file = s.folder.open(name, O_RDONLY);
    if (file < 0) {
      failed(s, party, "open");
      continue;
    }
    const ssize_t there = s.p.bytes == 0 ? 0 : read(file, party.buffer.data(), static_cast<std::size_t>(s.p.bytes));
    if (there < 0) fl::storage_failed(s.p.target, "read");
    if (close(file) != 0) fl::storage_failed(s.p.target, "close");
    for (Index at = 0; at + 8 <= there; at += 8) {
      Word word = 0;
      std::memcpy(&word, party.buffer.data() + at, sizeof word);
      party.words += word;
    }
  }
}

inline void list_files(const State& s, Party& party) {
  const int file = s.folder.open(s.directory(party.other), O_RDONLY | O_DIRECTORY);
  DIR* entries = file < 0 ? nullptr : fdopendir(file);
  if (entries == nullptr) fl::storage_failed(s.p.target, "opendir");
  while (const dirent* entry = ::readdir(entries)) {
    if (entry->d_name[0] == '.') continue;
    party.names += digest(entry->d_name);
    ++party.entries;
  }
  closedir(entries);
}

inline void rename_files(const State& s, Party& party) {
  const int folder = s.folder.descriptor();
  for (std::size_t k = 0; k < party.own.size(); ++k)
    if (renameat(folder, party.own[k].c_str(), folder, party.renamed[k].c_str()) != 0) failed(s, party, "rename");
}

inline void unlink_files(const State& s, Party& party) {
  for (const std::string& name : party.renamed)
    if (unlinkat(s.folder.descriptor(), name.c_str(), 0) != 0) failed(s, party, "unlink");
}

struct Calls {
  void (*phase[stages])(const State&, Party&) = {create_files, stat_files, open_files, list_files, rename_files, unlink_files};
};

template <class Wait>
void take_step(State& s, Party& party, Wait wait, const Calls& calls = {}) {
  constexpr fl::Phase names[] = {phases("create"), phases("stat"), phases("open"), phases("readdir"), phases("rename"), phases("unlink")};
  for (int phase = s.first; phase <= s.last; ++phase) {
    const fl::In in(names[phase]);
    calls.phase[phase](s, party);
    wait();
  }
  if (&party == &s.mine[0]) s.stepped = true;
}

}  // namespace metadata
