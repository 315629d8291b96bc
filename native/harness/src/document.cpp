#include "document.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "arguments.hpp"

namespace fl {
namespace {

constexpr std::size_t largest = 1 << 20;
constexpr std::size_t longest_name = 60;

// The last part of a path, fit for a command line and a record.
std::string plain_name(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1).substr(0, longest_name);
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  return name;
}

// FNV-1a of 64 bits (G. Fowler, L. C. Noll, K.-P. Vo): tells files apart that have one name.
std::uint64_t hash_of(const std::string& content) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : content) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int number;
};

}  // namespace

Document read_document(const char* parameter, const std::string& path) {
  const auto refuse = [&](const char* why) { return UsageError(text("%s: %.200s: %s", parameter, path.c_str(), why)); };
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe without a writer must not be waited for
  struct stat kind;
  if (file.number < 0 || fstat(file.number, &kind) != 0) throw refuse(std::strerror(errno));
  if (!S_ISREG(kind.st_mode)) throw refuse("not an ordinary file");
  std::string content(largest + 1, '\0');
  std::size_t got = 0;
  while (got < content.size()) {
    const ssize_t more = read(file.number, content.data() + got, content.size() - got);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) throw refuse(std::strerror(errno));
    if (more == 0) break;
    got += static_cast<std::size_t>(more);
  }
  if (got == 0) throw refuse("the file is empty");
  if (got > largest) throw refuse("the file is larger than 1 MiB");
  content.resize(got);
  return {plain_name(path) + text("-%016llx", static_cast<unsigned long long>(hash_of(content))), content};
}

}  // namespace fl
