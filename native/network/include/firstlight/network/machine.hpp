// The parameters of a network. Times in nanoseconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fl::network {

// The bytes that LogGOPS counts: whole ones, and one at least.
double loggops_bytes(double bytes);

// Two models. Networks without links (flat:P) follow LogGOPS, as Hoefler, Schneider, Lumsdaine 2010, LogGOPSim, states it: a send of s
// bytes keeps its processor for o + (s-1) O and its interface for g + (s-1) G, the first byte arrives at start + o + L, and to receive
// it keeps a processor for o + (s-1) max(O, G). Above S bytes a send is complete only when its receive has matched. G and O may depend
// on the size of the message, as in the parameterised LogP of Kielmann, Bal, Verstoep 2000, Fast Measurement of LogP Parameters.
//
// On networks with links a message keeps one of the node's interfaces for overhead + s / bandwidth, of which the overhead is a
// processor's time where noise matters; its head moves on by one link each `hop`, if the link is free, and it keeps the link and one of
// the receiving interfaces for s / bandwidth each (virtual cut-through with room to wait everywhere).
struct Machine {
  // The time of a byte of a message of so many bytes.
  struct Rate {
    double bytes, G, O;
  };
  // How long a message keeps the processors of both ends and each interface, and what its bytes add at the sender.
  struct Cost {
    double send, receive, gap, body;
  };

  double L = 2500;  // latency
  double o = 1500;  // overhead of the processor, a message
  double g = 1000;  // gap of an interface, a message
  double G = 6;     // the same, a byte
  double O = 0;     // overhead, a byte
  double S = 65535;
  // Instead of G, O and bandwidth, ascending: in between, a message takes what is on the line between two of them.
  std::vector<Rate> rates;

  double hop = 100;             // a link
  double overhead = 200;        // an interface, a message or segment
  double bandwidth = 5e9;       // bytes per second, of a link and of an interface
  std::int32_t interfaces = 4;  // as many sends and as many receives at once; a message takes the one that is free first

  double reduce = 0;  // a byte that is combined
  double copy = 0;    // a byte that is copied within a rank

  double stream(double bytes) const { return rates.empty() ? bytes / bandwidth * 1e9 : cost(bytes).gap - g; }
  Cost cost(double bytes) const {
    const double more = loggops_bytes(bytes) - 1;
    if (rates.empty()) return cost(more * G, more * O);
    return by_rates(more + 1);
  }

 private:
  Cost cost(double gap, double body) const { return {o + body, o + std::max(body, gap), g + gap, body}; }
  Cost by_rates(double bytes) const;
};

// Operating system noise: each processor is interrupted once a period, for a duration, and goes on with what it did.
struct Noise {
  double period = 0;  // 0: none
  double duration = 0;
  bool same = false;  // all processors are interrupted at once; else each at a phase of its own
  std::uint64_t seed = 1;
  int runs = 11;  // with other phases each; the median counts

  bool present() const { return period > 0 && duration > 0; }
};

// key=value,...; raises std::invalid_argument
Machine machine_of(std::string_view text);
// The parameters that matter on a network, as machine_of reads them.
std::string text_of(const Machine& machine, bool links);
Noise noise_of(std::string_view text);

// The interruptions of one run.
class Interruptions {
 public:
  Interruptions(const Noise& noise, int run) : noise_(noise), seed_(noise.seed * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(run)) {}
  Interruptions() = default;
  // When a processor of the rank that turns to work at a time is done with it.
  double done(std::int32_t rank, double time, double work) const {
    if (!noise_.present() || work <= 0) return time + work;
    return interrupted(rank, time, work);
  }
  bool present() const { return noise_.present(); }

 private:
  double interrupted(std::int32_t rank, double time, double work) const;
  Noise noise_;
  std::uint64_t seed_ = 0;
};

}  // namespace fl::network
