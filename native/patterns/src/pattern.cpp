#include "firstlight/patterns/pattern.hpp"

#include <algorithm>
#include <charconv>
#include <set>

namespace fl::patterns {

namespace {

std::string listed(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

std::int64_t value_of(const Pattern& pattern, const Parameter& p, std::string_view text) {
  const std::string subject = pattern.name + ": " + p.name;
  if (!p.words.empty()) {
    const auto found = std::ranges::find(p.words, text);
    if (found == p.words.end()) throw Refused(subject + " is one of " + listed(p.words) + ", not '" + std::string(text) + "'");
    return found - p.words.begin();
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < p.least || value > p.most)
    throw Refused(subject + " is a number from " + std::to_string(p.least) + " to " + std::to_string(p.most) + ", not '" +
                  std::string(text) + "'");
  return value;
}

}  // namespace

const Pattern& find_pattern(std::string_view name) {
  std::vector<std::string> names;
  for (const Pattern* p : all_patterns()) {
    if (name == p->name) return *p;
    names.push_back(p->name);
  }
  throw Refused("no pattern '" + std::string(name) + "'; available: " + listed(names));
}

Values values_of(const Pattern& pattern, std::span<const std::string> given) {
  Values values;
  for (const Parameter& p : pattern.parameters) values[p.name] = p.value;
  for (const std::string& one : given) {
    const std::size_t sign = one.find('=');
    const std::string name = one.substr(0, sign);
    const auto known = std::ranges::find(pattern.parameters, name, &Parameter::name);
    if (sign == std::string::npos || known == pattern.parameters.end()) {
      std::vector<std::string> names;
      for (const Parameter& p : pattern.parameters) names.push_back(p.name);
      throw Refused(pattern.name + " has no parameter '" + name + "'; write NAME=VALUE with one of " + listed(names));
    }
    values[name] = value_of(pattern, *known, std::string_view(one).substr(sign + 1));
  }
  return values;
}

std::string text_of(const Parameter& parameter, std::int64_t value) {
  return parameter.words.empty() ? std::to_string(value) : parameter.words[static_cast<std::size_t>(value)];
}

Instance instance_of(const Pattern& pattern, Rank ranks, const Values& values) {
  if (ranks < 1) throw Refused("a pattern requires at least 1 rank");
  Instance made = pattern.instance(ranks, values);
  made.ranks = ranks;
  return made;
}

std::vector<Pass> passes(const Instance& instance) {
  std::set<std::int64_t> ends;
  for (const Phase& p : instance.phases)
    if (p.repetitions > 0) ends.insert(p.repetitions);
  std::vector<Pass> all;
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    Pass pass{.phases = {}, .times = end - begin};
    for (std::size_t i = 0; i < instance.phases.size(); ++i)
      if (instance.phases[i].repetitions > begin) pass.phases.push_back(i);
    all.push_back(std::move(pass));
    begin = end;
  }
  return all;
}

}  // namespace fl::patterns
