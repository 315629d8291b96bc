// The other half of noise.hpp: whether a step is what it reports, and what it shows. Never in the timed loop.
#pragma once

#include "noise.hpp"

namespace noise {

// --- the check ----------------------------------------------------------------------------------------------------------------

// "" or what is wrong.
inline std::string wrong_times(const State& s, const Party& p) {
  const fl::Index count = s.traits.waiting ? 2 * s.quanta + 1 : s.quanta + 1;
  if (p.stamps[0] < s.begun) return "the first time precedes the start of the step";
  for (fl::Index k = 1; k < count; ++k) {
    const bool waited = s.traits.waiting && k % 2 == 0;  // which may last less than the clock can resolve
    if (p.stamps[k] < p.stamps[k - 1] || (p.stamps[k] == p.stamps[k - 1] && !waited))
      return fl::text("time %lld of %lld is not later than the previous time", k, count);
  }
  return p.stamps[count - 1] <= now() ? "" : "the last time is in the future";
}

inline std::string wrong_results(const State& s, const Party& p, fl::Index party, fl::Index last) {
  if (s.traits.waiting) return "";
  for (fl::Index q = 0; q < s.quanta; ++q)
    if (p.results[q] != jump(seed(last, q, number(s, party)), s.work))
      return fl::text("quantum %lld of processor %lld did not do its work", q, party);
  return "";
}

// No process can have a sum before the last one has sent its part, nor begin the next quantum without it: the processes did wait.
inline std::string wrong_sums(const State& s, const Party& p, fl::Index last) {
  if (!s.traits.waiting) return "";
  std::uint64_t before = 0;
  for (fl::Index q = 0; q < s.quanta; ++q) {
    std::uint64_t sum = 0;
    for (fl::Index r = 0; r < s.team.ranks; ++r) {
      const std::uint64_t result = jump(seed_after(last, q, r, before), s.work);
      if (r == s.team.rank && p.results[q] != result) return fl::text("quantum %lld did not do its work", q);
      sum += result;
    }
    if (p.sums[q] != sum) return fl::text("after quantum %lld the processes did not wait for each other", q);
    before = sum;
  }
  return "";
}

// The least time of reading the clock on this machine.
inline double least_look() {
  constexpr int looks = 64;
  double least = 1e9;
  for (int round = 0; round < 64; ++round) {
    const Nanoseconds begin = now();
    Nanoseconds end = begin;
    for (int k = 0; k < looks; ++k) end = now();
    least = std::min(least, static_cast<double>(end - begin) / looks);
  }
  return least;
}

inline std::string wrong_account(const State& s, const Party& p) {
  if (p.looks != s.looks) return fl::text("%lld looks at the clock instead of %lld", p.looks, s.looks);
  if (p.begin < s.begun || p.end <= p.begin || p.end > now()) return "the looks at the clock are not from this step";
  if (p.kept < 0 || p.kept > most_detours || p.others < 0) return "no detour was counted";
  Nanoseconds sum = p.undisturbed + p.others_length, longest = p.others > 0 ? p.longest : 0, before = p.begin;
  for (fl::Index k = 0; k < p.kept; ++k) {
    const Detour& d = p.detours[k];
    if (d.begin < before || d.length <= s.threshold || d.begin + d.length > p.end) return fl::text("detour %lld is out of order", k);
    before = d.begin + d.length;
    sum += d.length;
    longest = std::max(longest, d.length);
  }
  if (longest != p.longest) return "the longest detour is not among the detours";
  if (sum != p.end - p.begin)
    return fl::text("%lld ns elapsed, but detours and the time between detours add up to %lld ns", p.end - p.begin, sum);
  const fl::Index detours = p.kept + p.others;
  if (detours > s.looks / 10)
    return fl::text("%lld of %lld looks are detours: the clock of this machine is too slow for threshold=%lld", detours, s.looks,
                    s.threshold);
  // The clock may have been slower a moment ago than it is now, but not several times faster.
  if (const double mean = static_cast<double>(p.undisturbed) / static_cast<double>(s.looks - detours), least = least_look();
      4 * mean < least)
    return fl::text("a look lasted %.3g ns, but the minimum on this machine is %.3g ns: some looks are missing", mean, least);
  return "";
}

inline fl::Check check(State& s, fl::Index last) {
  std::string wrong;
  for (std::size_t k = 0; k < s.parties.size() && wrong.empty(); ++k) {
    const Party& p = s.parties[k];
    if (s.traits.looking) {
      wrong = wrong_account(s, p);
    } else {
      wrong = wrong_results(s, p, static_cast<fl::Index>(k), last);
      if (wrong.empty()) wrong = wrong_times(s, p);
      if (wrong.empty()) wrong = wrong_sums(s, p, last);
    }
    if (!wrong.empty() && s.parties.size() > 1) wrong = fl::text("thread %d: ", static_cast<int>(k)) + wrong;
  }
  if (!wrong.empty()) return fl::Check::of(1, 0, wrong);
  return fl::Check::of(0, 0,
                       s.traits.looking ? "detours and the time between detours add up to the elapsed time" : "every quantum did its work");
}

// --- what it shows ------------------------------------------------------------------------------------------------------------

inline double microseconds(Nanoseconds t) { return static_cast<double>(t) / 1000; }

// The worst of the processors of this rank, as the largest over the ranks is the worst of all.
inline void observe_quanta(const State& s, fl::Observations& seen) {
  double noise = 0, together = 0, worst = 0;
  std::vector<double> all, cycles;
  for (const Party& p : s.parties) {
    const fl::Index stride = s.traits.waiting ? 2 : 1;
    double sum = 0, least = 0, most = 0;
    for (fl::Index q = 0; q < s.quanta; ++q) {
      const double took = microseconds(p.stamps[stride * q + 1] - p.stamps[stride * q]);
      least = q == 0 ? took : std::min(least, took);
      most = std::max(most, took);
      sum += took;
      all.push_back(took);
      if (s.traits.waiting) cycles.push_back(microseconds(p.stamps[2 * q + 2] - p.stamps[2 * q]));
    }
    const double count = static_cast<double>(s.quanta);
    noise = std::max(noise, sum / count / least - 1);
    worst = std::max(worst, most);
    if (s.traits.waiting) together = std::max(together, microseconds(p.stamps[2 * s.quanta] - p.stamps[0]) / count / least - 1);
  }
  seen.value("noise", noise);
  seen.value("worst", 1e-6 * worst);
  if (s.traits.waiting) seen.value("together", together);
  seen.series("quanta", "us", all.data(), static_cast<fl::Index>(all.size()));
  if (s.traits.waiting) seen.series("cycles", "us", cycles.data(), static_cast<fl::Index>(cycles.size()));
}

inline constexpr std::size_t drawn = 512;  // the longest detours of a step, kept for the drawing

inline void observe_looks(const State& s, fl::Observations& seen) {
  struct Point {
    double at, length, thread;
  };
  std::vector<Point> points;
  double stolen = 0, rate = 0, longest = 0, look = 0;
  for (std::size_t k = 0; k < s.parties.size(); ++k) {
    const Party& p = s.parties[k];
    const auto detours = static_cast<double>(p.kept + p.others);
    const double passed = static_cast<double>(p.end - p.begin);
    const double mean = static_cast<double>(p.undisturbed) / (static_cast<double>(p.looks) - detours);
    // A detour contains one look, which was not stolen.
    stolen = std::max(stolen, (passed - static_cast<double>(p.undisturbed) - detours * mean) / passed);
    rate = std::max(rate, 1e9 * detours / passed);
    longest = std::max(longest, 1e-9 * static_cast<double>(p.longest));
    look = std::max(look, 1e-9 * mean);
    for (fl::Index d = 0; d < p.kept; ++d)
      points.push_back({microseconds(p.detours[d].begin - s.begun), microseconds(p.detours[d].length), static_cast<double>(k)});
  }
  seen.value("stolen", stolen);
  seen.value("detours", rate);
  seen.value("longest", longest);
  seen.value("look", look);
  if (points.size() > drawn) {
    std::nth_element(points.begin(), points.begin() + drawn, points.end(),
                     [](const Point& a, const Point& b) { return a.length > b.length; });
    points.resize(drawn);
  }
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.at < b.at; });
  std::vector<double> at, length, thread;
  for (const Point& point : points) {
    at.push_back(point.at);
    length.push_back(point.length);
    thread.push_back(point.thread);
  }
  const auto count = static_cast<fl::Index>(points.size());
  seen.series("detour_at", "us", at.data(), count);
  seen.series("detour_length", "us", length.data(), count);
  seen.series("detour_thread", "", thread.data(), count);
}

inline void observe(State& s, fl::Observations& seen) {
  if (s.traits.looking)
    observe_looks(s, seen);
  else
    observe_quanta(s, seen);
}

}  // namespace noise
