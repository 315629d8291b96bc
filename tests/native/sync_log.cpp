// Preloaded into a program: appends to the file $SYNC_LOG a line for each write, sync and rename, with the names of the files.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void note(const std::string& line) {
  const char* log = std::getenv("SYNC_LOG");
  if (log == nullptr) return;
  const int file = ::open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string text = line + "\n";
  if (file < 0 || ::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  ::close(file);
}
std::string path_of(int file) {
  char path[4096];
  const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "?";
}
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int fsync(int file) {
  note("sync " + path_of(file));
  return next<int(int)>("fsync")(file);
}
ssize_t pwrite(int file, const void* data, size_t bytes, off_t at) {
  note("write " + path_of(file));
  return next<ssize_t(int, const void*, size_t, off_t)>("pwrite")(file, data, bytes, at);
}
ssize_t pwrite64(int file, const void* data, size_t bytes, off64_t at) {
  note("write " + path_of(file));
  return next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64")(file, data, bytes, at);
}
int rename(const char* from, const char* to) noexcept {
  note(std::string("rename ") + from + " " + to);
  return next<int(const char*, const char*)>("rename")(from, to);
}
}
