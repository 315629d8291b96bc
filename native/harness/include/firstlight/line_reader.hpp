// Reads a text file of a user line by line, and a line word by word.
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "firstlight/workload.hpp"

namespace fl::inline FL_ROLE {

class LineReader {
 public:
  // `blanks` separate words. A carriage return at the end of a line belongs to the end.
  LineReader(std::string_view text, std::string_view blanks) : left_(text), blanks_(blanks) {}

  bool next_line() {
    ++number_;
    if (left_.empty()) return false;
    const std::size_t end = left_.find('\n');
    line_ = left_.substr(0, end);
    left_ = end == std::string_view::npos ? std::string_view() : left_.substr(end + 1);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    return true;
  }
  // Returns the next word of the line, empty after the last.
  std::string_view word() {
    line_.remove_prefix(std::min(line_.find_first_not_of(blanks_), line_.size()));
    const std::string_view found = line_.substr(0, line_.find_first_of(blanks_));
    line_.remove_prefix(found.size());
    return found;
  }

  Index number() const { return number_; }         // of the line; the first is 1
  std::string_view rest() const { return line_; }  // of the line, after the words that were read
  bool blank() const { return line_.find_first_not_of(blanks_) == std::string_view::npos; }

 private:
  std::string_view left_, line_, blanks_;
  Index number_ = 0;
};

// Parses the whole word. Returns false if it is not a number that the type can represent.
template <class Number>
bool parse_number(std::string_view word, Number& value) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

// Returns the first 40 characters of a text. Those that are not printable ASCII become question marks.
inline std::string printable(std::string_view text) {
  std::string safe(text.substr(0, 40));
  for (char& c : safe)
    if (c < ' ' || c > '~') c = '?';
  return safe;
}

}  // namespace fl::inline FL_ROLE
