#include <algorithm>
#include <functional>
#include <memory>
#include <queue>
#include <unordered_map>

#include "firstlight/network/goal.hpp"

namespace fl::network {

namespace {

using collectives::Dependency;
using collectives::Kind;
using collectives::Operation;
using collectives::Program;
using collectives::Rank;

constexpr std::int64_t most_ranks = 1 << 24, most_bytes = std::int64_t{1} << 53, most_tag = 0x7fffffff;

// Words, numbers, and single characters; an end of line is a token, comments are none.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) { next(); }
  std::string_view token() const { return token_; }  // "\n" at the end of a line, empty at the end of the text
  std::size_t line() const { return line_; }
  void next();
  bool take(std::string_view wanted) {
    if (token_ != wanted) return false;
    next();
    return true;
  }
  void expect(std::string_view wanted) {
    if (!take(wanted)) fail("'" + std::string(wanted) + "'");
  }
  std::int64_t number(const char* what, std::int64_t most);
  std::string_view name() {
    if (token_.empty() || !letter(token_[0])) fail("a label");
    const std::string_view name = token_;
    next();
    return name;
  }
  void lines() {
    while (take("\n")) continue;
  }
  void end_of_line() {
    if (token_ != "}" && !token_.empty()) expect("\n");
  }
  [[noreturn]] void fail(const std::string& wanted) const {
    const std::string found = token_.empty()   ? "the end"
                              : token_ == "\n" ? "the end of the line"
                                               : "'" + std::string(token_.substr(0, 40)) + "'";
    throw GoalError(line_, "expected " + wanted + ", found " + found);
  }

 private:
  static bool digit(char c) { return c >= '0' && c <= '9'; }
  static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  void comment();

  std::string_view text_, token_;
  std::size_t line_ = 1, at_ = 0;
  bool ended_ = false;  // the token is the end of its line
};

void Scanner::comment() {
  if (text_[at_ + 1] == '/') {
    at_ = std::min(text_.find('\n', at_), text_.size());
    return;
  }
  const std::size_t end = text_.find("*/", at_ + 2);
  if (end == std::string_view::npos) throw GoalError(line_, "this comment has no end");
  line_ += static_cast<std::size_t>(
      std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
  at_ = end + 2;
}

void Scanner::next() {
  if (ended_) ++line_;
  ended_ = false;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\r')
      ++at_;
    else if (c == '/' && at_ + 1 < text_.size() && (text_[at_ + 1] == '/' || text_[at_ + 1] == '*'))
      comment();
    else
      break;
  }
  const std::size_t begin = at_;
  if (at_ == text_.size()) {
    token_ = {};
    return;
  }
  const char c = text_[at_++];
  if (digit(c)) {
    while (at_ < text_.size() && digit(text_[at_])) ++at_;
  } else if (letter(c)) {
    while (at_ < text_.size() && (digit(text_[at_]) || letter(text_[at_]))) ++at_;
  }
  token_ = text_.substr(begin, at_ - begin);
  ended_ = c == '\n';
}

std::int64_t Scanner::number(const char* what, std::int64_t most) {
  if (token_.empty() || !digit(token_[0])) fail(what);
  std::int64_t value = 0;
  for (const char c : token_) {
    value = 10 * value + (c - '0');
    if (value > most) throw GoalError(line_, std::string(what) + " is above " + std::to_string(most));
  }
  next();
  return value;
}

struct Reader {
  explicit Reader(std::string_view text) : in(text) {}
  Scanner in;
  Rank ranks = 0;
  std::vector<Operation> operations;  // of the rank at hand
  std::vector<std::vector<Dependency>> after;
  std::unordered_map<std::string_view, std::int32_t> labels;

  std::vector<Program> read();
  void rank_body(Program& out);
  void statement();
  void operation();
  void sorted(Program& out, std::size_t line) const;
};

std::vector<Program> Reader::read() {
  in.lines();
  in.expect("num_ranks");
  ranks = static_cast<Rank>(in.number("a number of ranks", most_ranks));
  if (ranks == 0) throw GoalError(in.line(), "a program has 1 rank at least");
  std::vector<Program> programs(static_cast<std::size_t>(ranks));
  std::vector<bool> seen(programs.size());
  for (in.lines(); !in.token().empty(); in.lines()) {
    in.expect("rank");
    const std::size_t line = in.line();
    const auto r = static_cast<std::size_t>(in.number("a rank", most_ranks));
    if (r >= programs.size()) throw GoalError(line, "there is no rank " + std::to_string(r));
    if (seen[r]) throw GoalError(line, "rank " + std::to_string(r) + " has a program already");
    seen[r] = true;
    rank_body(programs[r]);
  }
  return programs;
}

void Reader::rank_body(Program& out) {
  operations.clear();
  after.clear();
  labels.clear();
  const std::size_t line = in.line();
  in.expect("{");
  for (in.lines(); in.token() != "}"; in.lines()) {
    if (in.token().empty()) throw GoalError(line, "this rank has no closing bracket");
    statement();
  }
  in.next();
  sorted(out, line);
}

void Reader::statement() {
  const std::string_view word = in.token();
  if (word == "send" || word == "recv" || word == "calc") return operation();
  const std::string_view label = in.name();
  if (in.take(":")) {
    if (!labels.emplace(label, static_cast<std::int32_t>(operations.size())).second)
      throw GoalError(in.line(), "the label " + std::string(label) + " is taken");
    return operation();
  }
  const bool started = in.token() == "irequires";
  if (!started && in.token() != "requires") in.fail("':', 'requires' or 'irequires'");
  in.next();
  const std::size_t line = in.line();
  const std::string_view other = in.name();
  for (const std::string_view l : {label, other})
    if (!labels.contains(l)) throw GoalError(line, "there is no label " + std::string(l) + " before");
  after[static_cast<std::size_t>(labels[label])].push_back({labels[other], started});
  in.end_of_line();
}

void Reader::operation() {
  Operation o;
  const std::string_view word = in.token();
  if (word != "send" && word != "recv" && word != "calc") in.fail("'send', 'recv' or 'calc'");
  in.next();
  o.kind = word == "send" ? Kind::send : word == "recv" ? Kind::receive : Kind::compute;
  o.range = {.count = in.number(word == "calc" ? "a time" : "a number of bytes", most_bytes)};
  if (word != "calc") {
    in.expect("b");
    in.expect(word == "send" ? "to" : "from");
    const std::size_t line = in.line();
    const std::int64_t peer = in.number("a rank (not any)", most_ranks);
    if (peer >= ranks) throw GoalError(line, "there is no rank " + std::to_string(peer));
    o.peer = static_cast<Rank>(peer);
    if (in.take("tag")) o.tag = static_cast<std::int32_t>(in.number("a tag (not any)", most_tag));
  }
  if (in.take("cpu")) o.cpu = static_cast<std::uint8_t>(in.number("a processor", 255));
  if (word != "calc" && in.take("nic")) o.nic = static_cast<std::uint8_t>(in.number("an interface", 255));
  in.end_of_line();
  operations.push_back(o);
  after.emplace_back();
}

// What is required comes first; apart from that the order of the text stays.
void Reader::sorted(Program& out, std::size_t line) const {
  const std::size_t count = operations.size();
  std::vector<std::vector<std::size_t>> frees(count);
  std::vector<std::size_t> missing(count, 0);
  std::vector<std::int32_t> place(count, 0);
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i) {
    missing[i] = after[i].size();
    for (const Dependency& d : after[i]) frees[static_cast<std::size_t>(d.on)].push_back(i);
    if (missing[i] == 0) ready.push(i);
  }
  std::int32_t done = 0;
  for (std::vector<Dependency> waits; !ready.empty(); ++done) {
    const std::size_t i = ready.top();
    ready.pop();
    place[i] = done;
    waits.clear();
    for (const Dependency& d : after[i]) waits.push_back({place[static_cast<std::size_t>(d.on)], d.started});
    out.add(operations[i], waits);
    for (const std::size_t f : frees[i])
      if (--missing[f] == 0) ready.push(f);
  }
  if (static_cast<std::size_t>(done) != count) throw GoalError(line, "operations of this rank require one another in a circle");
}

}  // namespace

collectives::Schedule read_goal(std::string_view text) {
  Reader reader(text);
  const auto programs = std::make_shared<const std::vector<Program>>(reader.read());
  collectives::Schedule schedule;
  schedule.name = "goal";
  schedule.ranks = reader.ranks;
  schedule.chunk_bytes = 1;
  schedule.program = [programs](Rank me, Program& out) {
    const Program& stored = (*programs)[static_cast<std::size_t>(me)];
    for (const Operation& o : stored.operations()) out.add(o, stored.after(o));
  };
  return schedule;
}

}  // namespace fl::network
