#include "observed.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "comm.hpp"

namespace fl {
namespace {

[[noreturn]] void cannot_keep(const char* name, const char* why) {
  abort_all(text("the observation %s cannot be recorded: %s", name, why));
}

std::uint64_t mixed(std::uint64_t sum, const std::string& name) {
  for (const char c : name + '/') sum = hash(sum ^ static_cast<unsigned char>(c));
  return sum;
}

}  // namespace

void expect_name(const char* name) {
  const std::string_view word(name);
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  const bool good = !word.empty() && word.size() <= 32 && word[0] >= 'a' && word[0] <= 'z' && std::all_of(word.begin(), word.end(), fits);
  if (!good) cannot_keep(name, "a name has at most 32 lower-case letters, digits and underscores, a letter first");
}

void Observed::value(const char* name, double x) {
  expect_name(name);
  if (std::string_view(name).starts_with(phase_prefix)) cannot_keep(name, "phases are timed by the harness");
  if (values_.size() == most_values + phases_) cannot_keep(name, "too many values");
  for (const auto& known : values_)
    if (known.first == name) cannot_keep(name, "reported twice");
  values_.emplace_back(name, x);
}

void Observed::series(const char* name, const char* unit, const double* points, Index count) {
  expect_name(name);
  if (series_.size() == most_values) cannot_keep(name, "too many series");
  for (const Series& known : series_)
    if (known.name == name) cannot_keep(name, "reported twice");
  const Index kept = std::clamp<Index>(count, 0, most_points);
  for (Index k = 0; k < kept; ++k)
    if (!std::isfinite(points[k])) cannot_keep(name, "a point is not a finite number");
  series_.push_back(Series{name, unit, std::vector<double>(points, points + kept)});
}

void Observed::begin(Index steps_of_batch, const Phases& phases, const detail::Watch& watch) {
  steps = steps_of_batch;
  values_.clear();
  series_.clear();
  for (std::size_t slot = 0; slot < seconds_.size(); ++slot)
    seconds_[slot] = 1e-9 * static_cast<double>(watch.spent[slot]) / static_cast<double>(steps);
  const auto declared = static_cast<std::size_t>(phases.count());
  if (std::any_of(seconds_.begin() + 1 + declared, seconds_.end(), [](double spent) { return spent != 0; }))
    cannot_keep("of a phase", "a step marks a phase that about.phases lacks; add .phases = phases");
  const std::string prefix = phase_prefix;
  if (declared > 0) values_.emplace_back(prefix + "other", seconds_[0]);
  for (std::size_t k = 0; k < declared; ++k) values_.emplace_back(prefix + phases.name(static_cast<int>(k)), seconds_[k + 1]);
  phases_ = values_.size();
}

double Observed::seconds(Phase phase) const { return seconds_[static_cast<std::size_t>(phase.slot)]; }

std::uint64_t Observed::value_names() const {
  std::uint64_t sum = values_.size();
  for (const auto& known : values_) sum = mixed(sum, known.first);
  return sum;
}

std::uint64_t Observed::series_names() const {
  std::uint64_t sum = series_.size();
  for (const Series& known : series_) sum = mixed(sum, known.name);
  return sum;
}

}  // namespace fl
