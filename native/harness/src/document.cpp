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

constexpr std::size_t largest = std::size_t{64} << 20;
constexpr std::size_t by_bytes = std::size_t{1} << 20;  // larger ones are hashed by words, for Python's sake
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

// Distinguishes files of one name: FNV-1a of 64 bits (G. Fowler, L. C. Noll, K.-P. Vo). Of large ones words of 8 bytes, the lowest first
// and the last filled with zeros, take the place of bytes; then what differs at the top of a word must go down, too.
std::uint64_t hash_of(const std::string& content) {
  constexpr std::uint64_t prime = 0x100000001b3ull;
  std::uint64_t hash = 0xcbf29ce484222325ull;
  const auto byte = [&](std::size_t i) -> std::uint64_t { return i < content.size() ? static_cast<unsigned char>(content[i]) : 0; };
  if (content.size() <= by_bytes) {
    for (std::size_t i = 0; i < content.size(); ++i) hash = (hash ^ byte(i)) * prime;
    return hash;
  }
  hash ^= content.size();
  for (std::size_t i = 0; i < content.size(); i += 8) {
    std::uint64_t word = 0;
    for (std::size_t k = 0; k < 8; ++k) word |= byte(i + k) << 8 * k;
    hash = (hash ^ word) * prime;
    hash ^= hash >> 32;
  }
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
  if (path.ends_with(".gz")) throw refuse("compressed with gzip; only ./fl run decompresses it");
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe without a writer must not be waited for
  struct stat kind;
  if (file.number < 0 || fstat(file.number, &kind) != 0) throw refuse(std::strerror(errno));
  if (!S_ISREG(kind.st_mode)) throw refuse("not an ordinary file");
  std::string content, piece(std::size_t{1} << 16, '\0');
  while (content.size() <= largest) {
    const ssize_t more = read(file.number, piece.data(), piece.size());
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) throw refuse(std::strerror(errno));
    if (more == 0) break;
    content.append(piece, 0, static_cast<std::size_t>(more));
  }
  if (content.empty()) throw refuse("the file is empty");
  if (content.size() > largest) throw refuse("the file is larger than 64 MiB");
  return {recorded_name(path, content), content};
}

bool is_document_name(const std::string& value) {
  const std::size_t dash = value.find_last_of('-');
  if (dash == std::string::npos || dash < 1 || dash > longest_name || value.size() != dash + 1 + hash_digits) return false;
  return std::all_of(value.begin(), value.end(), is_plain) && value.find_first_not_of("0123456789abcdef", dash + 1) == std::string::npos;
}

Document kept_document(const char* parameter, const std::string& folder, const std::string& name) {
  const Document found = read_document(parameter, folder + "/" + name);
  if (found.name != name)
    throw UsageError(text("%s: %.80s was altered: its content does not match the hash in its name", parameter, name.c_str()));
  return found;
}

}  // namespace fl
