#include "firstlight/storage.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <system_error>

#include "comm.hpp"
#include "measure.hpp"

namespace fl {
namespace {

constexpr double share = 0.1, least_left = 0x1p30;
constexpr const char* by_default = "tmpdir";  // the target whose folder a program without --storage makes itself

// The folders of this launch. They are removed with the process, in case no keeper does: on other nodes, and without firstlight.
struct Launch {
  std::set<std::string> folders;
  int cases = 0;
  ~Launch() {
    for (const std::string& folder : folders) rmdir(folder.c_str());
  }
};
Launch launch;

std::string temporary() {
  const char* named = std::getenv("TMPDIR");
  return named != nullptr && named[0] == '/' ? named : "/tmp";
}

std::string parent(const std::string& folder) { return std::filesystem::path(folder).parent_path(); }

// Opens a folder of mode 0700 that belongs to this user, after making it unless another rank has. No link is followed, and no folder of
// another user is accepted.
int own_folder(int above, const std::string& name) {
  if (mkdirat(above, name.c_str(), 0700) != 0 && errno != EEXIST) return -1;
  const int folder = openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat facts;
  if (folder < 0) return -1;
  if (fstat(folder, &facts) == 0 && facts.st_uid == geteuid() && (facts.st_mode & 0777) == 0700) return folder;
  close(folder);
  errno = EPERM;
  return -1;
}

// Returns a folder name that no other launch has, equal on all ranks.
std::string drawn() {
  std::uint64_t number = 0;
  if (comm::rank() == 0) number = static_cast<std::uint64_t>(std::random_device()()) << 32 | std::random_device()();
  comm::broadcast(&number, sizeof number);
  return text("%s/fl-%016llx", temporary().c_str(), static_cast<unsigned long long>(number));
}

}  // namespace

bool values_only = false;

std::string lacks_storage(const Storage& target, double bytes, double files) {
  if (target.folder.empty() && target.name != by_default && values_only) return "";
  if (target.folder.empty() && target.name != by_default)
    return text("the folder of the target %s is unknown; set it with --storage %s=DIR", target.name.c_str(), target.name.c_str());
  const std::string place = target.folder.empty() ? temporary() : parent(target.folder);
  struct statvfs facts;
  if (statvfs(place.c_str(), &facts) != 0) return text("target %s: %s", target.name.c_str(), std::strerror(errno));
  if ((facts.f_flag & ST_RDONLY) != 0) return text("target %s is mounted read-only", target.name.c_str());
  const double free = static_cast<double>(facts.f_bavail) * static_cast<double>(facts.f_frsize);
  if (bytes > share * free || bytes > free - least_left)
    return text(
        "target %s: the files need %.1f MiB, but %.1f MiB are free; a case may use at most 10 %% of the free space and must leave 1 GiB",
        target.name.c_str(), bytes / 0x1p20, free / 0x1p20);
  if (facts.f_files > 0 && files > share * static_cast<double>(facts.f_favail))
    return text("target %s: %.0f files are needed, but %.0f more are possible; a case may use at most 10 %% of them", target.name.c_str(),
                files, static_cast<double>(facts.f_favail));
  return "";
}

void storage_failed(const Storage& target, const char* call) {
  abort_all(text("target %s: %s: %s", target.name.c_str(), call, std::strerror(errno)));
}

Folder::Folder(const Storage& target) {
  const std::string above = target.folder.empty() ? drawn() : target.folder;
  path_ = above + "/" + std::to_string(++launch.cases);
  const int folder = own_folder(AT_FDCWD, above);
  if (folder < 0) storage_failed(target, "cannot create a folder");
  launch.folders.insert(above);
  descriptor_ = own_folder(folder, std::to_string(launch.cases));
  if (descriptor_ < 0) storage_failed(target, "cannot create a folder");
  close(folder);
}

Folder::~Folder() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  comm::barrier();  // other ranks may still use their files
  std::error_code ignored;
  if (comm::rank() == 0) std::filesystem::remove_all(path_, ignored);
  comm::barrier();
  if (comm::rank() > 0 && comm::place() == 0) std::filesystem::remove_all(path_, ignored);  // a local file system of another node
  comm::barrier();
}

std::string Folder::without_path(const Storage& target, std::string message) const {
  const std::string above = path("");
  for (std::size_t at; (at = message.find(above)) != std::string::npos;) message.replace(at, above.size(), "");
  return "target " + target.name + ": " + message;
}

int Folder::open(const std::string& name, int flags) const {
  return openat(descriptor_, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0600);
}

}  // namespace fl
