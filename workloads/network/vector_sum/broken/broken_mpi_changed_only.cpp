// Sums only the words that changed.
#include "../changed_only.hpp"
#include "vector_sum.hpp"

// With two elements there is nothing between them.
static std::string refuse(const vector_sum::Params& p) { return p.n > 2 ? "" : "this variant needs n = 3 at least"; }

FL_VARIANT(vector_sum, network::ChangedOnly<vector_sum::State>, .refuse = refuse)
