// The values and series that one call of a workload's observe() reported on this rank.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "firstlight/workload.hpp"

namespace fl {

inline constexpr const char* phase_prefix = "phase_";

// Ends the job where a name is none that the reader of the record accepts: a small word that is a name in every language.
void expect_name(const char* name);

class Observed final : public Observations {
 public:
  struct Series {
    std::string name, unit;
    std::vector<double> points;
  };

  void value(const char* name, double x) override;
  void series(const char* name, const char* unit, const double* points, Index count) override;

  double seconds(Phase phase) const override;

  // Forgets what the previous batch reported. What the steps spent in each of the phases, and in none, becomes a value.
  void begin(Index steps_of_batch, const Phases& phases, const detail::Watch& watch);
  const std::vector<std::pair<std::string, double>>& values() const { return values_; }
  const std::vector<Series>& points() const { return series_; }
  std::uint64_t value_names() const;  // a hash of the names in their order
  std::uint64_t series_names() const;

 private:
  std::vector<std::pair<std::string, double>> values_;
  std::vector<Series> series_;
  std::array<double, Phases::most + 1> seconds_ = {};  // a step, by slot
  std::size_t phases_ = 0;                             // of the values
};

}  // namespace fl
