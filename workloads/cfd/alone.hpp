// Who works on the rows of a block: one thread of one process.
#pragma once

#include "plain_rows.hpp"

namespace cfd::inline FL_ROLE {

struct Alone {
  // `halo`: the field whose halo exchange() fills.
  void open(const grid::Block<3>&, int /*threads*/, Field& /*halo*/) {}
  void exchange() {}
  Sums total(const Sums& mine) { return mine; }

  // row(k, j) for each row; returns the sums of what they return.
  template <class Row>
  Sums each(const Point& size, Row row) {
    Sums sums;
    for (Index k = 0; k < size[0]; ++k)
      for (Index j = 0; j < size[1]; ++j) sums += row(k, j);
    return sums;
  }
  // The same where a row needs those below and to the south.
  template <class Row>
  Sums upwards(const Point& size, Row row) {
    return each(size, row);
  }
  // And where it needs those above and to the north.
  template <class Row>
  Sums downwards(const Point& size, Row row) {
    Sums sums;
    for (Index k = size[0]; k-- > 0;)
      for (Index j = size[1]; j-- > 0;) sums += row(k, j);
    return sums;
  }
};

}  // namespace cfd::inline FL_ROLE
