#include "energy_spans.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

#include "comm.hpp"
#include "firstlight/phase.hpp"

namespace fl {
namespace {

constexpr Index unreadable = -1;
constexpr Index most_counted = Index{1} << 62;  // a larger number is damaged text, and the reader of the record refuses it

double now() { return 1e-9 * static_cast<double>(clock_nanoseconds()); }

// Returns the whole number that the file begins with.
Index leading_number(int descriptor) {
  char content[32];
  const ssize_t size = descriptor < 0 ? -1 : pread(descriptor, content, sizeof content, 0);
  if (size <= 0) return unreadable;
  Index found = unreadable;
  const auto [end, error] = std::from_chars(content, content + size, found);
  return error == std::errc() && found >= 0 && found < most_counted ? found : unreadable;
}

}  // namespace

EnergySpans::EnergySpans(Recorder& recorder, const std::vector<std::string>& files, bool wanted, int number)
    : recorder_(recorder), number_(number), wanted_(wanted) {
  for (std::size_t k = 0; k < files.size() && k < most; ++k)
    descriptors_.push_back(comm::place() == 0 ? open(files[k].c_str(), O_RDONLY | O_CLOEXEC) : -1);
}

EnergySpans::~EnergySpans() {
  for (const int descriptor : descriptors_)
    if (descriptor >= 0) close(descriptor);
}

EnergySpans::Counts EnergySpans::read() const {
  Counts counts;
  counts.fill(unreadable);
  for (std::size_t k = 0; k < descriptors_.size(); ++k) counts[k] = leading_number(descriptors_[k]);
  return counts;
}

void EnergySpans::sample_follows() {
  if (!wanted_ || within_) return;
  within_ = true;
  wall_ = 0;
  before_ = read();
  began_ = now();
}

void EnergySpans::end() {
  if (!within_) return;
  within_ = false;
  const double ended = now();
  const Counts after = read();
  std::vector<Index> mine(2 * descriptors_.size());
  for (std::size_t k = 0; k < descriptors_.size(); ++k) {
    mine[2 * k] = before_[k];
    mine[2 * k + 1] = after[k];
  }
  recorder_.span(number_, began_, ended, wall_, mine);
}

}  // namespace fl
