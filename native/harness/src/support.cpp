// Poison, checks, text: what workload headers call.
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "comm.hpp"
#include "firstlight/workload.hpp"

namespace fl {

Index saved_before = -1;

namespace {

// Waits until the launcher has read the output, a second at most: Hydra ends a job that is aborted without a last look at its streams.
void await_reader(int stream) {
  struct stat kind;
  if (fstat(stream, &kind) != 0 || !S_ISFIFO(kind.st_mode)) return;
  for (int waited = 0, unread = 1; waited < 1000 && unread > 0; ++waited) {
    if (ioctl(stream, FIONREAD, &unread) != 0) return;
    if (unread > 0) usleep(1000);
  }
}

}  // namespace

void poison(double* first, Index count) {
  const std::uint64_t bits = poison_bits;
  for (Index i = 0; i < count; ++i) std::memcpy(first + i, &bits, sizeof bits);
}

void poison(float* first, Index count) {
  const std::uint32_t bits = 0x7FC0DEADu;
  for (Index i = 0; i < count; ++i) std::memcpy(first + i, &bits, sizeof bits);
}

Check Check::of(double error, double tolerance, std::string what) {
  return Check{std::isfinite(error) && std::fabs(error) <= tolerance, error, tolerance, std::move(what)};
}

void abort_all(const std::string& why) {
  const std::string who = comm::size() > 1 ? "rank " + std::to_string(comm::rank()) + ": " : "";
  std::fprintf(stderr, "%s: %s%s\n", program_invocation_name, who.c_str(), why.c_str());  // by its name, for launchers print more
  await_reader(STDERR_FILENO);
  comm::abort(3);
}

void barrier() { comm::barrier(); }

double total(double mine) {
  std::vector<double> all(static_cast<std::size_t>(comm::rank() == 0 ? comm::size() : 0));
  comm::gather(&mine, sizeof mine, all.data());
  double sum = std::accumulate(all.begin(), all.end(), 0.0);
  comm::broadcast(&sum, sizeof sum);
  return sum;
}

void maximum(double* mine, int count) { comm::maximum(mine, count); }
void add_up(double* mine, int count) { comm::add_up(mine, count); }

void shift(const double* mine, Index count, int to, int from, double* theirs) {
  comm::shift(mine, static_cast<std::size_t>(count) * sizeof(double), to, from, theirs);
}

std::string text(const char* format, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

namespace {

// The bytes that a control group of this process, or one above it, may use at most: containers and jobs of batch systems have such limits.
double memory_of_groups() {
  double least = std::numeric_limits<double>::infinity();
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // 0::/path for version 2, 4:memory:/path for version 1
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const bool old = line.substr(first + 1, second - first - 1) == "memory";
    if (!old && second != first + 1) continue;
    const std::filesystem::path base = old ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup", inside = line.substr(second + 1);
    for (std::filesystem::path group = inside.relative_path();; group = group.parent_path()) {
      double bytes = 0;  // without a limit, version 2 has the word "max"
      if (std::ifstream(base / group / (old ? "memory.limit_in_bytes" : "memory.max")) >> bytes) least = std::min(least, bytes);
      if (group.empty()) break;
    }
  }
  return least;
}

}  // namespace

std::string lacks_memory(double needed) {
  const double all = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double there = std::min(all, memory_of_groups());
  if (needed <= 0.95 * there) return "";
  return text(
      "these values need %.1f GiB of memory on each node, but this node allows only %.1f GiB; use smaller values, "
      "fewer processes or more nodes",
      needed / 0x1p30, there / 0x1p30);
}

}  // namespace fl
