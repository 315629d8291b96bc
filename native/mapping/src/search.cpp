#include "firstlight/mapping/search.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

namespace fl::mapping {

namespace {

double clock_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Tasks in their order, each by the thread that is free first. What a task finds depends on the task alone.
void in_parallel(std::size_t tasks, int threads, const std::function<void(std::size_t task, std::size_t thread)>& run) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex lock;
  const auto work = [&](std::size_t thread) {
    for (std::size_t task = next++; task < tasks; task = next++) {
      try {
        run(task, thread);
      } catch (...) {
        const std::scoped_lock hold(lock);
        if (!failure) failure = std::current_exception();
        return;
      }
    }
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < std::min(static_cast<std::size_t>(threads), tasks); ++t) others.emplace_back(work, t);
  work(0);
  for (std::thread& t : others) t.join();
  if (failure) std::rethrow_exception(failure);
}

class Search {
 public:
  Search(const Pattern& pattern, const Places& places, const Effort& effort, const std::atomic<bool>& wanted, const Report& report)
      : pattern_(pattern), places_(places), effort_(effort), stop_(wanted, effort.seconds), report_(report) {
    const double each = Loads::memory(pattern, places);
    if (each > effort.memory)
      throw Wrong("the loads of " + std::to_string(pattern.phases()) + " phases on " + std::to_string(places.links()) +
                  " links exceed the allowed memory; sum the phases (omit --phases)");
    const int most = static_cast<int>(std::min(64.0, effort.memory / each));
    loads_.resize(static_cast<std::size_t>(std::clamp(effort.threads, 1, most)));
  }

  Searched run() {
    found_.before.map = identity(pattern_, places_);
    Loads& first = loads(0);
    first.place(found_.before.map);
    found_.before.cost = first.cost();
    found_.best = found_.least = found_.before;
    report_best(found_.before, true);
    if (optimal(first)) {
      found_.proved = true;
      return found_;
    }
    starts();
    anneal();
    return found_;
  }

 private:
  Loads& loads(std::size_t thread) {
    auto& mine = loads_[thread];
    if (!mine) mine = std::make_unique<Loads>(pattern_, places_);
    return *mine;
  }
  bool optimal(Loads& loads) {
    for (std::size_t p = 0; p < pattern_.phases(); ++p)
      if (loads.most(p) > places_.bound(pattern_, p)) return false;
    return true;
  }
  void report_best(const Found& found, bool at_once) {
    const std::scoped_lock hold(lock_);
    const double height = score(found.cost, places_), now = stop_.seconds();
    if (height >= shown_ || (!at_once && now < reported_at_ + report_interval)) return;
    shown_ = height;
    reported_at_ = now;
    report_(found, now);
  }
  void starts() {
    const std::vector<Line> some = lines(pattern_, places_);
    const std::size_t halvings = 2, climbs = 2 * some.size(), sums = some.size();
    std::vector<Found> each(climbs + halvings + 2 * sums);
    std::vector<char> cut(each.size(), 0);
    const Stop stop = stop_.part(0.6);
    in_parallel(each.size(), static_cast<int>(loads_.size()), [&](std::size_t turn, std::size_t thread) {
      const std::size_t task = each.size() - 1 - turn;  // the slowest, which most often finds the best, comes first
      bool ended = false;
      if (task < climbs) {
        const Line& line = some[task % some.size()];
        each[task] = structured(pattern_, places_, line, loads(thread), effort_.seed + task, stop, ended);
      } else if (task >= climbs + halvings) {
        const std::size_t which = task - climbs - halvings;
        const Line& line = some[which % sums];
        each[task] = which < sums ? linear(pattern_, places_, line, loads(thread), effort_.seed + task, stop, ended)

                                  : blocks(pattern_, places_, line, loads(thread), effort_.seed + task, stop, ended);
      } else {
        each[task].map = bisected(pattern_, places_, effort_.seed + task, stop, ended);
        each[task].by = "bisection";
      }
      cut[task] = ended;
      if (each[task].map.empty()) return;
      loads(thread).place(each[task].map);
      each[task].cost = loads(thread).cost();
      report_best(each[task], true);
    });
    std::erase_if(each, [](const Found& f) { return f.map.empty(); });
    for (const char c : cut) found_.in_time = found_.in_time && !c;
    each.insert(each.begin(), found_.before);
    std::stable_sort(each.begin(), each.end(),
                     [this](const Found& a, const Found& b) { return score(a.cost, places_) < score(b.cost, places_); });
    ranked_ = std::move(each);
    found_.starts = static_cast<int>(ranked_.size());
    for (const Found& f : ranked_) keep(f);
  }
  void anneal() {
    const std::int64_t own = std::clamp<std::int64_t>(std::int64_t{2000} * pattern_.ranks(), 20'000, 4'000'000);
    const std::int64_t moves = effort_.moves > 0 ? effort_.moves : own;
    constexpr double heats[] = {0.5, 0.2, 0.5, 1};
    std::vector<Found> each(static_cast<std::size_t>(std::max(effort_.starts, 0)));
    std::vector<char> cut(each.size(), 0);
    in_parallel(each.size(), static_cast<int>(loads_.size()), [&](std::size_t task, std::size_t thread) {
      const Found& from = ranked_[task % 2 == 0 ? 0 : std::min(task / 2 + 1, ranked_.size() - 1)];
      // the share of one start in the time that is left, for those that come after it on this thread
      const std::size_t rounds = (each.size() - task + loads_.size() - 1) / loads_.size();
      const Stop stop = stop_.part(1.0 / static_cast<double>(rounds));
      bool ended = false;
      each[task] = annealed(
          pattern_, places_, from, loads(thread), heats[task % std::size(heats)], moves, effort_.seed + 1000 * (task + 1), stop,
          [this](const Found& best) { report_best(best, false); }, ended);
      report_best(each[task], true);
      cut[task] = ended;
    });
    for (const char c : cut) found_.in_time = found_.in_time && !c;
    for (const Found& f : each) keep(f);
  }
  void keep(const Found& found) {
    const auto peaks = [](const Found& f) { return std::pair(f.cost.maxima, f.cost.hop_bytes); };
    if (score(found.cost, places_) < score(found_.best.cost, places_)) found_.best = found;
    if (peaks(found) < peaks(found_.least)) found_.least = found;
  }

  const Pattern& pattern_;
  const Places& places_;
  const Effort& effort_;
  Stop stop_;
  const Report& report_;
  std::vector<std::unique_ptr<Loads>> loads_;  // of each thread
  std::vector<Found> ranked_;
  Searched found_;
  std::mutex lock_;
  double shown_ = std::numeric_limits<double>::infinity(), reported_at_ = 0;  // the score that was reported last, and when
};

}  // namespace

Stop::Stop(const std::atomic<bool>& wanted, double seconds) : wanted_(&wanted), begin_(clock_seconds()), limit_(begin_ + seconds) {}
bool Stop::operator()() const { return *wanted_ || clock_seconds() >= limit_; }
double Stop::seconds() const { return clock_seconds() - begin_; }
double Stop::left() const { return std::max(0.0, limit_ - clock_seconds()); }
Stop Stop::part(double share) const {
  Stop other = *this;
  const double now = clock_seconds();
  other.limit_ = now + share * std::max(0.0, limit_ - now);
  return other;
}

double score(const Cost& cost, const Places& places) {
  return static_cast<double>(cost.maxima) + static_cast<double>(cost.hop_bytes) / static_cast<double>(std::max<Link>(places.existing(), 1));
}

Searched search(const Pattern& pattern, const Places& places, const Effort& effort, const std::atomic<bool>& stop, const Report& report) {
  if (places.links() > places.network().links())  // bytes inside of nodes are rounded phase by phase
    return Search(pattern, places, effort, stop, report).run();
  const Pattern fewer = folded(pattern);
  return Search(fewer, places, effort, stop, report).run();
}

}  // namespace fl::mapping
