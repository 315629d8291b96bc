// Wrong: uses only the rows of the first panel that other processes factored.
#include "kernels/distributed.hpp"

#include "firstlight/variant.hpp"

namespace {

template <class Product>
struct Stale : lu::Route<Product> {
  using lu::Route<Product>::Route;
  std::vector<double> unread;
  int panels = 0;

  void receive(lu::Panel<Product>& panel, fl::Index below, fl::Index from) {
    if (panels++ == 0) return lu::Route<Product>::receive(panel, below, from);
    unread.resize(static_cast<std::size_t>(below * lu::panel_stride));
    lu::Route<Product>::receive(panel, unread.data(), below, from);
  }
};

}  // namespace

using StaleGrid = lu::Distributed<lu::PartialAmong, lu::OwnProduct, lu::Exchange, Stale>;
FL_VARIANT(lu, StaleGrid)
