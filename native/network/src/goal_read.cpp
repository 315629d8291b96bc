#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <queue>
#include <unordered_map>

#include "firstlight/network/goal.hpp"

namespace fl::network {

namespace {

using collectives::Kind;

constexpr std::int64_t few_ranks = 1 << 16;  // may all be without a program
constexpr std::int64_t most_ranks = 1 << 24, most_bytes = std::int64_t{1} << 53, most_tag = 0x7fffffff;
constexpr std::size_t most_needs = 4 * Plan::most_steps;

constexpr bool digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr std::array<bool, 256> in_word = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c < 256; ++c) table[static_cast<std::size_t>(c)] = digit(static_cast<char>(c)) || letter(static_cast<char>(c));
  return table;
}();

// A place in a text that ends with a zero. Words, numbers, and single characters are taken as they come; nothing is copied. Every
// function that takes something first passes over blanks and comments, which may be between any two of them.
class Scanner {
 public:
  Scanner(const char* begin, const char* end) : at_(begin), end_(end) {}
  std::size_t line() const { return line_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  // The character that comes next; zero at the end of the text.
  char next() {
    while (*at_ == ' ' || *at_ == '\t' || *at_ == '\r') ++at_;
    return *at_ == '/' ? after_comments() : *at_;
  }
  bool ended() { return next() == '\0' && at_ == end_; }
  bool take(char wanted) {
    if (next() != wanted || at_ == end_) return false;
    ++at_;
    return true;
  }
  // Empty, and nothing is taken, unless a letter comes next.
  std::string_view word() {
    if (!letter(next())) return {};
    const char* const begin = at_;
    while (in_word[static_cast<unsigned char>(*at_)]) ++at_;
    return {begin, at_};
  }
  // A whole word. Characters are compared one by one, for the text may end at any of them.
  template <std::size_t N>
  bool take(const char (&wanted)[N]) {
    next();
    for (std::size_t i = 0; i + 1 < N; ++i)
      if (at_[i] != wanted[i]) return false;
    if (in_word[static_cast<unsigned char>(at_[N - 1])]) return false;
    at_ += N - 1;
    return true;
  }
  template <std::size_t N>
  void expect(const char (&wanted)[N]) {
    if (!take(wanted)) fail("'" + std::string(wanted) + "'");
  }
  void expect(char wanted) {
    if (!take(wanted)) fail("'" + std::string(1, wanted) + "'");
  }
  std::int64_t number(const char* what, std::int64_t most) {
    if (!digit(next())) fail(what);
    std::int64_t value = 0;
    for (; digit(*at_); ++at_) {
      value = 10 * value + (*at_ - '0');
      if (value > most) throw GoalError(line_, std::string(what) + " is above " + std::to_string(most));
    }
    return value;
  }
  void lines() {
    while (take('\n')) ++line_;
  }
  void end_of_line() {
    const char c = next();
    if (c == '\n') [[likely]] {
      ++at_, ++line_;
      return;
    }
    if (c != '}' && !ended()) fail("the end of the line");
  }
  [[noreturn]] void fail(const std::string& wanted) const { fail(wanted, at_); }
  // The same, of a word that has been taken; where none was, of what comes next.
  [[noreturn]] void fail(const std::string& wanted, std::string_view taken) const { fail(wanted, taken.empty() ? at_ : taken.data()); }

 private:
  [[noreturn]] void fail(const std::string& wanted, const char* at) const {
    const char* to = at;
    const auto same = [at](char c) { return digit(*at) ? digit(c) : letter(*at) && in_word[static_cast<unsigned char>(c)]; };
    while (to < end_ && to < at + 40 && same(*to)) ++to;
    const bool shown = at < end_ && *at > ' ' && *at < 0x7f;
    const std::string found = at == end_    ? "the end"
                              : *at == '\n' ? "the end of the line"
                              : shown       ? "'" + std::string(at, std::max(to, at + 1)) + "'"
                                            : "a byte that GOAL does not allow (" + std::to_string(static_cast<unsigned char>(*at)) + ")";
    throw GoalError(line_, "expected " + wanted + ", found " + found);
  }
  char after_comments();

  const char* at_;
  const char* end_;
  std::size_t line_ = 1;
};

char Scanner::after_comments() {
  while (*at_ == '/' && (at_[1] == '/' || at_[1] == '*')) {
    const std::string_view rest(at_, end_);
    if (at_[1] == '/') {
      at_ += std::min(rest.find('\n'), rest.size());
    } else {
      const std::size_t length = rest.find("*/", 2);
      if (length == std::string_view::npos) throw GoalError(line_, "this comment has no end");
      line_ += static_cast<std::size_t>(std::count(at_, at_ + length, '\n'));
      at_ += length + 2;
    }
    while (*at_ == ' ' || *at_ == '\t' || *at_ == '\r') ++at_;
  }
  return *at_;
}

// The labels of one rank. Those that are numbered as they come (l1, l2, ...) are found without hashing.
class Labels {
 public:
  void clear() {
    ++rank_;
    others_.clear();
  }
  // False where the label is taken.
  bool add(std::string_view label, Index operation) {
    const std::size_t number = numbered(label);
    if (find(label, number) != nullptr) return false;
    if (number > 2 * std::size_t{operation} + 64) return others_.emplace(label, operation).second;
    if (number >= places_.size()) places_.resize(2 * number + 64);
    places_[number] = {rank_, operation};
    return true;
  }
  const Index* find(std::string_view label) const { return find(label, numbered(label)); }

 private:
  const Index* find(std::string_view label, std::size_t number) const {
    if (number < places_.size() && places_[number].rank == rank_) return &places_[number].operation;
    if (others_.empty()) return nullptr;
    const auto found = others_.find(label);
    return found == others_.end() ? nullptr : &found->second;
  }
  struct Place {
    std::uint32_t rank = 0;
    Index operation = 0;
  };
  static constexpr std::size_t none = ~std::size_t{0};
  // 12 for l12.
  static std::size_t numbered(std::string_view label) {
    if (label[0] != 'l' || label.size() < 2 || label.size() > 9 || label[1] == '0') return none;
    std::size_t number = 0;
    for (const char c : label.substr(1)) {
      if (!digit(c)) return none;
      number = 10 * number + static_cast<std::size_t>(c - '0');
    }
    return number;
  }
  std::vector<Place> places_;
  std::unordered_map<std::string_view, Index> others_;
  std::uint32_t rank_ = 0;
};

class Reader {
 public:
  Reader(const char* begin, const char* end) : in_(begin, end) {
    const auto size = static_cast<std::size_t>(end - begin);
    // A quarter of what a text may hold ("calc 1\n"), about what those hold that are written by programs.
    const std::size_t likely = std::min(size / 28, Plan::most_steps);
    goal_.steps.reserve(likely);
    goal_.tags.reserve(likely);
  }
  Listing read();

 private:
  struct Need {
    Index operation = 0, on = 0;  // counted from the first of their rank
    bool started = false;
  };
  struct Block {
    Index first = 0, end = 0;
    bool seen = false;
  };

  void rank_body(std::int32_t rank);
  void statement();
  void operation(std::string_view word);
  void need(std::string_view label);
  void close(std::size_t line);
  void reorder(std::size_t line);
  void arrange();
  Index here() const { return static_cast<Index>(goal_.steps.size()) - first_; }

  Scanner in_;
  Listing goal_;
  std::vector<Block> blocks_;
  bool ascending_ = true;
  Labels labels_;
  // The members below belong to the current rank.
  std::int32_t rank_ = 0;
  Index first_ = 0;
  std::vector<Need> needs_;
  bool in_order_ = true, backwards_ = true;  // needs ascend by operation; they are of what came before
};

Listing Reader::read() {
  in_.lines();
  in_.expect("num_ranks");
  const std::int64_t ranks = in_.number("a number of ranks", most_ranks);
  if (ranks == 0) throw GoalError(in_.line(), "a program must have at least 1 rank");
  if (ranks > few_ranks && static_cast<std::size_t>(ranks) > in_.left())  // a line of text must not fill the memory
    throw GoalError(in_.line(), std::to_string(ranks) + " ranks are more than a text of this length can describe");
  blocks_.resize(static_cast<std::size_t>(ranks));
  std::int64_t before = -1;
  for (in_.lines(); !in_.ended(); in_.lines()) {
    in_.expect("rank");
    const std::int64_t r = in_.number("a rank", most_ranks);
    if (r >= ranks) throw GoalError(in_.line(), "there is no rank " + std::to_string(r));
    if (blocks_[static_cast<std::size_t>(r)].seen) throw GoalError(in_.line(), "rank " + std::to_string(r) + " already has a program");
    ascending_ = ascending_ && r > before;
    before = r;
    rank_body(static_cast<std::int32_t>(r));
  }
  arrange();
  return std::move(goal_);
}

void Reader::rank_body(std::int32_t rank) {
  rank_ = rank;
  first_ = static_cast<Index>(goal_.steps.size());
  needs_.clear();
  labels_.clear();
  in_order_ = backwards_ = true;
  in_.lines();
  const std::size_t line = in_.line();
  in_.expect('{');
  for (in_.lines(); !in_.take('}'); in_.lines()) {
    if (in_.ended()) throw GoalError(line, "this rank has no closing bracket");
    statement();
  }
  close(line);
  blocks_[static_cast<std::size_t>(rank)] = {first_, static_cast<Index>(goal_.steps.size()), true};
}

// Words of four letters are compared as numbers.
constexpr std::uint32_t four(const char (&word)[5]) {
  return std::bit_cast<std::uint32_t>(std::array<char, 4>{word[0], word[1], word[2], word[3]});
}
std::uint32_t four(std::string_view word) {
  std::uint32_t letters = 0;
  if (word.size() == 4) std::memcpy(&letters, word.data(), 4);
  return letters;
}
bool operates(std::string_view word) {
  const std::uint32_t letters = four(word);
  return letters == four("send") || letters == four("recv") || letters == four("calc");
}

void Reader::statement() {
  const std::string_view word = in_.word();
  if (word.empty()) in_.fail("a label");
  if (operates(word)) return operation(word);
  if (!in_.take(':')) return need(word);
  if (!labels_.add(word, here())) throw GoalError(in_.line(), "the label " + std::string(word) + " is taken");
  const std::string_view what = in_.word();
  if (!operates(what)) in_.fail("'send', 'recv' or 'calc'", what);
  operation(what);
}

void Reader::need(std::string_view label) {
  const bool started = in_.take("irequires");
  if (!started && !in_.take("requires")) in_.fail("':', 'requires' or 'irequires'");
  const std::string_view other = in_.word();
  if (other.empty()) in_.fail("a label");
  const Index *me = labels_.find(label), *on = labels_.find(other);
  if (me == nullptr || on == nullptr)
    throw GoalError(in_.line(), "there is no label " + std::string(me == nullptr ? label : other) + " before");
  in_order_ = in_order_ && (needs_.empty() || needs_.back().operation <= *me);
  backwards_ = backwards_ && *on < *me;
  needs_.push_back({*me, *on, started});
  if (goal_.waits.size() + needs_.size() > most_needs)
    throw GoalError(in_.line(), "more than " + std::to_string(most_needs) + " requirements");
  in_.end_of_line();
}

void Reader::operation(std::string_view word) {
  const std::uint32_t letters = four(word);
  const bool local = letters == four("calc"), sends = letters == four("send");
  Step s{.kind = local ? Kind::compute : sends ? Kind::send : Kind::receive, .rank = rank_};
  std::int32_t tag = 0;
  s.bytes = static_cast<double>(in_.number(local ? "a time" : "a number of bytes", most_bytes));
  if (!local) {
    in_.expect("b");
    sends ? in_.expect("to") : in_.expect("from");
    const std::int64_t peer = in_.number("a rank (not any)", most_ranks);
    if (peer >= static_cast<std::int64_t>(blocks_.size())) throw GoalError(in_.line(), "there is no rank " + std::to_string(peer));
    s.peer = static_cast<std::int32_t>(peer);
  }
  if (letter(in_.next())) {
    if (!local && in_.take("tag")) tag = static_cast<std::int32_t>(in_.number("a tag (not any)", most_tag));
    if (in_.take("cpu")) s.cpu = static_cast<std::uint8_t>(in_.number("a processor", 255));
    if (!local && in_.take("nic")) s.nic = static_cast<std::uint8_t>(in_.number("an interface", 255));
  }
  const std::size_t line = in_.line();
  in_.end_of_line();
  if (goal_.steps.size() == Plan::most_steps) throw GoalError(line, "more than " + std::to_string(Plan::most_steps) + " operations");
  goal_.steps.push_back(s);
  goal_.tags.push_back(tag);
}

// The dependences of a rank's operations are stored separately.
void Reader::close(std::size_t line) {
  if (!in_order_) std::ranges::stable_sort(needs_, {}, &Need::operation);
  if (!backwards_) reorder(line);
  std::size_t k = 0;
  const Index count = here();
  for (Index i = 0; i < count; ++i) {
    Step& s = goal_.steps[first_ + i];
    s.waits = static_cast<Index>(goal_.waits.size());
    for (; k < needs_.size() && needs_[k].operation == i; ++k) goal_.waits.push_back({first_ + needs_[k].on, needs_[k].started});
    s.waits_end = static_cast<Index>(goal_.waits.size());
  }
}

// What is required comes first; apart from that the order of the text stays.
void Reader::reorder(std::size_t line) {
  const Index count = here();
  std::vector<std::vector<Index>> frees(count);
  std::vector<Index> missing(count, 0), place(count, 0);
  for (const Need& n : needs_) {
    frees[n.on].push_back(n.operation);
    ++missing[n.operation];
  }
  std::priority_queue<Index, std::vector<Index>, std::greater<>> ready;
  for (Index i = 0; i < count; ++i)
    if (missing[i] == 0) ready.push(i);
  std::vector<Step> steps;
  std::vector<std::int32_t> tags;
  while (!ready.empty()) {
    const Index i = ready.top();
    ready.pop();
    place[i] = static_cast<Index>(steps.size());
    steps.push_back(goal_.steps[first_ + i]);
    tags.push_back(goal_.tags[first_ + i]);
    for (const Index f : frees[i])
      if (--missing[f] == 0) ready.push(f);
  }
  if (steps.size() != count) throw GoalError(line, "operations of this rank depend on each other in a cycle");
  std::ranges::copy(steps, goal_.steps.begin() + first_);
  std::ranges::copy(tags, goal_.tags.begin() + first_);
  for (Need& n : needs_) n = {place[n.operation], place[n.on], n.started};
  std::ranges::stable_sort(needs_, {}, &Need::operation);
}

// The ranks in their order, whatever that of the text.
void Reader::arrange() {
  goal_.first.reserve(blocks_.size() + 1);
  Index next = 0;
  for (const Block& b : blocks_) {
    goal_.first.push_back(next);
    next += b.end - b.first;
  }
  goal_.first.push_back(next);
  if (ascending_) return;
  Listing all;
  all.first = std::move(goal_.first);
  all.steps.reserve(goal_.steps.size());
  all.tags.reserve(goal_.tags.size());
  all.waits.reserve(goal_.waits.size());
  for (const Block& b : blocks_) {
    const Index to = static_cast<Index>(all.steps.size());
    for (Index i = b.first; i < b.end; ++i) {
      Step s = goal_.steps[i];
      const std::span waits(goal_.waits.begin() + s.waits, goal_.waits.begin() + s.waits_end);
      s.waits = static_cast<Index>(all.waits.size());
      for (const Wait& w : waits) all.waits.push_back({w.on - b.first + to, w.started});
      s.waits_end = static_cast<Index>(all.waits.size());
      all.steps.push_back(s);
      all.tags.push_back(goal_.tags[i]);
    }
  }
  goal_ = std::move(all);
}

}  // namespace

Listing read_goal(const std::string& text) { return Reader(text.data(), text.data() + text.size()).read(); }

}  // namespace fl::network
