// A working folder in a target of storage, and the limits that keep a user's file systems safe.
//
// A workload declares a parameter `fields.storage("target", target, ...)` with an fl::Storage, names it in workload.toml
// (`storage = "target"`), and has
//   refuse():  return fl::lacks_storage(target, bytes, files);       of all ranks together, at the same time
//   init():    s.folder = fl::Folder(target);                        of this case; collective
//   steps:     const int file = s.folder.open("data.0", O_WRONLY | O_CREAT | O_EXCL); if (file < 0) fl::storage_failed(target, "open");
// A State destroys the folder with all that is in it. If a program ends in another way, the keeper of the launch removes it.
#pragma once

#include <string>
#include <utility>

#include "firstlight/workload.hpp"

namespace fl {

// Returns why a case must not use the target; empty if it may. A case uses at most 10 % of the free bytes and of the free files, and
// leaves at least 1 GiB.
std::string lacks_storage(const Storage& target, double bytes, double files);

// Ends every rank with the reason of errno: the target is full (ENOSPC, EDQUOT), damaged (EIO), lost (ESTALE). Its cases are unverified.
[[noreturn]] void storage_failed(const Storage& target, const char* call);

// A new folder of mode 0700. All ranks construct and destroy it together; ranks of another node have their own if the target is a local
// file system.
class Folder {
 public:
  Folder() = default;
  explicit Folder(const Storage& target);
  Folder(Folder&& other) noexcept { swap(other); }
  Folder& operator=(Folder&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Folder();

  // Opens a file of the folder, never a link, with O_CLOEXEC; a new one has mode 0600. Returns -1 with errno on failure.
  int open(const std::string& name, int flags) const;
  std::string path(const std::string& name) const { return path_ + "/" + name; }  // for a library that opens files by itself
  // Returns a message of such a library as "target NAME: ...", without the path: records must not contain it.
  std::string without_path(const Storage& target, std::string message) const;
  int descriptor() const { return descriptor_; }  // of the folder

 private:
  void swap(Folder& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
  }
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace fl
