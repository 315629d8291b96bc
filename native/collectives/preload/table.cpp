#include "table.hpp"

#include <charconv>
#include <limits>
#include <sstream>

namespace fl::preload {

namespace {

constexpr const char* magic = "firstlight-collectives 1";
constexpr std::size_t most_rules = 4096;
constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

std::string quoted(const std::string& word) { return "'" + word.substr(0, 40) + "'"; }

std::int64_t number(const std::string& word, const char* what, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < 0 || value > most)
    throw BrokenTable(std::string(what) + " " + quoted(word) + " is not a number from 0 to " + std::to_string(most));
  return value;
}

Interval interval(const std::string& word, const char* what) {
  constexpr std::int64_t most = std::int64_t{1} << 50;
  if (word == "*") return {0, unbounded};
  const std::size_t dash = word.find('-');
  if (dash == std::string::npos) {
    const std::int64_t one = number(word, what, most);
    return {one, one};
  }
  const Interval made{number(word.substr(0, dash), what, most),
                      word.substr(dash + 1) == "*" ? unbounded : number(word.substr(dash + 1), what, most)};
  if (made.last < made.first) throw BrokenTable(std::string(what) + " " + quoted(word) + " ends before it begins");
  return made;
}

Rule rule(const std::vector<std::string>& words) {
  if (words.size() != 5)
    throw BrokenTable("has " + std::to_string(words.size()) + " words instead of 5: collective, ranks, bytes, algorithm, segments");
  const auto collective = collectives::collective_named(words[0]);
  if (!collective) throw BrokenTable("there is no collective " + quoted(words[0]));
  Rule made{*collective, interval(words[1], "ranks"), interval(words[2], "bytes"), nullptr, 0};
  if (words[3] != "library") {
    made.algorithm = collectives::find_algorithm(words[3]);
    if (made.algorithm == nullptr) throw BrokenTable("there is no algorithm " + quoted(words[3]));
    if (made.algorithm->form(*collective) == nullptr) throw BrokenTable(words[3] + " has no " + words[0]);
  }
  made.segments = static_cast<std::int32_t>(number(words[4], "segments", 4096));
  return made;
}

}  // namespace

std::vector<Rule> parse(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != magic) throw BrokenTable(std::string("line 1: is not '") + magic + "'");
  std::vector<Rule> rules;
  for (int at = 2; std::getline(lines, line); ++at) {
    std::istringstream parts(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; parts >> word;) words.push_back(word);
    if (words.empty()) continue;
    try {
      rules.push_back(rule(words));
      if (rules.size() > most_rules) throw BrokenTable("more than " + std::to_string(most_rules) + " rules");
    } catch (const BrokenTable& wrong) {
      throw BrokenTable("line " + std::to_string(at) + ": " + wrong.what());
    }
  }
  return rules;
}

}  // namespace fl::preload
