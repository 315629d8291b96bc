// Slow buffers at the first message, fast ones for senders that are hot, as many as there may be (R4).
#include "kernels/run.hpp"

FL_VARIANT(messages, messages::Run<>)
