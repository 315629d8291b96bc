#include "contents.hpp"

namespace fl::collectives {

std::string difference(const Exact& is, const Exact& should) {
  auto name = [](const Token& t) {
    if (t.undefined) return "the undefined contents of chunk " + std::to_string(t.chunk) + " of rank " + std::to_string(t.rank);
    return "the contribution of rank " + std::to_string(t.rank) + " (its chunk " + std::to_string(t.chunk) + ")";
  };
  const auto [a, b] = std::mismatch(is.tokens.begin(), is.tokens.end(), should.tokens.begin(), should.tokens.end());
  const bool extra = a != is.tokens.end() && (b == should.tokens.end() || *a < *b);
  if (!extra) return b == should.tokens.end() ? "" : "lacks " + name(*b);
  const auto times = std::count(is.tokens.begin(), is.tokens.end(), *a);
  const auto wanted = std::count(should.tokens.begin(), should.tokens.end(), *a);
  if (wanted > 0) return "holds " + name(*a) + " " + (times == 2 ? "twice" : std::to_string(times) + " times");
  return "holds " + name(*a) + ", which does not belong there";
}

}  // namespace fl::collectives
