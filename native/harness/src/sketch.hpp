// A picture as it is drawn: sums over boxes of cells on this rank, then the means of the whole job.
#pragma once

#include <string>
#include <vector>

#include "firstlight/workload.hpp"

namespace fl {

class Sketch final : public Picture {
 public:
  static constexpr Index finest = 999;  // the record contains whole numbers: a small file, and more shades than are visible

  struct Reduced {
    double largest = 0;                      // the largest mean without its sign
    std::vector<std::vector<Index>> values;  // means in 1/finest of it, row by row
  };

  void of(const char* name, const char* unit, Index rows, Index columns) override;
  void row(Index row, Index column, const double* values, Index count) override;
  void row(Index row, Index column, const float* values, Index count) override;

  bool begun() const { return !name_.empty(); }
  const std::string& name() const { return name_; }
  const std::string& unit() const { return unit_; }
  Index rows() const { return rows_; }
  Index columns() const { return columns_; }

  // Collective. A field with a cell that is not a number is drawn as all zeros; a step that fails its check may leave such a field.
  // Ends the job where the ranks drew different fields, or cells twice or not at all.
  Reduced reduced() const;

 private:
  template <class T>
  void add(Index row, Index column, const T* values, Index count);

  std::string name_, unit_;
  Index rows_ = 0, columns_ = 0;
  Index high_ = 0, wide_ = 0;  // boxes
  std::vector<double> sums_;   // of each box, and behind them how many cells
};

}  // namespace fl
