// Files that are durable: written whole under a temporary name, brought to the disk, renamed, and the folder brought to the disk, too.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "firstlight/role.hpp"
#include "firstlight/workload.hpp"

namespace fl::checkpoints::inline FL_ROLE {

// Why a state cannot be saved or restored, in a sentence.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Evidence of what save() did, counted where the system is called.
struct Journal {
  Index bytes = 0;    // written
  Index files = 0;    // written, whole or in part
  Index synced = 0;   // files brought to the disk after their last write
  Index folders = 0;  // brought to the disk

  void operator+=(const Journal& other) { bytes += other.bytes, files += other.files, synced += other.synced, folders += other.folders; }
};

// Memory without initial values.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::size_t size) : size_(size), data_(new unsigned char[size]) {}
  unsigned char* data() { return data_.get(); }
  const unsigned char* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  // The same memory if it has this size already.
  void resize(std::size_t size) {
    if (size != size_) *this = Bytes(size);
  }

 private:
  std::size_t size_ = 0;
  std::unique_ptr<unsigned char[]> data_;
};

class File {
 public:
  File(std::string path, int flags) : path_(std::move(path)), file_(::open(path_.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (file_ < 0) fail("cannot be opened");
  }
  File(File&& other) noexcept : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
  File& operator=(File&&) = delete;
  ~File() {
    if (file_ >= 0) ::close(file_);
  }

  void write(const void* data, std::size_t bytes, std::size_t at) {
    for (const char* from = static_cast<const char*>(data); bytes > 0;) {
      const ssize_t done = ::pwrite(file_, from, bytes, static_cast<off_t>(at));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) fail("cannot be written");
      from += done, at += static_cast<std::size_t>(done), bytes -= static_cast<std::size_t>(done);
    }
  }
  void read(void* data, std::size_t bytes, std::size_t at) {
    for (char* to = static_cast<char*>(data); bytes > 0;) {
      const ssize_t done = ::pread(file_, to, bytes, static_cast<off_t>(at));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail("cannot be read");
      if (done == 0) throw Failure(path_ + " is truncated");
      to += done, at += static_cast<std::size_t>(done), bytes -= static_cast<std::size_t>(done);
    }
  }
  std::size_t size() {
    struct stat about {};
    if (fstat(file_, &about) != 0) fail("cannot be examined");
    return static_cast<std::size_t>(about.st_size);
  }
  void sync() {
    if (fsync(file_) != 0) fail("cannot be written to the disk");
  }
  void close() {
    if (::close(std::exchange(file_, -1)) != 0) fail("cannot be closed");
  }
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const char* what) const { throw Failure(path_ + " " + what + ": " + std::strerror(errno)); }

  std::string path_;
  int file_;
};

inline constexpr const char* unfinished = ".part";  // the end of a temporary name

inline void rename_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) throw Failure(to + " cannot be renamed: " + std::strerror(errno));
}
inline void sync_folder(const std::string& folder, Journal& journal) {
  File(folder, O_RDONLY | O_DIRECTORY).sync();
  journal.folders += 1;
}
// Makes a folder unless there is one, and brings its name to the disk.
inline void make_folder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) == 0)
    File(folder + "/..", O_RDONLY | O_DIRECTORY).sync();
  else if (errno != EEXIST)
    throw Failure(folder + " cannot be created: " + std::strerror(errno));
}
// Removes a file if there is one.
inline void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw Failure(path + " cannot be removed: " + std::strerror(errno));
}
// The names in a folder; none if there is no such folder.
inline std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  if (open == nullptr) {
    if (errno == ENOENT || errno == ENOTDIR) return names;
    throw Failure(folder + " cannot be listed: " + std::strerror(errno));
  }
  while (const dirent* entry = readdir(open.get()))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  return names;
}

}  // namespace fl::checkpoints::inline FL_ROLE
