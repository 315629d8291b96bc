// Publishes a slot before its text is there: the receiver finds what lay in the slot before.
#include "kernels/run.hpp"

namespace {

struct Late : messages::Windows {
  struct Put {
    Word to;
    std::vector<unsigned char> text;
  };
  std::vector<Put> puts;

  void put(int, Word to, const void* from, fl::Index bytes) {
    const auto* text = static_cast<const unsigned char*>(from);
    puts.push_back({to, {text, text + bytes}});
  }
  void set(int peer, Word to, Word value) { Windows::set(peer, to, value); }
  void set(int peer, Word to, Flag value) {
    for (const Put& p : puts) {  // of a message the header; what follows is late
      const bool is_message = *reinterpret_cast<const Flag*>(p.text.data()) >> 30 == 0;
      Windows::put(peer, p.to, p.text.data(), is_message ? 4 : static_cast<fl::Index>(p.text.size()));
    }
    complete(peer);
    Windows::set(peer, to, value);
    complete(peer);
    usleep(200);
    for (const Put& p : puts) Windows::put(peer, p.to, p.text.data(), static_cast<fl::Index>(p.text.size()));
    complete(peer);
    puts.clear();
  }
};

using Run = messages::Run<Late>;

}  // namespace

FL_VARIANT(messages, Run)
