#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace simulate {

namespace {

const std::set<std::string, std::less<>> keys{"collective",    "algorithm", "topology",  "bytes",      "segments",
                                              "segment-bytes", "root",      "machine",   "noise",      "evaluator",
                                              "missing",       "output",    "processes", "parameters", "stages"};
const std::set<std::string, std::less<>> flags{"loads", "checked", "unchecked", "every-rank", "small"};

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

double number(const std::string& key, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 0x1p53))
    throw Usage("--" + key + " should be a number, not '" + std::string(text) + "'");
  return value;
}

Options::Options(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      words_.emplace_back(word);
      continue;
    }
    const std::string_view key = word.substr(2, word.find('=') - 2);
    if (flags.contains(key)) {
      values_[std::string(key)] = "";
      continue;
    }
    if (!keys.contains(key)) throw Usage("there is no option " + std::string(word));
    if (word.size() > key.size() + 2)
      values_[std::string(key)] = word.substr(key.size() + 3);
    else if (i + 1 < argc)
      values_[std::string(key)] = argv[++i];
    else
      throw Usage(std::string(word) + " needs a value");
  }
}

std::string Options::text(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) throw Usage("--" + key + " is needed");
  return found->second;
}

std::vector<double> Options::numbers(const std::string& key) const {
  std::vector<double> all;
  for (const std::string& part : split(text(key), ',')) all.push_back(number(key, part));
  return all;
}

std::vector<fl::collectives::Rank> Options::ranks(const std::string& key) const {
  std::vector<fl::collectives::Rank> all;
  if (!has(key) || text(key).empty()) return all;
  for (const double x : numbers(key)) {
    if (x != std::floor(x) || x > 0x7fffffff) throw Usage("--" + key + " should be ranks");
    all.push_back(static_cast<fl::collectives::Rank>(x));
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::unique_ptr<fl::network::Topology> topology(const std::string& spec, const std::vector<fl::collectives::Rank>& missing) {
  try {
    return fl::network::make_topology(spec, missing);
  } catch (const fl::network::Unroutable& error) {
    throw Usage(std::string("--topology: ") + error.what());
  }
}

fl::network::Machine machine(const Options& options) {
  try {
    return fl::network::machine_of(options.text("machine", ""));
  } catch (const std::invalid_argument& error) {
    throw Usage(std::string("parameters of the network: ") + error.what());
  }
}

fl::network::Question question(const Options& options) {
  using fl::network::Evaluator;
  fl::network::Question q;
  q.symmetry = !options.has("every-rank");
  if (options.has("noise")) {
    try {
      q.noise = fl::network::noise_of(options.text("noise"));
    } catch (const std::invalid_argument& error) {
      throw Usage(std::string("--noise: ") + error.what());
    }
  }
  const std::string wanted = options.text("evaluator", "auto");
  for (const Evaluator e : {Evaluator::automatic, Evaluator::maxplus, Evaluator::rounds, Evaluator::events}) {
    if (wanted != word(e)) continue;
    q.evaluator = e;
    return q;
  }
  throw Usage("--evaluator should be auto, maxplus, rounds or events, not '" + wanted + "'");
}

}  // namespace simulate
