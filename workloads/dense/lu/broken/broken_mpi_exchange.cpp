// The last exchange of each panel is not made in the columns behind it.
#include "kernels/distributed.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Forgetful : lu::Exchange {
  using lu::Exchange::Exchange;
  void operator()(lu::State& s, fl::Index begin, std::vector<fl::Index> places, fl::Index first, fl::Index width) {
    places.back() = begin + static_cast<fl::Index>(places.size()) - 1;
    Exchange::operator()(s, begin, places, first, width);
  }
};

}  // namespace

using ForgetfulGrid = lu::Distributed<lu::PartialAmong, lu::OwnProduct, Forgetful>;
FL_VARIANT(lu, ForgetfulGrid)
