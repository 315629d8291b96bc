#include "firstlight/network/machine.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <stdexcept>

namespace fl::network {

namespace {

std::string range(double least, double most) {
  char text[64];
  std::snprintf(text, sizeof text, "from %g to %g", least, most);
  return text;
}

double number(std::string_view key, std::string_view text, double least, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= least && value <= most))
    throw std::invalid_argument("'" + std::string(key) + "' should be a number " + range(least, most) + ", not '" + std::string(text) +
                                "'");
  return value;
}

double whole(std::string_view key, std::string_view text, double least, double most) {
  const double value = number(key, text, least, most);
  if (value != std::floor(value))
    throw std::invalid_argument("'" + std::string(key) + "' should be a whole number, not '" + std::string(text) + "'");
  return value;
}

// Calls take(key, value) for each key=value; false means that there is no such key.
template <class Take>
void each(std::string_view text, const char* keys, Take take) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(item.size() < text.size() ? item.size() + 1 : item.size());
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || !take(item.substr(0, equals), item.substr(equals + 1)))
      throw std::invalid_argument("'" + std::string(item) + "' should be one of " + keys);
  }
}

// bytes:G:O/bytes:G:O/...
std::vector<Machine::Rate> rates_of(std::string_view text) {
  std::vector<Machine::Rate> rates;
  while (!text.empty()) {
    std::string_view item = text.substr(0, text.find('/'));
    text.remove_prefix(item.size() < text.size() ? item.size() + 1 : item.size());
    double values[3] = {};
    for (double& value : values) {
      value = number("rates", item.substr(0, item.find(':')), 0, 1e15);
      item.remove_prefix(std::min(item.find(':'), item.size() - 1) + 1);
    }
    if (!item.empty()) throw std::invalid_argument("'rates' should be bytes:G:O joined by /");
    if (!rates.empty() && values[0] <= rates.back().bytes) throw std::invalid_argument("'rates' should ascend in bytes");
    rates.push_back({std::max(values[0], 1.0), values[1], values[2]});
  }
  return rates;
}

}  // namespace

double loggops_bytes(double bytes) { return std::max(1.0, std::floor(bytes + 0.5)); }

Machine::Cost Machine::by_rates(double bytes) const {
  const auto next = std::ranges::upper_bound(rates, bytes, {}, &Rate::bytes);
  const Rate& above = next == rates.end() ? rates.back() : *next;
  const Rate& below = next == rates.begin() ? above : *std::prev(next);
  const double more = bytes - 1;
  if (next == rates.begin() || next == rates.end()) return cost(more * below.G, more * below.O);
  const double part = (bytes - below.bytes) / (above.bytes - below.bytes);
  const auto between = [&](double Rate::*rate) {
    return std::lerp((below.bytes - 1) * below.*rate, (above.bytes - 1) * above.*rate, part);
  };
  return cost(between(&Rate::G), between(&Rate::O));
}

Machine machine_of(std::string_view text) {
  Machine m;
  const struct {
    std::string_view key;
    double* value;
    double least;
  } all[] = {{"L", &m.L, 0},
             {"o", &m.o, 0},
             {"g", &m.g, 0},
             {"G", &m.G, 0},
             {"O", &m.O, 0},
             {"S", &m.S, 0},
             {"hop", &m.hop, 0},
             {"overhead", &m.overhead, 0},
             {"bandwidth", &m.bandwidth, 1},
             {"reduce", &m.reduce, 0},
             {"copy", &m.copy, 0}};
  each(text, "L, o, g, G, O, S, hop, overhead, reduce, copy (ns), rates (bytes:G:O/...), bandwidth (bytes/s), interfaces",
       [&](auto key, auto value) {
         for (const auto& a : all) {
           if (a.key != key) continue;
           *a.value = number(key, value, a.least, 1e15);
           return true;
         }
         if (key == "rates") m.rates = rates_of(value);
         if (key == "interfaces") m.interfaces = static_cast<std::int32_t>(whole(key, value, 1, 255));
         return key == "interfaces" || key == "rates";
       });
  return m;
}

std::string text_of(const Machine& m, bool links) {
  const auto list = [](std::initializer_list<std::pair<const char*, double>> all) {
    std::string text;
    for (const auto& [key, value] : all) {
      char number[32];
      std::snprintf(number, sizeof number, "%g", value);
      text += (text.empty() ? "" : ",") + std::string(key) + "=" + number;
    }
    return text;
  };
  std::string text = links ? list({{"hop", m.hop}, {"overhead", m.overhead}, {"bandwidth", m.bandwidth}, {"interfaces", m.interfaces}})
                           : list({{"L", m.L}, {"o", m.o}, {"g", m.g}, {"G", m.G}, {"O", m.O}, {"S", m.S}});
  for (const Machine::Rate& r : m.rates) {
    char rate[96];
    std::snprintf(rate, sizeof rate, "%s%.15g:%g:%g", &r == m.rates.data() ? ",rates=" : "/", r.bytes, r.G, r.O);
    text += rate;
  }
  return text;
}

Noise noise_of(std::string_view text) {
  Noise n;
  each(text, "period_us, duration_us, phase=independent|same, seed, runs", [&](auto key, auto value) {
    if (key == "period_us")
      n.period = number(key, value, 1e-3, 1e12) * 1e3;
    else if (key == "duration_us")
      n.duration = number(key, value, 0, 1e12) * 1e3;
    else if (key == "phase" && (value == "independent" || value == "same"))
      n.same = value == "same";
    else if (key == "seed")
      n.seed = static_cast<std::uint64_t>(whole(key, value, 0, 9e15));
    else if (key == "runs")
      n.runs = static_cast<int>(whole(key, value, 1, 100000));
    else
      return false;
    return true;
  });
  if (n.period <= n.duration) throw std::invalid_argument("noise needs a period_us above its duration_us");
  return n;
}

double Interruptions::interrupted(std::int32_t rank, double time, double work) const {
  std::uint64_t x = seed_ + (noise_.same ? 0 : static_cast<std::uint64_t>(rank) + 1) * 0xbf58476d1ce4e5b9U;  // splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  x ^= x >> 31;
  const double phase = static_cast<double>(x >> 11) * 0x1p-53 * noise_.period;
  const double since = time + noise_.period - phase;
  double within = since - std::floor(since / noise_.period) * noise_.period;  // 0: an interruption begins
  // What is done just when an interruption begins is done before it: the sum of its times must not be put behind it by its last digits.
  const double rounding = 0x1p-44 * (since + work);
  double now = time;
  if (within < noise_.duration) {
    now += noise_.duration - within;
    within = noise_.duration;
  }
  const double left = noise_.period - within;  // until the next one
  if (work <= left + rounding) return now + work;
  work -= left;
  const double free = noise_.period - noise_.duration;
  const double whole = std::max(0.0, std::ceil((work - rounding) / free) - 1);  // interruptions after the next one
  return now + left + (whole + 1) * noise_.duration + work;
}

}  // namespace fl::network
