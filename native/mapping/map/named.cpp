#include "named.hpp"

#include "firstlight/patterns/pattern.hpp"

namespace map {

using fl::mapping::Wrong;

Named named(const std::string& name, fl::mapping::Rank processes, const std::vector<std::string>& parameters, bool small, bool whole) {
  const fl::patterns::Pattern& found = fl::patterns::find_pattern(name);
  if (processes < 1) throw Wrong("the number of processes is missing");
  std::vector<std::string> given = small ? found.small : std::vector<std::string>{};
  given.insert(given.end(), parameters.begin(), parameters.end());
  const fl::patterns::Instance instance = fl::patterns::instance_of(found, processes, given);
  std::vector<std::string> names, left_out;
  std::vector<fl::mapping::Message> messages;
  fl::patterns::Messages sent;
  for (const fl::patterns::Phase& phase : instance.phases) {
    if (phase.collective()) {
      left_out.push_back(phase.name);
      continue;
    }
    if (!whole || names.empty()) names.push_back(whole ? "all phases" : phase.name);
    const auto here = static_cast<std::int32_t>(names.size()) - 1;
    for (fl::mapping::Rank rank = 0; rank < processes; ++rank) {
      sent.clear();
      phase.sends(rank, sent);
      for (const fl::patterns::Message& m : sent) {
        if (messages.size() >= fl::mapping::Pattern::most_messages) throw Wrong(name + " has more messages than can be mapped");
        messages.push_back({rank, m.peer, m.bytes * m.count * phase.repetitions, here});
      }
    }
  }
  return {fl::mapping::Pattern(processes, std::move(names), std::move(messages)), std::move(left_out)};
}

}  // namespace map
