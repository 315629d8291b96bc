// The command line of firstlight-simulate.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "firstlight/collectives/algorithm.hpp"
#include "firstlight/network/evaluate.hpp"

namespace simulate {

// Wrong usage, in one line.
class Usage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Words, and --key value; raises Usage for a key that is not known.
class Options {
 public:
  Options(int argc, char** argv);
  const std::vector<std::string>& words() const { return words_; }
  bool has(const std::string& key) const { return values_.contains(key); }
  std::string text(const std::string& key) const;  // raises Usage where there is none
  std::string text(const std::string& key, const std::string& otherwise) const { return has(key) ? text(key) : otherwise; }
  std::vector<double> numbers(const std::string& key) const;
  std::vector<fl::collectives::Rank> ranks(const std::string& key) const;

 private:
  std::vector<std::string> words_;
  std::map<std::string, std::string> values_;
};

// What one line of the answer is about.
struct Task {
  const fl::collectives::Algorithm* algorithm = nullptr;
  fl::collectives::Problem problem;
  std::string pattern;  // of which an iteration is predicted, instead of an algorithm
  std::string topology;
  std::int32_t segments = 0;  // 0: automatic
  double segment_bytes = 0;   // 0: not given
  fl::network::Machine machine;
  fl::network::Question question;
  bool loads = false;
  enum class Check { small, always, never } check = Check::small;  // whether the schedule is proved right as well
};

std::vector<std::string> split(std::string_view text, char separator);
double number(const std::string& key, std::string_view text);
std::unique_ptr<fl::network::Topology> topology(const std::string& spec, const std::vector<fl::collectives::Rank>& missing);
fl::network::Machine machine(const Options& options);
fl::network::Question question(const Options& options);

}  // namespace simulate
