// Programs whose every wait is one that all later items wait for anyway: lists of calls.
#include <algorithm>

#include "plan.hpp"

namespace fl::collectives {

namespace {

constexpr std::size_t most_items = 2048;  // the ancestors of all items are stored as bits

using Do = Step::Do;

class Bits {
 public:
  explicit Bits(std::size_t n) : words_((n + 63) / 64, 0) {}
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  bool has(std::size_t i) const { return (words_[i / 64] >> i % 64 & 1) != 0; }
  void join(const Bits& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }
  bool within(const Bits& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if ((words_[w] & ~other.words_[w]) != 0) return false;
    return true;
  }

 private:
  std::vector<std::uint64_t> words_;
};

bool message(const Item& item) { return item.act == Act::send || item.act == Act::receive; }

class Builder {
 public:
  Builder(const Plan& plan, std::int64_t small) : plan_(plan), small_(small), into_(plan.items.size()), waited_(plan.items.size()) {
    for (const Edge& e : plan.edges) into_[e.to].push_back(&e);
  }

  Chain build() {
    if (!follow()) return {};
    post();
    fuse();
    return {true, std::move(steps_), std::move(last_)};
  }

 private:
  bool follow() {
    const std::size_t n = plan_.items.size();
    std::vector<Bits> before(n, Bits(n));
    for (std::uint32_t i = 0; i < n; ++i) {
      for (const Edge* e : into_[i]) {
        before[i].join(before[e->from]);
        if (!e->started) before[i].set(e->from);
      }
      const Item& item = plan_.items[i];
      if (item.act == Act::receive && into_[i].empty()) continue;  // posted first of all
      for (const Edge* e : into_[i])
        if (!e->started && message(plan_.items[e->from]) && !waited_.has(e->from)) {
          waited_.set(e->from);
          steps_.push_back({Do::wait, e->from});
        }
      if (!waited_.within(before[i])) return false;
      static constexpr Do act[] = {Do::start, Do::post, Do::reduce, Do::copy};
      steps_.push_back({act[static_cast<std::size_t>(item.act)], i});
    }
    for (std::uint32_t i = 0; i < n; ++i)
      if (message(plan_.items[i]) && !waited_.has(i)) last_.push_back(i);
    return true;
  }

  // Receives that wait for nothing: before everything, small ones after the sends that can go before anything is waited for. What is
  // awaited first is posted last, next to its wait.
  void post() {
    std::vector<Step> large, little;
    for (std::uint32_t i = 0; i < plan_.items.size(); ++i)
      if (plan_.items[i].act == Act::receive && into_[i].empty())
        (plan_.items[i].elements > small_ ? large : little).push_back({Do::post, i});
    const auto wait = std::ranges::find(steps_, Do::wait, &Step::what);
    if (wait != steps_.end()) {
      const auto first = std::ranges::find(little, wait->item, &Step::item);
      if (first != little.end()) std::rotate(first, first + 1, little.end());
    }
    steps_.insert(wait, little.begin(), little.end());
    steps_.insert(steps_.begin(), large.begin(), large.end());
  }

  // What is started and awaited at once is one blocking call; so is what is started last, for all that follows are waits.
  void fuse() {
    std::vector<Step> fused;
    const auto blocking = [](Do what) { return what == Do::post ? Do::receive : Do::send; };
    const auto begins = [](const Step& s) { return s.what == Do::post || s.what == Do::start; };
    for (const Step& s : steps_) {
      if (s.what == Do::wait && !fused.empty() && fused.back().item == s.item && begins(fused.back()))
        fused.back().what = blocking(fused.back().what);
      else
        fused.push_back(s);
    }
    if (!fused.empty() && begins(fused.back())) {
      std::erase(last_, fused.back().item);
      fused.back().what = blocking(fused.back().what);
    }
    steps_ = std::move(fused);
  }

  const Plan& plan_;
  std::int64_t small_;
  std::vector<std::vector<const Edge*>> into_;
  Bits waited_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> last_;
};

}  // namespace

Chain chain(const Plan& plan, std::int64_t small) {
  if (plan.items.size() > most_items) return {};
  return Builder(plan, small).build();
}

}  // namespace fl::collectives
