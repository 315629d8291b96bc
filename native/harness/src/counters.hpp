// Hardware counters of this process and the threads it starts, through perf events; user space only, so no privileges are needed.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fl {

struct Counted {
  std::optional<double> instructions, cycles, flops;
  std::string refused;  // what was counted and cannot be, and why; else empty
};

class Counters {
 public:
  Counters();  // opens what the kernel allows; open them before any thread starts, so that threads inherit them
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  const std::string& available() const { return available_; }  // "instructions cycles flops", or why there are none
  bool any() const { return !events_.empty(); }
  void begin();
  void resume();  // counts from here
  void pause();   // to here; so often as wanted between begin() and end()
  Counted end();

 private:
  enum class Kind { instructions, cycles, flops };
  struct Reading {
    unsigned long long count = 0, enabled = 0, running = 0;
  };
  struct Event {
    int descriptor;
    Kind kind;
    double weight;  // floating-point operations an event stands for
    Reading start = {};
  };
  static std::optional<Reading> read_event(const Event& event);
  int open_event(unsigned type, unsigned long long config);
  void open_flops();
  std::vector<Event> events_;
  std::string available_;
};

}  // namespace fl
