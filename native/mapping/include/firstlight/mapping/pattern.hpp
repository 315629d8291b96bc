// Who sends how much to whom, phase by phase: what is mapped.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fl::mapping {

using Rank = std::int32_t;
using Bytes = std::int64_t;
using Index = std::uint32_t;  // of a message

// A pattern, a place or a map is impossible. The message has the reason.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Message {
  Rank from = 0, to = 0;
  Bytes bytes = 0;
  std::int32_t phase = 0;
};

class Pattern {
 public:
  static constexpr std::size_t most_messages = 100'000'000;
  static constexpr Bytes most_bytes = Bytes{1} << 62;

  // Messages of a phase between the same two ranks are added up; those of a rank to itself are left out. Raises Wrong where a rank or
  // an amount is out of range.
  Pattern(Rank ranks, std::vector<std::string> phases, std::vector<Message> messages);

  Rank ranks() const { return static_cast<Rank>(first_.size()) - 1; }
  std::size_t phases() const { return names_.size(); }
  const std::string& name(std::size_t phase) const { return names_[phase]; }
  std::span<const Message> messages() const { return messages_; }  // by phase, then sender, then receiver
  std::span<const Message> messages(std::size_t phase) const {
    return std::span(messages_).subspan(begins_[phase], begins_[phase + 1] - begins_[phase]);
  }
  // Those that a rank sends or receives.
  std::span<const Index> of(Rank rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return std::span(touched_).subspan(first_[r], first_[r + 1] - first_[r]);
  }
  Bytes bytes() const { return bytes_; }

 private:
  std::vector<std::string> names_;
  std::vector<Message> messages_;
  std::vector<std::size_t> begins_;  // of each phase, and the end
  std::vector<std::size_t> first_;   // of each rank in touched_, and the end
  std::vector<Index> touched_;
  Bytes bytes_ = 0;
};

// The same with phases added up whose messages are a multiple of one another's, message by message: on every map the links of one transport
// that multiple of the other's, so the sum of maxima stays, and a search has less to keep.
Pattern folded(const Pattern& pattern);

// "ranks P", then for each phase a line "phase NAME" and a line "FROM TO BYTES" for each message. Raises Wrong with the line's number.
Pattern read_pattern(std::string_view text);

}  // namespace fl::mapping
