#include "stages.hpp"

#include <cmath>
#include <utility>

#include "options.hpp"

namespace simulate {

namespace {

namespace pattern = fl::patterns;
using pattern::Messages;
using pattern::Rank;

constexpr double most = 1e12;  // bytes, and nanoseconds
constexpr std::size_t most_parts = 1000;

pattern::Phase sum(std::int64_t bytes, Rank ranks) {
  return {.name = "sum",
          .together = {.collective = fl::collectives::Collective::allreduce,
                       .bytes = [bytes](const pattern::Group&) { return bytes; },
                       .group = [ranks](Rank) { return pattern::Group{.count = ranks}; }}};
}

pattern::Phase near(std::int64_t bytes, Rank ranks) {
  const auto both = [bytes, ranks](Rank me, Messages& out) {
    if (me > 0) out.push_back({me - 1, bytes});
    if (me + 1 < ranks) out.push_back({me + 1, bytes});
  };
  return {.name = "near", .sends = both, .receives = both};
}

pattern::Phase part(const std::string& word, Rank ranks) {
  const std::size_t colon = std::min(word.find(':'), word.size());
  const std::string what = word.substr(0, colon);
  const double much = number("stages", word.substr(std::min(colon + 1, word.size())));
  if (much < 1 || much > most) throw Usage("--stages: " + word + ": a number from 1 to 1e12");
  const auto whole = static_cast<std::int64_t>(std::llround(much));
  if (what == "sum") return sum(whole, ranks);
  if (what == "near") return near(whole, ranks);
  if (what == "work") return {.name = "work", .work = whole};
  throw Usage("--stages: '" + what + "' is not a stage; available: work:NANOSECONDS, sum:BYTES and near:BYTES");
}

}  // namespace

pattern::Instance instance_of_stages(const std::string& text, Rank ranks) {
  pattern::Instance made{.ranks = ranks};
  for (const std::string& stage : split(text, ',')) {
    bool beside = false;
    for (const std::string& word : split(stage, '|')) {
      made.phases.push_back(part(word, ranks));
      made.phases.back().beside = std::exchange(beside, true);
    }
  }
  if (made.phases.size() > most_parts) throw Usage("--stages: more than " + std::to_string(most_parts) + " parts");
  return made;
}

}  // namespace simulate
