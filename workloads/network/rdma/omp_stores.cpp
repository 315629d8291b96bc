// Threads of one process: plain copies and notices. The team lives as long as the loop: starting it would cost more than a step.
#include "kernels/threads.hpp"

using Steps = rdma::Threads<rdma::Stores>;
FL_VARIANT(rdma, Steps, .first_touch = rdma::first_touch, .traits = {.between_threads = true})
