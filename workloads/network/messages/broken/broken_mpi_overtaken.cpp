// A short message overtakes the one before it.
#include "kernels/run.hpp"

namespace {

struct Hasty : messages::Messenger<messages::Windows> {
  using Messenger::Messenger;
  struct Delayed {
    int peer = -1;
    const void* text = nullptr;
    fl::Index bytes = 0;
  } delayed;
  int sent = 0;

  void send(int peer, const void* text, fl::Index bytes) {
    if (delayed.peer == peer) {
      Messenger::send(peer, text, bytes);
      return release();
    }
    release();
    if (++sent % 5 == 0)
      delayed = {peer, text, bytes};
    else
      Messenger::send(peer, text, bytes);
  }
  fl::Index receive(int peer, void* room, fl::Index capacity) {
    release();
    return Messenger::receive(peer, room, capacity);
  }

 private:
  void release() {
    const Delayed late = std::exchange(delayed, {});
    if (late.peer >= 0) Messenger::send(late.peer, late.text, late.bytes);
  }
};

using Run = messages::Run<messages::Windows, Hasty>;

}  // namespace

FL_VARIANT(messages, Run)
