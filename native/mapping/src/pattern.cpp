#include "firstlight/mapping/pattern.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace fl::mapping {

namespace {

constexpr Rank most_ranks = 1 << 24;
constexpr std::size_t most_phases = 4096;

bool before(const Message& a, const Message& b) { return std::tie(a.phase, a.from, a.to) < std::tie(b.phase, b.from, b.to); }
bool alike(const Message& a, const Message& b) { return !before(a, b) && !before(b, a); }

}  // namespace

Pattern::Pattern(Rank ranks, std::vector<std::string> phases, std::vector<Message> messages)
    : names_(std::move(phases)), messages_(std::move(messages)) {
  if (ranks < 1 || ranks > most_ranks) throw Wrong("a pattern has 1 to " + std::to_string(most_ranks) + " ranks");
  if (names_.size() > most_phases) throw Wrong("a pattern has at most " + std::to_string(most_phases) + " phases");
  for (const Message& m : messages_) {
    if (std::min(m.from, m.to) < 0 || std::max(m.from, m.to) >= ranks)
      throw Wrong("a message from rank " + std::to_string(m.from) + " to " + std::to_string(m.to) + ", of " + std::to_string(ranks));
    if (m.bytes < 0 || m.bytes > most_bytes - bytes_) throw Wrong("messages have a negative size, or too many bytes in total");
    bytes_ += m.bytes;
  }
  std::erase_if(messages_, [](const Message& m) { return m.from == m.to || m.bytes == 0; });
  std::sort(messages_.begin(), messages_.end(), before);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    if (kept > 0 && alike(messages_[kept - 1], messages_[i]))
      messages_[kept - 1].bytes += messages_[i].bytes;
    else
      messages_[kept++] = messages_[i];
  }
  messages_.resize(kept);
  messages_.shrink_to_fit();
  bytes_ = 0;
  begins_.resize(names_.size() + 1, 0);
  first_.resize(static_cast<std::size_t>(ranks) + 1, 0);
  for (const Message& m : messages_) {
    bytes_ += m.bytes;
    ++begins_[static_cast<std::size_t>(m.phase) + 1];
    ++first_[static_cast<std::size_t>(m.from) + 1];
    ++first_[static_cast<std::size_t>(m.to) + 1];
  }
  for (std::size_t p = 1; p < begins_.size(); ++p) begins_[p] += begins_[p - 1];
  for (std::size_t r = 1; r < first_.size(); ++r) first_[r] += first_[r - 1];
  touched_.resize(2 * messages_.size());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (Index i = 0; i < messages_.size(); ++i)
    for (const Rank r : {messages_[i].from, messages_[i].to}) touched_[next[static_cast<std::size_t>(r)]++] = i;
}

namespace {

bool multiple(std::span<const Message> a, std::span<const Message> b) {
  const auto product = [](Bytes x, Bytes y) { return static_cast<__int128>(x) * y; };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](const Message& x, const Message& y) {
           return x.from == y.from && x.to == y.to && product(x.bytes, b[0].bytes) == product(y.bytes, a[0].bytes);
         });
}

}  // namespace

Pattern folded(const Pattern& pattern) {
  std::vector<std::string> names;
  std::vector<std::size_t> firsts;  // the phase that each folded one began with
  std::vector<Message> messages;
  for (std::size_t p = 0; p < pattern.phases(); ++p) {
    const auto here = pattern.messages(p);
    std::size_t into = 0;
    while (into < firsts.size() && !multiple(pattern.messages(firsts[into]), here)) ++into;
    if (into == firsts.size()) {
      firsts.push_back(p);
      names.push_back(pattern.name(p));
    }
    for (Message m : here) {
      m.phase = static_cast<std::int32_t>(into);
      messages.push_back(m);
    }
  }
  return {pattern.ranks(), std::move(names), std::move(messages)};
}

Pattern read_pattern(std::string_view text) {
  Rank ranks = 0;
  std::vector<std::string> phases;
  std::vector<Message> messages;
  std::size_t number = 0;
  const auto wrong = [&number](const std::string& what) { return Wrong("line " + std::to_string(number) + " of the pattern: " + what); };
  const auto take = [&wrong](std::string_view& line, auto& value) {
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc()) throw wrong("a number is missing or too large");
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  };
  for (std::size_t at = 0; at < text.size();) {
    ++number;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty()) continue;
    if (line.starts_with("ranks ") && ranks == 0) {
      line.remove_prefix(6);
      take(line, ranks);
      if (ranks < 1 || ranks > most_ranks) throw wrong("there should be 1 to " + std::to_string(most_ranks) + " ranks");
    } else if (line.starts_with("phase ") && ranks > 0) {
      phases.emplace_back(line.substr(6));
      continue;
    } else if (!phases.empty()) {
      Message m;
      take(line, m.from);
      take(line, m.to);
      take(line, m.bytes);
      m.phase = static_cast<std::int32_t>(phases.size()) - 1;
      if (std::min(m.from, m.to) < 0 || std::max(m.from, m.to) >= ranks) throw wrong("there is no such rank");
      messages.push_back(m);
      if (messages.size() > Pattern::most_messages) throw wrong("too many messages");
    } else {
      throw wrong("expected 'ranks P' first, then 'phase NAME' and its messages as FROM TO BYTES");
    }
    if (!line.empty()) throw wrong("unexpected text at the end of the line");
  }
  if (ranks == 0) throw Wrong("the pattern is empty");
  return {ranks, std::move(phases), std::move(messages)};
}

}  // namespace fl::mapping
