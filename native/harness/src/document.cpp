#include "document.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "arguments.hpp"

namespace fl {
namespace {

constexpr std::size_t largest = 1 << 20;
constexpr std::size_t longest_name = 60, hash_digits = 16;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

// The last part of a path, fit for a command line and a record.
std::string plain_name(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1).substr(0, longest_name);
  for (char& c : name)
    if (!is_plain(c)) c = '_';
  return name;
}

// FNV-1a of 64 bits (G. Fowler, L. C. Noll, K.-P. Vo): tells files apart that have one name.
std::uint64_t hash_of(const std::string& content) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : content) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

// A file that a run kept keeps its name: it is the same document.
std::string recorded_name(const std::string& path, const std::string& content) {
  const std::string hash = text("-%016llx", static_cast<unsigned long long>(hash_of(content)));
  const std::string last = path.substr(path.find_last_of('/') + 1);
  return is_document_name(last) && last.ends_with(hash) ? last : plain_name(path) + hash;
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
  if (path.ends_with(".gz")) throw refuse("packed by gzip; ./fl run unpacks it, a program by itself does not");
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
  return {recorded_name(path, content), content};
}

bool is_document_name(const std::string& value) {
  const std::size_t dash = value.find_last_of('-');
  if (dash == std::string::npos || dash < 1 || dash > longest_name || value.size() != dash + 1 + hash_digits) return false;
  return std::all_of(value.begin(), value.end(), is_plain) && value.find_first_not_of("0123456789abcdef", dash + 1) == std::string::npos;
}

Document kept_document(const char* parameter, const std::string& folder, const std::string& name) {
  const Document found = read_document(parameter, folder + "/" + name);
  if (found.name != name) throw UsageError(text("%s: %.80s was altered: its content is not what its name says", parameter, name.c_str()));
  return found;
}

}  // namespace fl
