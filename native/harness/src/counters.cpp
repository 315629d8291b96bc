#include "counters.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace fl {
namespace {

struct FlopEvent {
  unsigned long long config;
  double weight;
};

// FP_ARITH_INST_RETIRED (Intel SDM volume 3B, event 0xC7): one umask a width; a fused multiply-add counts as two events.
constexpr FlopEvent intel[] = {{0x01C7, 1}, {0x02C7, 1}, {0x04C7, 2}, {0x08C7, 4}, {0x10C7, 4}, {0x20C7, 8}, {0x40C7, 8}, {0x80C7, 16}};
// Retired SSE/AVX FLOPs (AMD PPR for family 17h and later, event 0x003): counts operations itself.
constexpr FlopEvent amd[] = {{0x0F03, 1}};

// No processor does as much in a nanosecond: two multiply-adds of 32 numbers a cycle of 6 GHz are 768 operations. Some hypervisors give
// readings that are too large by a power of two.
constexpr double most_a_nanosecond = 1024;

std::string processor_vendor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("vendor_id", 0) == 0) return line.substr(line.find(':') + 2);
  return "";
}

std::string refusal(const char* name, double counted, double running) {
  std::ostringstream words;
  words << name << " not available: " << counted << " were counted in " << running << " ns of all threads, more than processors can do";
  return words.str();
}

}  // namespace

int Counters::open_event(unsigned type, unsigned long long config) {
  perf_event_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

void Counters::open_flops() {
  const std::string vendor = processor_vendor();
  const FlopEvent* first = vendor == "GenuineIntel" ? intel : vendor == "AuthenticAMD" ? amd : nullptr;
  const std::size_t count = first == intel ? std::size(intel) : first == amd ? std::size(amd) : 0;
  std::vector<Event> opened;
  for (std::size_t i = 0; i < count; ++i) {
    const int descriptor = open_event(PERF_TYPE_RAW, first[i].config);
    if (descriptor < 0) break;
    opened.push_back({.descriptor = descriptor, .kind = Kind::flops, .weight = first[i].weight});
  }
  // All widths or none: a sum over some of them would be a wrong number.
  if (count == 0 || opened.size() < count) {
    for (const Event& event : opened) close(event.descriptor);
    return;
  }
  events_.insert(events_.end(), opened.begin(), opened.end());
  available_ += " flops";
}

Counters::Counters() {
  const int instructions = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  if (instructions < 0) {
    available_ = std::string("no counters: perf_event_open reports ") + std::strerror(errno);
    return;
  }
  events_.push_back({.descriptor = instructions, .kind = Kind::instructions, .weight = 1});
  available_ = "instructions";
  if (const int cycles = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES); cycles >= 0) {
    events_.push_back({.descriptor = cycles, .kind = Kind::cycles, .weight = 1});
    available_ += " cycles";
  }
  open_flops();
}

Counters::~Counters() {
  for (const Event& event : events_) close(event.descriptor);
}

std::optional<Counters::Reading> Counters::read_event(const Event& event) {
  Reading reading;
  if (read(event.descriptor, &reading, sizeof reading) != sizeof reading) return std::nullopt;
  return reading;
}

void Counters::begin() {
  for (Event& event : events_) event.start = read_event(event).value_or(Reading{});
}

void Counters::resume() {
  for (const Event& event : events_) ioctl(event.descriptor, PERF_EVENT_IOC_ENABLE, 0);
}

void Counters::pause() {
  for (const Event& event : events_) ioctl(event.descriptor, PERF_EVENT_IOC_DISABLE, 0);
}

Counted Counters::end() {
  Counted result;
  bool whole = true;
  for (const Event& event : events_) {
    const auto [name, sum] = event.kind == Kind::instructions ? std::pair("instructions", &result.instructions)
                             : event.kind == Kind::cycles     ? std::pair("cycles", &result.cycles)
                                                              : std::pair("flops", &result.flops);
    const Reading now = read_event(event).value_or(event.start);
    const double counted = static_cast<double>(now.count - event.start.count) * event.weight;
    const double running = static_cast<double>(now.running - event.start.running);
    const bool possible = counted <= most_a_nanosecond * running;
    if (running > 0 && !possible) result.refused = refusal(name, counted, running);
    // A counter that never ran or that shows an impossible value has no meaning, and neither has a sum over it.
    if (running == 0 || !possible) {
      whole = whole && event.kind != Kind::flops;
      continue;
    }
    // A multiplexed event is scaled up, as perf stat does.
    *sum = sum->value_or(0) + counted * static_cast<double>(now.enabled - event.start.enabled) / running;
  }
  if (!whole) result.flops.reset();
  return result;
}

}  // namespace fl
